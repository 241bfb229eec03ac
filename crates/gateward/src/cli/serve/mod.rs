//! `serve`: the webhooks over TLS.

mod arguments;
mod given;
mod in_cluster;
mod zap;

use std::io::Write;
use std::sync::Arc;

use clap::{ArgMatches, Args, Command, FromArgMatches as _};
use gateward_server::install_panic_hook;
use tokio::task::JoinSet;

use crate::cli::facts::Without;
use crate::cli::known_cluster::KnownCluster;
use crate::cli::serve::arguments::ServeArguments;
use crate::cli::whole_file;
use crate::config::LogFormat;
use crate::crds;
use crate::exit::Exit;
use crate::local::Local;
use crate::operator::Operator;
use crate::runtime::{Shutdown as _, Signals, keep_stores};
use crate::scale;

pub(crate) fn command<P: Operator>(operator: &P) -> Command {
    ServeArguments::augment_args(Command::new("serve"))
        .args(in_cluster::arguments(operator))
        .mut_arg("facts", |facts| facts.conflicts_with("config"))
        .mut_arg("kubeconfig", |kubeconfig| kubeconfig.conflicts_with("config"))
        .about("Serve the webhooks over TLS")
        .long_about(
            "Serve the webhooks over TLS, on this machine or in a cluster.\n\nOn this machine, port 0 takes a free port; the \
             addresses are printed. In a cluster, the Pod is found by the variables POD_NAME, POD_NAMESPACE, POD_IP, \
             POD_SERVICE_ACCOUNT and POD_INSTANCE, as the Helm chart sets them; KUBECONFIG names another cluster than \
             the Pod's own. The server makes and renews its certificates and writes the caBundle of each webhook, unless \
             --certificate-dir says that somebody else does; /readyz says what it waits for.\n\nSIGTERM and SIGHUP end it gracefully: readiness fails first, everything is still answered for a while. \
             Ctrl-C ends it as soon as requests in flight are answered. A further SIGTERM or Ctrl-C ends what is still \
             waited for.",
        )
        .after_help(
            "Examples:\n  {command} serve --local --listen 127.0.0.1:0 --ca-out ca.crt\n  {command} serve --config \
             config.yaml",
        )
}

pub(crate) async fn run<P: Operator>(operator: P, matches: &ArgMatches) -> anyhow::Result<Exit> {
    let arguments = ServeArguments::from_arg_matches(matches)?;
    install_panic_hook();
    crds::check(&operator)?;
    scale::check(&operator)?;
    match &arguments.config {
        Some(file) => in_cluster::run(operator, file, matches, &arguments).await,
        None => on_this_machine(operator, &arguments).await,
    }
}

async fn on_this_machine<P: Operator>(operator: P, arguments: &ServeArguments) -> anyhow::Result<Exit> {
    arguments.log.install("info", LogFormat::Text)?;
    let KnownCluster { facts, reader, client } = arguments.here.cluster.read(&operator, Without::Unknown).await?;
    let mut watches = JoinSet::new();
    if let Some(client) = client {
        keep_stores(&mut watches, operator.webhooks(), &client, None);
    }
    let local = Local::start(Arc::new(operator), facts, reader, &arguments.here.listen()).await?;
    if let Some(path) = &arguments.here.ca_out {
        whole_file::write(path, &local.ca_pem())?;
    }
    // Before anyone can know that there is something to stop.
    let mut signals = Signals::new()?;
    announce(&local)?;
    let drain = signals.wait().await;
    let drained = local.drain_with_skip(drain, signals.hurries()).await;
    tracing::info!(cut = drained.aborted, "stopped");
    Ok(Exit::Success)
}

fn announce(local: &Local) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "webhooks  https://{}", local.address())?;
    writeln!(stdout, "health    http://{}/readyz", local.health())?;
    writeln!(stdout, "metrics   http://{}/metrics", local.metrics())?;
    stdout.flush()
}
