//! `uninstall`: what has to be done before a release is gone.

use std::io::{BufRead, IsTerminal, Write};
use std::time::{Duration, Instant};

use anyhow::bail;
use clap::{Args, Command};
use gateward_cluster::uninstall::{ConversionOutcome, CrdReport, CrdState, Effect, Uninstall, UninstallEvent};
use gateward_cluster::{Connection, ServiceName};
use gateward_core::terminal;
use serde_json::json;

use crate::cli::output::Output;
use crate::crds;
use crate::exit::Exit;
use crate::operator::{Operator, Release};

/// Arguments of `uninstall`.
#[derive(Debug, Args)]
pub(crate) struct UninstallArguments {
    /// Name of the Helm release
    #[arg(long, value_name = "NAME")]
    release: String,
    /// Namespace of the release
    #[arg(long, short, value_name = "NAME")]
    namespace: String,
    /// Name of the webhooks' Service, where it isn't the usual one
    #[arg(long, value_name = "NAME")]
    service: Option<String>,
    /// Leave conversion and versions as they are
    #[arg(long)]
    keep_conversion: bool,
    /// Don't ask
    #[arg(long, short)]
    yes: bool,
    /// Change nothing; the API server says what it would do
    #[arg(long)]
    dry_run: bool,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    output: Output,
}

pub(crate) fn command() -> Command {
    UninstallArguments::augment_args(Command::new("uninstall"))
        .about("Prepare a cluster for the end of a release; run it before `helm uninstall`")
        .long_about(
            "Prepare a cluster for the end of a release; run it before `helm uninstall`, while the webhooks still \
             convert objects.\n\nCRDs and their objects outlive a release, but no webhook converts them then. So every \
             object is stored in one version, conversion ends, and only that version is served: what is there can be \
             read and deleted. Objects are not changed. Installing the release again brings back conversion and \
             versions.\n\nRun after `helm uninstall`, it mends the rest, unless objects are stored in several \
             versions; then it says so, and the release has to be installed once more. KUBECONFIG names the cluster.",
        )
        .after_help(
            "Exit codes: 0 done; 1 something remains to be done, as printed; 2 nothing could be done.\n\nExample:\n  \
             {command} uninstall --release {release} --namespace {namespace} && helm uninstall {release} \
             --namespace {namespace}",
        )
}

pub(crate) async fn run<P: Operator>(operator: &P, arguments: &UninstallArguments) -> anyhow::Result<Exit> {
    let names = operator.names();
    let connection = Connection::connect(&names.user_agent()).await?;
    connection.verify().await?;
    if !arguments.may_begin()? {
        bail!("nothing was changed");
    }
    let uninstall = Uninstall {
        client: connection.client(),
        manager: format!("{}-uninstall", names.command),
        service: arguments.service(operator),
        conversion: if arguments.keep_conversion { ConversionOutcome::Kept } else { ConversionOutcome::Removed },
        effect: if arguments.dry_run { Effect::DryRun } else { Effect::Real },
    };
    let mut progress = Progress::of(arguments.output);
    let reports = uninstall.run(&crds::converted(operator), &mut |event| progress.show(event)).await?;
    arguments.conclude(&reports)
}

impl UninstallArguments {
    fn service<P: Operator>(&self, operator: &P) -> ServiceName {
        let release = Release { name: self.release.clone(), namespace: self.namespace.clone() };
        let installation = operator.installation(&release);
        let name = self.service.clone().unwrap_or(installation.service);
        ServiceName { namespace: installation.namespace, name }
    }

    /// Whether the person agrees.
    fn may_begin(&self) -> anyhow::Result<bool> {
        if self.yes || self.dry_run {
            return Ok(true);
        }
        let stdin = std::io::stdin();
        if !stdin.is_terminal() {
            bail!(
                "standard input is no terminal, so nothing can be confirmed; pass --yes, or --dry-run to see what would be done"
            );
        }
        let (release, namespace) = (&self.release, &self.namespace);
        let end = if self.keep_conversion { "" } else { " and end their conversion" };
        write!(
            anstream::stderr(),
            "Store all objects of release {release} in {namespace} in one version{end}? [y/N] "
        )?;
        let mut answer = String::new();
        stdin.lock().read_line(&mut answer)?;
        Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
    }

    fn conclude(&self, reports: &[CrdReport]) -> anyhow::Result<Exit> {
        if self.output == Output::Json {
            let Self { release, namespace, dry_run, .. } = self;
            let document = json!({"release": release, "namespace": namespace, "dryRun": dry_run, "crds": reports});
            writeln!(anstream::stdout(), "{}", terminal::json(&document.to_string()))?;
        }
        if self.dry_run {
            writeln!(anstream::stderr(), "this was a dry run: nothing was changed")?;
        }
        if reports.iter().all(|report| report.state != CrdState::Remains) {
            return Ok(Exit::Success);
        }
        let advice = "Objects that can't be converted need the release: where it is gone, install it once more, run \
                      this again, and uninstall it then. Refused objects can be mended or deleted first.";
        writeln!(anstream::stderr(), "{advice}")?;
        Ok(Exit::Findings)
    }
}

/// Prints the progress: a line for each CRD, and how many objects are done, once a second at most.
struct Progress {
    output: Output,
    event: Instant,
}

impl Progress {
    const PAUSE: Duration = Duration::from_secs(1);

    fn of(output: Output) -> Self {
        Self { output, event: Instant::now() }
    }

    fn show(&mut self, event: UninstallEvent) {
        // A reader who has gone is no reason to leave objects half rewritten.
        let _ = match event {
            UninstallEvent::Done(report) if self.output == Output::Text => {
                writeln!(anstream::stdout(), "{}", terminal::lines(&report.to_string()))
            }
            UninstallEvent::Rewriting { name, objects } if self.event.elapsed() >= Self::PAUSE => {
                self.event = Instant::now();
                writeln!(anstream::stderr(), "{name}: {objects} objects so far")
            }
            UninstallEvent::Done(_) | UninstallEvent::Rewriting { .. } => Ok(()),
        };
    }
}
