//! `generate`: the manifests that follow from the declarations.

mod arguments;
mod bundle;
mod certs;
mod chart;
mod cli_reference;
mod crds;
mod deployment;
mod folder;
mod format;
mod image;
mod kustomize;
mod manifest;
mod network_policy;
mod provided;
mod rbac;
mod webhooks;

use std::io::Write;

use clap::{Args, Command, Subcommand};

use crate::cli::generate::arguments::ManifestArguments;
use crate::cli::generate::manifest::Manifest;
use crate::exit::Exit;
use crate::operator::Operator;

/// Arguments of `generate`.
#[derive(Debug, Args)]
pub(crate) struct GenerateArguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Print the CustomResourceDefinitions
    ///
    /// Kinds whose objects are converted get the stanza that says so, where their CRD has none. With --release,
    /// --namespace or --service all of them name that Service.
    #[command(
        after_help = "Examples:\n  {command} generate crds | kubectl apply --server-side -f -\n  {command} generate crds \
                      --release {release} --namespace {namespace}\n  {command} generate crds --out config/crds --check"
    )]
    Crds(crds::CrdArguments),
    /// Print the ValidatingWebhookConfiguration and the MutatingWebhookConfiguration
    #[command(after_help = "Example:\n  {command} generate webhooks --release {release} --namespace {namespace}")]
    Webhooks(webhooks::WebhookArguments),
    /// Print the ServiceAccount, and the roles and bindings of what it needs
    ///
    /// Each rule stands below its reason. What handlers look up is among them, where `.looks_up` declares it.
    #[command(
        after_help = "Example:\n  {command} generate rbac --release {release} --namespace {namespace} | kubectl \
                            apply --server-side -f -"
    )]
    Rbac(rbac::RbacArguments),
    /// Print the Deployment of the server with its ConfigMap, Service and PodDisruptionBudget
    ///
    /// The Pods meet the restricted standard, and run as the ServiceAccount that `generate rbac` prints. The CRDs come
    /// first, the webhook configurations last: until Pods are ready, what they judge is refused. Pods read the ConfigMap
    /// when they start; `kubectl rollout restart` follows a change of it.
    #[command(after_help = "Example:\n  {command} generate deployment --image registry.example.org/{command}:1.0.0 \
                            --release {release} --namespace {namespace} | kubectl apply --server-side -f -")]
    Deployment(deployment::DeploymentArguments),
    /// Write all of it as a folder that kustomize builds
    ///
    /// CRDs, roles, Deployment, Service and webhook configurations of a release, the Namespace where none is named, and what
    /// cert-manager needs where the values choose it. The kustomization is called kustomization.yaml in each format.
    #[command(after_help = "Example:\n  {command} generate kustomize --image registry.example.org/{command}:1.0.0 \
                            --release {release} --out config\n  kubectl apply --server-side -k config")]
    Kustomize(kustomize::KustomizeArguments),
    /// Make a CA and a serving certificate for development
    ///
    /// Files that are there stay as long as clients accept them; the CA's private key is not kept. In a cluster the server
    /// makes its certificate itself.
    #[command(after_help = "Exit codes: 0 the files are there and good; 1 with --check: they aren't; 2 nothing was \
                      written.\n\nExample:\n  {command} generate certs --host host.minikube.internal --host \
                      192.168.49.1 --out certs")]
    Certs(certs::GenerateCertsArguments),
    /// Write a Helm chart into a folder
    ///
    /// A release of it has the objects that `generate rbac`, `generate deployment` and `generate webhooks` print, and an
    /// init container that installs and upgrades the CRDs.
    #[command(
        after_help = "Example:\n  {command} generate chart --out chart --image registry.example.org/{command}:1.0.0 && \
                            helm install {release} chart --namespace {namespace} --create-namespace"
    )]
    Chart(chart::ChartArguments),
    /// Write the operator as a bundle of the Operator Lifecycle Manager (OLM)
    ///
    /// The bundle has all files of its format: the CSV, the CRDs without a stanza of conversion, which OLM writes, what
    /// belongs to the Deployment, annotations, scorecard and image recipe. The Pods read the certificate
    /// that OLM mounts. What a bundle can't carry is reported.
    #[command(after_help = "Exit codes: 0 written; 1 stale (--check) or not carried (--strict); 2 usage or internal \
                            error.\n\nExample:\n  {command} generate bundle --out bundle --image \
                            registry.example.org/{command}:1.0.0 --channels stable --samples config/samples")]
    Bundle(Box<bundle::GenerateBundleArguments>),
    /// Print the help of all commands as one document
    CliReference,
}

pub(crate) fn command() -> Command {
    GenerateArguments::augment_args(Command::new("generate"))
        .about("Print the manifests that follow from the declared webhooks, or write them into a folder")
        .after_help(
            "Examples:\n  {command} generate crds | kubectl apply --server-side -f -\n  {command} generate webhooks \
             --release {release} --namespace {namespace}\n  {command} generate rbac --out deploy",
        )
}

pub(crate) fn run<P: Operator>(operator: &P, whole: Command, arguments: &GenerateArguments) -> anyhow::Result<Exit> {
    match &arguments.what {
        What::Kustomize(given) => kustomize::run(operator, given),
        What::Certs(given) => certs::run(operator, given),
        What::Bundle(given) => bundle::run(operator, given),
        What::CliReference => print(&cli_reference::document(whole)),
        What::Crds(given) => put("crds", &crds::manifests(operator, given)?, &given.manifests),
        What::Webhooks(given) => put("webhooks", &webhooks::manifests(operator, given)?, &given.manifests),
        What::Rbac(given) => put("rbac", &rbac::manifests(operator, given)?, &given.manifests),
        What::Chart(given) => chart::run(operator, given),
        What::Deployment(given) => put("deployment", &deployment::manifests(operator, given)?, &given.manifests),
    }
}

/// Prints the manifests, or writes each into a file of the folder that was named.
fn put(command: &str, manifests: &[Manifest], arguments: &ManifestArguments) -> anyhow::Result<Exit> {
    match &arguments.folder.out {
        None => print(&arguments.format.stream(manifests)),
        Some(out) => folder::put(out, command, &arguments.format.files(manifests)?, arguments.folder.treatment()),
    }
}

fn print(text: &str) -> anyhow::Result<Exit> {
    anstream::stdout().write_all(text.as_bytes())?;
    Ok(Exit::Success)
}
