//! `certs`: the certificates of a release in a cluster.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::bail;
use clap::{Args, Command, Subcommand};
use gateward_cluster::inspect::{RotationRequestOutcome, Summary, configuration_file, inspect, request_rotation};
use gateward_cluster::{Connection, ControllerConfig};
use gateward_core::terminal;

use crate::cli::document::Written;
use crate::cli::output::Output;
use crate::config::{ConfigSource, Flags, ObjectNames, PodEnvironment};
use crate::exit::Exit;
use crate::operator::Operator;
use crate::runtime::setup;

/// How often `--wait` polls.
const GLANCE: Duration = Duration::from_secs(1);
/// The key of the configuration file in the ConfigMap of a release.
const CONFIGURATION: &str = "config.yaml";

/// Arguments of `certs`.
#[derive(Debug, Args)]
pub(crate) struct CertsArguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Print the state of CA, certificate and caBundles, and what happens next
    #[command(after_help = "Exit codes: 0 all is well, or on its way; 1 something needs a person's attention; 2 the \
                            cluster could not be asked.\n\nExample:\n  {command} certs status --release {release} \
                            --namespace {namespace}")]
    Status(StatusArguments),
    /// Ask the server to replace its CA
    ///
    /// The new CA is added to the caBundle of every webhook configuration and CRD; then each replica serves
    /// a certificate of the new one; then the old one is taken away. No request fails meanwhile, and it may be
    /// interrupted at any moment. Asked for again while it is under way, it is not begun anew.
    #[command(
        after_help = "Exit codes: 0 it is asked for, or with --wait: done; 1 with --wait: not done in time; 2 the \
                            cluster could not be asked.\n\nExample:\n  {command} certs rotate --release {release} \
                            --namespace {namespace} --wait"
    )]
    Rotate(RotateArguments),
}

#[derive(Debug, Args)]
struct StatusArguments {
    #[command(flatten)]
    release: ReleaseArguments,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    output: Output,
}

#[derive(Debug, Args)]
struct RotateArguments {
    #[command(flatten)]
    release: ReleaseArguments,
    /// Follow the rotation until it is done
    #[arg(long)]
    wait: bool,
    /// How long to wait
    #[arg(long, value_name = "SECONDS", default_value_t = 600, requires = "wait")]
    timeout: u64,
}

/// Names the release.
#[derive(Debug, Args)]
struct ReleaseArguments {
    /// Name of the Helm release, where it isn't the usual one
    #[arg(long, value_name = "NAME")]
    release: Option<String>,
    /// Namespace of the release, where it isn't the usual one
    #[arg(long, short, value_name = "NAME")]
    namespace: Option<String>,
    /// Name of the Secret with the server's certificate, where it isn't the usual one
    #[arg(long, value_name = "NAME")]
    secret: Option<String>,
    /// Configuration file of the release, instead of the one in its ConfigMap
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

pub(crate) fn command() -> Command {
    CertsArguments::augment_args(Command::new("certs"))
        .about("Show certificate status; rotate the CA")
        .long_about("Show certificate status; rotate the CA. KUBECONFIG names the cluster.")
}

pub(crate) async fn run<P: Operator>(operator: &P, arguments: CertsArguments) -> anyhow::Result<Exit> {
    let connection = Connection::connect(&operator.names().user_agent()).await?;
    connection.verify().await?;
    match arguments.what {
        What::Status(arguments) => {
            let setup = arguments.release.setup(operator, &connection).await?;
            status(&connection, &setup, arguments.output).await
        }
        What::Rotate(arguments) => {
            let setup = arguments.release.setup(operator, &connection).await?;
            rotate(&connection, &setup, &arguments).await
        }
    }
}

impl ReleaseArguments {
    /// The names of the release's objects, as the server makes them itself.
    async fn setup<P: Operator>(&self, operator: &P, connection: &Connection) -> anyhow::Result<ControllerConfig> {
        let release = operator.names().release_or_usual(self.release.as_deref(), self.namespace.as_deref());
        // Of a Pod only these two are known here; of the rest depends nothing that is looked at.
        let pod_environment =
            PodEnvironment { namespace: release.namespace, instance: release.name, ..PodEnvironment::nowhere() };
        let document = operator.shortest_configuration();
        let mut given = ConfigSource { document, pod_environment, flags: Flags::default() };
        let mut config = operator.config(&given)?;
        let written = match &self.config {
            Some(file) => Some(Written::read(file)?),
            None => installed(connection, &given.pod_environment.namespace, &config.labels.configurations).await?,
        };
        if let Some(written) = written {
            given.document = written.value().clone();
            config = operator.config(&given)?;
        }
        if let Some(secret) = &self.secret {
            config.names.ca_secret = ObjectNames::ca_secret_of(secret)?;
            config.names.bundle_secret = ObjectNames::bundle_secret_of(secret)?;
            config.names.secret.clone_from(secret);
        }
        Ok(setup(operator, &config, &given.pod_environment)?)
    }
}

/// The configuration in the ConfigMap of the release, which says what its objects are called.
async fn installed(
    connection: &Connection,
    namespace: &str,
    labels: &BTreeMap<String, String>,
) -> anyhow::Result<Option<Written>> {
    match configuration_file(connection, namespace, labels, CONFIGURATION).await {
        Ok(text) => text.map(|text| Written::parse(Path::new(CONFIGURATION), text.as_bytes())).transpose(),
        Err(why) => {
            let text = format!(
                "the ConfigMap of the release can't be read, so its objects are looked for under their usual names; \
                 --config names another file: {why}"
            );
            writeln!(anstream::stderr(), "{}", terminal::lines(&text))?;
            Ok(None)
        }
    }
}

async fn status(connection: &Connection, setup: &ControllerConfig, output: Output) -> anyhow::Result<Exit> {
    let summary = inspect(connection, setup).await?.summary();
    match output {
        Output::Text => write!(anstream::stdout(), "{}", terminal::lines(&summary.to_string()))?,
        Output::Json => writeln!(anstream::stdout(), "{}", terminal::json(&serde_json::to_string(&summary)?))?,
    }
    Ok(if summary.attention.is_empty() { Exit::Success } else { Exit::Findings })
}

async fn rotate(
    connection: &Connection,
    setup: &ControllerConfig,
    arguments: &RotateArguments,
) -> anyhow::Result<Exit> {
    let before = inspect(connection, setup).await?.summary();
    let asked = request_rotation(connection, setup).await?;
    let carrying = before.targets.iter().filter(|target| target.entry.is_some()).count();
    let said = match asked {
        RotationRequestOutcome::Requested => format!(
            "asked for a CA in place of {}: it is added to {carrying} entries of webhook configurations and \
             CRDs beside the old one, then every replica changes over, then the old one is taken away",
            short(&before)
        ),
        RotationRequestOutcome::AlreadyRequested => {
            "it was asked for before; the leader begins as soon as it can".to_owned()
        }
        RotationRequestOutcome::InProgress => format!("it is under way: {}", before.next),
    };
    writeln!(anstream::stdout(), "{said}")?;
    if !arguments.wait {
        return Ok(Exit::Success);
    }
    let deadline = Instant::now() + Duration::from_secs(arguments.timeout);
    follow(connection, setup, &before, deadline).await
}

/// Prints each step until the CA is another one and no rotation is under way.
async fn follow(
    connection: &Connection,
    setup: &ControllerConfig,
    before: &Summary,
    deadline: Instant,
) -> anyhow::Result<Exit> {
    let (mut said, mut failures) = (String::new(), 0_u32);
    loop {
        match inspect(connection, setup).await {
            Ok(inspection) => {
                failures = 0;
                let now = inspection.summary();
                let other = now.ca.fingerprint.is_some() && now.ca != before.ca;
                if now.rotation.is_none() && (other || before.rotation.is_some()) {
                    writeln!(anstream::stdout(), "done: the CA is {} now", short(&now))?;
                    return Ok(Exit::Success);
                }
                if said != now.next {
                    writeln!(anstream::stdout(), "{}", now.next)?;
                    said = now.next;
                }
            }
            // The API server may be restarted meanwhile.
            Err(why) if failures >= 30 => bail!(why),
            Err(_) => failures += 1,
        }
        if Instant::now() >= deadline {
            writeln!(anstream::stderr(), "not done in time; it goes on by itself: {said}")?;
            return Ok(Exit::Findings);
        }
        tokio::time::sleep(GLANCE).await;
    }
}

fn short(summary: &Summary) -> &str {
    summary.ca.fingerprint.as_deref().and_then(|it| it.get(..12)).unwrap_or("none")
}
