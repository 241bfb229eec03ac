//! `crds`: the CustomResourceDefinitions in a cluster.

use std::io::Write;
use std::time::Duration;

use clap::{Args, Command, Subcommand};
use gateward_certs::CaBundle;
use gateward_cluster::Connection;
use gateward_cluster::crds::{ApplyEvent, ConversionTrust, CrdApply, Injected, SecretName, Version, converted_by};
use gateward_core::terminal;

use crate::cli::crd_stanzas;
use crate::crds;
use crate::exit::Exit;
use crate::operator::{Names, Operator, Release, annotation_prefix};

/// The Secret of the CA that the server makes, unless another name is given.
const CA_SECRET: &str = "webhook-server-cert-ca";

/// Arguments of `crds`.
#[derive(Debug, Args)]
pub(crate) struct CrdsArguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Install or upgrade the CustomResourceDefinitions by server-side apply
    ///
    /// A CRD that a newer version has installed is left as it is. A conversion is written with the caBundle that it has,
    /// or that of the CA in its Secret; without either, it is left as it is, and the server writes it once there is a CA.
    /// One that another Service serves stays too: the server takes it over once it is ready.
    /// Where others provide the certificate, the caBundle is the given one, or what cert-manager injects; annotations by
    /// which it would inject another are removed.
    /// Several may do this at once; while the API server is away, it is tried again. What an uninstall has switched off
    /// is switched on.
    #[command(
        after_help = "Exit codes: 0 the CRDs are there, or a newer version's are; 2 they are not.\n\nExample:\n  \
                            {command} crds apply --conversion-webhook-service-name \
                            {service} --conversion-webhook-service-namespace \
                            {namespace}"
    )]
    Apply(ApplyArguments),
}

#[derive(Debug, Args)]
struct ApplyArguments {
    /// Version that is noted on each CRD, that of the CRDs themselves unless given; one that a newer version has noted is
    /// left as it is
    #[arg(long, value_name = "VERSION", value_parser = version)]
    operator_version: Option<Version>,
    /// Service that converts objects
    #[arg(long, value_name = "NAME")]
    conversion_webhook_service_name: String,
    /// Namespace of that Service
    #[arg(long, value_name = "NAME")]
    conversion_webhook_service_namespace: String,
    /// Secret of the CA, in the namespace of that Service
    #[arg(long, value_name = "NAME", default_value = CA_SECRET)]
    ca_secret: String,
    /// PEM certificates in base64 that API servers are to trust, and no others: for a certificate of your own
    #[arg(long, value_name = "BASE64", value_parser = ca_bundle, group = "trust")]
    ca_bundle: Option<CaBundle>,
    /// Has cert-manager inject `ca.crt` of this Secret
    #[arg(long, value_name = "NAMESPACE/NAME", value_parser = secret_name, group = "trust")]
    inject_ca_from_secret: Option<SecretName>,
    /// Has cert-manager inject the CA of this Certificate
    #[arg(long, value_name = "NAMESPACE/NAME", value_parser = secret_name, group = "trust")]
    inject_ca_from: Option<SecretName>,
    /// How long all of it may take
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    timeout: u64,
}

pub(crate) fn command() -> Command {
    CrdsArguments::augment_args(Command::new("crds"))
        .about("Install or upgrade the CustomResourceDefinitions in a cluster")
}

pub(crate) async fn run<P: Operator>(operator: &P, arguments: CrdsArguments) -> anyhow::Result<Exit> {
    let What::Apply(arguments) = arguments.what;
    crds::check(operator)?;
    let names = operator.names();
    let connection = Connection::connect(&names.user_agent()).await?;
    let documents = arguments.documents(operator);
    let apply = CrdApply {
        client: connection.client(),
        manager: names.crd_manager.to_owned(),
        annotation: names.version_annotation.to_string(),
        converted_by: converted_by(&annotation_prefix(operator)),
        version: arguments.version(&names)?,
        timeout: Duration::from_secs(arguments.timeout),
        trust: arguments.trust(),
    };
    apply.apply(&documents, &mut print).await?;
    Ok(Exit::Success)
}

impl ApplyArguments {
    fn version(&self, names: &Names) -> anyhow::Result<Version> {
        let given = self.operator_version.clone();
        given.map_or_else(|| version(names.crds_version).map_err(anyhow::Error::msg), Ok)
    }

    fn trust(self) -> ConversionTrust {
        if let Some(bundle) = self.ca_bundle {
            return ConversionTrust::Given(bundle);
        }
        let from_secret = self.inject_ca_from_secret.map(Injected::FromSecret);
        match from_secret.or_else(|| self.inject_ca_from.map(Injected::FromCertificate)) {
            Some(injected) => ConversionTrust::Injected(injected),
            None => ConversionTrust::CaSecret(SecretName {
                namespace: self.conversion_webhook_service_namespace,
                name: self.ca_secret,
            }),
        }
    }

    fn documents<P: Operator>(&self, operator: &P) -> Vec<serde_json::Value> {
        let namespace = &self.conversion_webhook_service_namespace;
        let release = Release { name: operator.names().release.into_owned(), namespace: namespace.clone() };
        let mut installation = operator.installation(&release);
        installation.service.clone_from(&self.conversion_webhook_service_name);
        crd_stanzas::with_stanzas(operator, &installation)
    }
}

fn version(text: &str) -> Result<Version, String> {
    text.trim_start_matches('v').parse().map_err(|error| format!("it has to be a semantic version like 1.2.3: {error}"))
}

fn ca_bundle(text: &str) -> Result<CaBundle, String> {
    CaBundle::from_base64(text).map_err(|why| format!("{why}; give what `base64 -w0 < ca.crt` prints"))
}

fn secret_name(text: &str) -> Result<SecretName, String> {
    match text.split_once('/') {
        Some((namespace, name)) if !namespace.is_empty() && !name.is_empty() && !name.contains('/') => {
            Ok(SecretName { namespace: namespace.to_owned(), name: name.to_owned() })
        }
        _ => Err("it has to be NAMESPACE/NAME".to_owned()),
    }
}

fn print(event: ApplyEvent) {
    // A reader who has gone is no reason to leave CRDs half applied.
    let _ = match event {
        ApplyEvent::Done(outcome) => writeln!(anstream::stdout(), "{outcome}"),
        ApplyEvent::Waiting(why) => writeln!(anstream::stderr(), "trying again: {}", terminal::lines(&why)),
    };
}
