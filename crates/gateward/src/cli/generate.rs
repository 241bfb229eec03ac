//! `generate`: the manifests that follow from the declarations.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Command, Subcommand, ValueEnum};
use gateward_core::Review;
use gateward_core::manifest::{self, FailurePolicy, Installation, yaml};
use gateward_lint::yaml::Document;
use serde_json::Value;

use crate::cli::deployment::Workload;
use crate::cli::planned::planned;
use crate::cli::{deployment, roles, values};
use crate::crds::{self, Printed, Stanzas};
use crate::exit::Exit;
use crate::operator::{Operator, Release};

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
                      --release {release} --namespace {namespace}"
    )]
    Crds(CrdArguments),
    /// Print the ValidatingWebhookConfiguration and the MutatingWebhookConfiguration
    #[command(after_help = "Example:\n  {command} generate webhooks --release {release} --namespace {namespace}")]
    Webhooks(WebhookArguments),
    /// Print the ServiceAccount, and the roles and bindings of what it needs
    ///
    /// Each rule stands below its reason. What handlers look up is among them, where `.looks_up` declares it.
    #[command(
        after_help = "Example:\n  {command} generate rbac --release {release} --namespace {namespace} | kubectl \
                            apply --server-side -f -"
    )]
    Rbac(RbacArguments),
    /// Print the Deployment of the server with its ConfigMap, Service and PodDisruptionBudget
    ///
    /// The Pods meet the restricted standard, and run as the ServiceAccount that `generate rbac` prints. The CRDs come
    /// first, the webhook configurations last: until Pods are ready, what they judge is refused. Pods read the ConfigMap
    /// when they start; `kubectl rollout restart` follows a change of it.
    #[command(after_help = "Example:\n  {command} generate deployment --image registry.example.org/{command}:1.0.0 \
                            --release {release} --namespace {namespace} | kubectl apply --server-side -f -")]
    Deployment(DeploymentArguments),
    /// Print the help of all commands as one document
    CliReference,
}

/// Where the webhooks will be.
#[derive(Debug, Args)]
struct ServiceArguments {
    /// Name of the Helm release, of which the names are made
    #[arg(long, value_name = "NAME")]
    release: Option<String>,
    /// Namespace of the Service
    #[arg(long, short, value_name = "NAME")]
    namespace: Option<String>,
    /// Name of the Service, where it isn't the usual one
    #[arg(long, value_name = "NAME")]
    service: Option<String>,
}

#[derive(Debug, Args)]
struct CrdArguments {
    #[command(flatten)]
    service: ServiceArguments,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    output: Output,
}

#[derive(Debug, Args)]
struct WebhookArguments {
    #[command(flatten)]
    service: ServiceArguments,
    /// What happens when the webhook doesn't answer
    #[arg(long, value_enum, value_name = "POLICY", default_value = "fail", ignore_case = true)]
    failure_policy: Policy,
    /// How long the API server waits
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u8).range(1..=30))]
    timeout_seconds: u8,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    output: Output,
}

#[derive(Debug, Args)]
struct RbacArguments {
    #[command(flatten)]
    release: ReleaseArguments,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    output: Output,
}

#[derive(Debug, Args)]
struct DeploymentArguments {
    #[command(flatten)]
    release: ReleaseArguments,
    /// The image that has the program
    #[arg(long, value_name = "IMAGE")]
    image: String,
    /// How many Pods there are
    #[arg(long, value_name = "NUMBER", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..))]
    replicas: u16,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    output: Output,
}

/// Which release, and how it is set up.
#[derive(Debug, Args)]
struct ReleaseArguments {
    /// Name of the Helm release, of which the names are made
    #[arg(long, value_name = "NAME")]
    release: Option<String>,
    /// Namespace of the release
    #[arg(long, short, value_name = "NAME")]
    namespace: Option<String>,
    /// Values of the operator's chart, as a file or - for standard input; a later file replaces what an earlier one says
    #[arg(long, short = 'f', value_name = "FILE")]
    values: Vec<PathBuf>,
}

impl ReleaseArguments {
    fn release<P: Operator>(&self, operator: &P) -> Release {
        operator.names().release_or_usual(self.release.as_deref(), self.namespace.as_deref())
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Policy {
    Fail,
    Ignore,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum Output {
    #[default]
    Yaml,
    Json,
}

pub(crate) fn command() -> Command {
    GenerateArguments::augment_args(Command::new("generate"))
        .about("Print the manifests that follow from the declared webhooks")
        .after_help(
            "Examples:\n  {command} generate crds | kubectl apply --server-side -f -\n  {command} generate webhooks \
         --release {release} --namespace {namespace}",
        )
}

pub(crate) fn run<P: Operator>(operator: &P, whole: Command, arguments: &GenerateArguments) -> anyhow::Result<Exit> {
    let text = match &arguments.what {
        What::CliReference => cli_reference(whole),
        What::Crds(arguments) => crds(operator, arguments)?,
        What::Webhooks(webhooks) => webhook_configurations(operator, webhooks)?,
        What::Rbac(arguments) => rbac(operator, arguments)?,
        What::Deployment(arguments) => deployment(operator, arguments)?,
    };
    anstream::stdout().write_all(text.as_bytes())?;
    Ok(Exit::Success)
}

fn crds<P: Operator>(operator: &P, arguments: &CrdArguments) -> anyhow::Result<String> {
    crds::check(operator)?;
    let stanzas = if arguments.service.says_something() { Stanzas::All } else { Stanzas::Missing };
    let crds = crds::printed(operator, &arguments.service.installation(operator), stanzas);
    Ok(match arguments.output {
        Output::Yaml => stream(crds.into_iter().flat_map(in_yaml)),
        Output::Json => crds.into_iter().flat_map(in_json).collect(),
    })
}

fn in_yaml(crd: Printed) -> Vec<String> {
    match crd {
        Printed::AsWritten(crd) => vec![crd.yaml().to_owned()],
        Printed::Completed(documents) => documents.iter().map(yaml::document_in_order).collect(),
    }
}

fn in_json(crd: Printed) -> Vec<String> {
    let documents = match crd {
        Printed::AsWritten(crd) => {
            gateward_lint::yaml::read(crd.yaml()).documents.iter().map(Document::in_order).collect()
        }
        Printed::Completed(documents) => documents,
    };
    documents.iter().map(|document| format!("{document}\n")).collect()
}

fn webhook_configurations<P: Operator>(operator: &P, arguments: &WebhookArguments) -> anyhow::Result<String> {
    let installation = arguments.installation(operator);
    let configurations = [Review::Validate, Review::Mutate]
        .into_iter()
        .filter_map(|review| manifest::webhook_configuration(operator.webhooks(), review, &installation))
        .map(serde_json::to_value)
        .collect::<Result<Vec<Value>, _>>()
        .context("a webhook configuration")?;
    Ok(printed(configurations, arguments.output))
}

fn rbac<P: Operator>(operator: &P, arguments: &RbacArguments) -> anyhow::Result<String> {
    let release = arguments.release.release(operator);
    let values = operator.chart_values(&release, &values::read(&arguments.release.values)?);
    let planned = planned(operator, &release, values)?;
    let objects = roles::objects(&planned, &operator.installation(&release).labels).into_iter();
    Ok(match arguments.output {
        Output::Yaml => stream(objects.map(|object| object.yaml())),
        Output::Json => objects.map(|object| format!("{}\n", object.json())).collect(),
    })
}

fn deployment<P: Operator>(operator: &P, arguments: &DeploymentArguments) -> anyhow::Result<String> {
    let release = arguments.release.release(operator);
    let values = values::read(&arguments.release.values)?;
    let workload = Workload { image: &arguments.image, replicas: arguments.replicas };
    Ok(printed(deployment::objects(operator, &release, &values, &workload)?, arguments.output))
}

impl ServiceArguments {
    fn says_something(&self) -> bool {
        self.release.is_some() || self.namespace.is_some() || self.service.is_some()
    }

    fn installation<P: Operator>(&self, operator: &P) -> Installation {
        let release = operator.names().release_or_usual(self.release.as_deref(), self.namespace.as_deref());
        let mut installation = operator.installation(&release);
        if let Some(service) = &self.service {
            installation.service.clone_from(service);
        }
        installation
    }
}

impl WebhookArguments {
    fn installation<P: Operator>(&self, operator: &P) -> Installation {
        let mut installation = self.service.installation(operator);
        installation.failure_policy = match self.failure_policy {
            Policy::Fail => FailurePolicy::Fail,
            Policy::Ignore => FailurePolicy::Ignore,
        };
        installation.timeout_seconds = self.timeout_seconds;
        installation
    }
}

/// The help of the program and of each of its commands, as people see it.
fn cli_reference(whole: Command) -> String {
    let mut whole = whole.term_width(100);
    whole.build();
    let name = whole.get_name().to_owned();
    let intro =
        format!("# Command line\n\nWritten by `{name} generate cli-reference`; a test fails when it is stale.\n");
    let sections = sections(&mut whole, &name);
    intro + &sections
}

fn sections(command: &mut Command, name: &str) -> String {
    let help = command.render_long_help().to_string();
    let trimmed: String = help.lines().map(|line| line.trim_end().to_owned() + "\n").collect();
    let mut text = format!("\n## `{name}`\n\n```text\n{}\n```\n", trimmed.trim_end());
    for below in command.get_subcommands_mut().filter(|below| below.get_name() != "help") {
        let name = format!("{name} {}", below.get_name());
        text.push_str(&sections(below, &name));
    }
    text
}

/// YAML documents one after the other, or a JSON object a line.
fn printed(values: impl IntoIterator<Item = Value>, output: Output) -> String {
    let values = values.into_iter();
    match output {
        Output::Yaml => stream(values.map(|value| yaml::document(&value))),
        Output::Json => values.map(|value| format!("{value}\n")).collect(),
    }
}

fn stream(documents: impl Iterator<Item = String>) -> String {
    documents.map(|text| format!("---\n{}\n", text.trim_start_matches("---\n").trim_end())).collect()
}
