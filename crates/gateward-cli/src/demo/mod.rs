//! `demo`: the main job for a newcomer. Real manifests go as AdmissionReviews over verified TLS to a real server.

mod client;
mod kubectl;
mod script;

use std::future::Future;
use std::io::Write;
use std::pin::Pin;
use std::sync::Arc;

use anyhow::Context as _;
use clap::{Arg, ArgAction, ArgMatches, Command};
use dynamo_webhooks::Dynamo;
use gateward::local::{Listen, Local};
use gateward::{Exit, Extension, FactsSource, Operator};
use tokio::signal::unix::{SignalKind, signal};

use client::ReviewClient;
use kubectl::Kubectl;
use script::STEPS;

/// The command.
pub struct Demo;

impl Extension<Dynamo> for Demo {
    fn command(&self) -> Command {
        Command::new("demo")
            .about("Show the webhooks at work on example manifests, then keep serving")
            .long_about(
                "Start a server on free ports, send the example manifests to it as the API server would (first the \
                 mutating, then the validating webhook, over verified TLS), and print each verdict as kubectl would \
                 show it, with the defaults as a diff. Then keep serving, with a curl line to try.",
            )
            .arg(Arg::new("once").long("once").action(ArgAction::SetTrue).help("Stop after the table of verdicts"))
            .after_help(
                "Exit codes: 0 every manifest got the verdict that it was written for; 2 one didn't.\n\nExamples:\n  \
                 gateward demo\n  gateward demo --once | less",
            )
    }

    fn run<'a>(
        &'a self,
        operator: Dynamo,
        matches: &'a ArgMatches,
    ) -> Pin<Box<dyn Future<Output = anyhow::Result<Exit>> + 'a>> {
        let keep = if matches.get_flag("once") { Keep::Nothing } else { Keep::Serving };
        Box::pin(run(operator, keep))
    }
}

/// What remains when all verdicts are shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    Serving,
    Nothing,
}

async fn run(operator: Dynamo, keep: Keep) -> anyhow::Result<Exit> {
    let operator = Arc::new(operator);
    let facts = operator.facts(FactsSource::Nowhere)?;
    let local = Local::start(Arc::clone(&operator), facts, None, &Listen::anywhere()).await?;
    let client = ReviewClient::new(local.address(), &local.ca_pem())?;
    let mut out = anstream::stdout();
    writeln!(out, "serving on https://{}, trusted by a certificate made a moment ago\n", local.address())?;

    let mut kubectl = Kubectl::new(operator.webhooks(), &client);
    for step in STEPS {
        let shown = kubectl.apply(step).await.with_context(|| step.file.to_owned())?;
        writeln!(out, "{shown}")?;
    }
    write!(out, "{}", kubectl.table())?;
    let surprised = kubectl.surprises();
    if keep == Keep::Serving {
        keep_serving(&local, &mut out).await?;
    }
    Ok(if surprised == 0 { Exit::Success } else { Exit::Error })
}

async fn keep_serving(local: &Local, out: &mut impl Write) -> anyhow::Result<()> {
    let folder = std::env::temp_dir().join(format!("gateward-demo-{}", std::process::id()));
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let (ca, review) = (folder.join("ca.crt"), folder.join("review.json"));
    std::fs::write(&ca, local.ca_pem())?;
    let (path, body) = script::review_to_try()?;
    std::fs::write(&review, body)?;
    writeln!(
        out,
        "\nStill serving; Ctrl-C ends it. Try:\n\n  curl --cacert {} -H 'Content-Type: application/json' --data @{} \
         https://localhost:{}{path}\n\nProbes: http://{}/readyz?verbose   Metrics: http://{}/metrics",
        ca.display(),
        review.display(),
        local.address().port(),
        local.health(),
        local.metrics(),
    )?;
    out.flush()?;
    until_told_to_stop().await?;
    // Somebody may have removed the folder already.
    let _ = std::fs::remove_dir_all(&folder);
    Ok(())
}

async fn until_told_to_stop() -> std::io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        _ = terminate.recv() => Ok(()),
        interrupted = tokio::signal::ctrl_c() => interrupted,
    }
}
