//! `serve`: the webhooks over TLS.

mod given;
mod in_cluster;
mod zap;

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{ArgGroup, ArgMatches, Args, Command, FromArgMatches as _};
use gateward_server::{Http2Limits, Protocols, install_panic_hook};
use tokio::task::JoinSet;

use crate::cli::facts::Without;
use crate::cli::known_cluster::{ClusterOptions, KnownCluster};
use crate::cli::logging::LogOptions;
use crate::cli::whole_file;
use crate::config::LogFormat;
use crate::crds;
use crate::exit::Exit;
use crate::local::{Listen, Local};
use crate::operator::Operator;
use crate::runtime::{Shutdown as _, Signals, keep_stores};
use crate::scale;

/// Arguments of `serve`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("where").required(true))]
pub(crate) struct ServeArguments {
    /// Serve on this machine, not in a cluster, with certificates made in memory
    #[arg(long, group = "where")]
    local: bool,
    /// Serve in the cluster, in a Pod, as this configuration says
    #[arg(long, value_name = "FILE", group = "where")]
    config: Option<PathBuf>,
    /// Serve the certificate in this directory, which somebody else mounts and renews: tls.crt and tls.key, or
    /// apiserver.crt and apiserver.key; OLM mounts /tmp/k8s-webhook-server/serving-certs
    #[arg(long, value_name = "DIRECTORY", requires = "config")]
    certificate_dir: Option<PathBuf>,
    #[command(flatten)]
    here: LocalArguments,
    #[command(flatten)]
    log: LogOptions,
    #[command(flatten)]
    zap: zap::ZapOptions,
}

/// Arguments of `serve --local`.
#[derive(Debug, Args)]
struct LocalArguments {
    /// Where reviews are answered
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9443", conflicts_with = "config")]
    listen: SocketAddr,
    /// Where probes are answered: /healthz, /readyz, /readyz?verbose
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8081", conflicts_with = "config")]
    health_listen: SocketAddr,
    /// Where /metrics is
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080", conflicts_with = "config")]
    metrics_listen: SocketAddr,
    /// Write the certificate that clients have to trust to this file, as PEM
    #[arg(long, value_name = "FILE", conflicts_with = "config")]
    ca_out: Option<PathBuf>,
    /// Speak HTTP/2 too; the API server never does
    #[arg(long, conflicts_with = "config")]
    http2: bool,
    #[command(flatten)]
    cluster: ClusterOptions,
}

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
    scale::check(operator.webhooks())?;
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

impl LocalArguments {
    fn listen(&self) -> Listen {
        let protocols =
            if self.http2 { Protocols::Http1AndHttp2(Http2Limits::default()) } else { Protocols::default() };
        Listen { webhooks: self.listen, health: self.health_listen, metrics: self.metrics_listen, protocols }
    }
}

fn announce(local: &Local) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "webhooks  https://{}", local.address())?;
    writeln!(stdout, "health    http://{}/readyz", local.health())?;
    writeln!(stdout, "metrics   http://{}/metrics", local.metrics())?;
    stdout.flush()
}
