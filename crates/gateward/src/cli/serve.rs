//! `serve`: the webhooks over TLS.

use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::{Args, Command};
use gateward_server::{Drain, Http2Limits, Protocols, log_places_of_panics};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::cli::facts::{FactsOption, Without};
use crate::cli::logging::LogOptions;
use crate::crds;
use crate::exit::Exit;
use crate::local::{Listen, Local};
use crate::product::Product;

/// Arguments of `serve`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Serve on this machine, without a cluster, with certificates made in memory
    #[arg(long, required = true)]
    local: bool,
    /// Where reviews are answered
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9443")]
    listen: SocketAddr,
    /// Where probes are answered: /healthz, /readyz, /readyz?verbose
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8081")]
    health_listen: SocketAddr,
    /// Where /metrics is
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    metrics_listen: SocketAddr,
    /// Write the certificate that clients have to trust to this file, as PEM
    #[arg(long, value_name = "FILE")]
    ca_out: Option<PathBuf>,
    /// Speak HTTP/2 too; the API server never does
    #[arg(long)]
    http2: bool,
    #[command(flatten)]
    facts: FactsOption,
    #[command(flatten)]
    log: LogOptions,
}

pub(crate) fn command() -> Command {
    Arguments::augment_args(Command::new("serve"))
        .about("Serve the webhooks over TLS")
        .long_about(
            "Serve the webhooks over TLS, on this machine.\n\nPort 0 takes a free port; the addresses are printed. \
             SIGTERM ends it gracefully: readiness fails first, everything is still answered for a while. Ctrl-C ends \
             it as soon as requests in flight are answered.",
        )
        .after_help("Example:\n  gateward serve --local --listen 127.0.0.1:0 --ca-out ca.crt")
}

pub(crate) async fn run<P: Product>(product: P, arguments: Arguments) -> anyhow::Result<Exit> {
    arguments.log.install()?;
    log_places_of_panics();
    let facts = arguments.facts.read(&product, Without::Unknown)?;
    crds::check(&product)?;
    let local = Local::start(Arc::new(product), facts, &arguments.listen()).await?;
    if let Some(path) = &arguments.ca_out {
        write_whole(path, &local.authority_pem())?;
    }
    // Before anyone can know that there is something to stop.
    let signals = Signals::new()?;
    announce(&local)?;
    let drain = signals.wait().await;
    let drained = local.drain(drain).await;
    tracing::info!(cut = drained.cut, "stopped");
    Ok(Exit::Fine)
}

impl Arguments {
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

/// A reader never sees half of the file.
fn write_whole(path: &Path, text: &str) -> anyhow::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    std::fs::write(&beside, text)
        .and_then(|()| std::fs::rename(&beside, path))
        .with_context(|| format!("cannot write {}", path.display()))
}

/// The signals that end a server.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// Waits for one, and says how to end: a person at a terminal has nobody to be graceful to.
    async fn wait(mut self) -> Drain {
        tokio::select! {
            _ = self.terminate.recv() => Drain::default(),
            _ = self.interrupt.recv() => Drain { grace: Duration::ZERO, ..Drain::default() },
        }
    }
}
