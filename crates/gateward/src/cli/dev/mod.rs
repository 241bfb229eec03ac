//! `dev`: a cluster judged by this machine, for as long as this process lives.

mod address;
mod guard;
mod holder;
mod session;
mod wanted;

use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Command, ValueEnum};
use gateward_cluster::dev::{DevConfig, DevSession, TakeOver};
use gateward_cluster::{ContextConnection, Contexts};
use gateward_core::manifest::FailurePolicy;
use gateward_server::install_panic_hook;

use self::address::{OwnAddress, local_towards};
use self::session::{Development, restore};
use crate::cli::facts::FactsOption;
use crate::cli::known_cluster::KnownCluster;
use crate::cli::logging::LogOptions;
use crate::config::LogFormat;
use crate::crds;
use crate::exit::Exit;
use crate::operator::{Operator, annotation_prefix};
use crate::scale;

/// Who has the lease, and what an API server refuses, is printed and not logged.
const LOG: &str = "info,cert-controller=error,kube_client=off";

/// Arguments of `dev`.
#[derive(Debug, Args)]
pub(crate) struct DevArguments {
    /// Context of the kubeconfig that names the cluster
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
    /// Kubeconfig to use
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// How API servers call this machine, by default the address from which it calls the API server, at port 9443; port 0
    /// takes a free one
    #[arg(long, value_name = "HOST[:PORT]", conflicts_with = "restore")]
    address: Option<OwnAddress>,
    /// Where to listen, if that is not --address, as behind a tunnel
    #[arg(long, value_name = "ADDRESS", conflicts_with = "restore")]
    listen: Option<SocketAddr>,
    /// What the API server does with a request while this machine doesn't answer
    #[arg(long, value_enum, value_name = "POLICY", default_value = "ignore", ignore_case = true)]
    failure_policy: Policy,
    /// Take the cluster from another process that has it
    #[arg(long)]
    take_over: bool,
    /// Put back what an earlier process has left, and end
    #[arg(long)]
    restore: bool,
    /// Allow an API server whose address is neither loopback nor private
    #[arg(long)]
    allow_public_api_server: bool,
    /// How many nodes the cluster may have
    #[arg(long, value_name = "N", default_value_t = 5)]
    allow_nodes: usize,
    #[command(flatten)]
    facts: FactsOption,
    #[command(flatten)]
    log: LogOptions,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Policy {
    /// Let it pass unjudged
    Ignore,
    /// Refuse it
    Fail,
}

pub(crate) fn command() -> Command {
    DevArguments::augment_args(Command::new("dev"))
        .about("Serve on this machine, and have a cluster judged by it until this ends")
        .long_about(
            "Serve on this machine, and have a cluster judged by it until this ends.\n\nA CA is made in memory. Webhook \
             configurations of their own lead here, and so does the conversion of the CRDs; CRDs that are missing are \
             created. When this ends by Ctrl-C, SIGTERM or SIGHUP, all of that is put back. How an object was stands in \
             an annotation of it, so that after a crash the next start, on any machine, puts it back first; --restore \
             does nothing else. A CRD that was created here stays if there are objects of it.\n\nWhile this machine \
             sleeps, requests pass unjudged, unless --failure-policy says otherwise; objects that have to be converted \
             can't be read then.\n\nThe API server has to reach this machine. Where it runs in a container or a virtual \
             machine, as of kind or minikube, it calls --address: host.docker.internal, or the gateway of its network. \
             Refused unless an option allows it: a cluster that isn't named, an API server at a public address, a \
             cluster of more than five nodes.",
        )
        .after_help(
            "Exit codes: 0 it has ended and everything is put back; 1 something could not be put back, or another \
             process has taken over, as printed; 2 usage or internal error.\n\nExamples:\n  {command} dev --context \
             kind-kind --address 172.18.0.1\n  {command} dev --context laptop --address laptop.example.org:443 --listen \
             127.0.0.1:9443\n  {command} dev --context kind-kind --restore",
        )
}

pub(crate) async fn run<P: Operator>(operator: P, arguments: DevArguments) -> anyhow::Result<Exit> {
    arguments.log.install(LOG, LogFormat::Text)?;
    install_panic_hook();
    crds::check(&operator)?;
    scale::check(&operator)?;
    let contexts = Contexts::read(arguments.kubeconfig.as_deref())?;
    guard::check_context(arguments.context.as_deref(), &contexts.names())?;
    let ContextConnection { connection, server } =
        contexts.connect(arguments.context.as_deref(), &operator.names().user_agent()).await?;
    let session = DevSession::new(&connection, config(&operator));
    if arguments.restore {
        connection.verify().await?;
        return restore(&session, arguments.take_over()).await;
    }
    let host = server.host().context("the kubeconfig names no host of the API server")?;
    let addresses = resolved(host, server.port_u16().unwrap_or(443)).await?;
    if !arguments.allow_public_api_server {
        guard::check_api_server(host, &addresses.iter().map(SocketAddr::ip).collect::<Vec<_>>())?;
    }
    connection.verify().await?;
    guard::check_nodes(session.nodes().await?, arguments.allow_nodes)?;
    let server = addresses.first().with_context(|| format!("{host} has no address"))?;
    let local = local_towards(*server).context("this machine has no address towards the API server; give --address")?;
    let called = arguments.address.clone().unwrap_or_default().called(local, arguments.listen);
    let known = KnownCluster::behind(&connection, &arguments.facts, &operator).await?;
    let (failure_policy, take_over) = (arguments.failure_policy(), arguments.take_over());
    Development { session, called, known, failure_policy }.run(operator, take_over).await
}

/// All addresses of an API server.
async fn resolved(host: &str, port: u16) -> anyhow::Result<Vec<SocketAddr>> {
    // A URL writes an address of IPv6 in brackets.
    let asked = (host.trim_matches(['[', ']']).to_owned(), port);
    let addresses = tokio::task::spawn_blocking(move || asked.to_socket_addrs()).await?;
    Ok(addresses.with_context(|| format!("{host} has no address"))?.collect())
}

fn config<P: Operator>(operator: &P) -> DevConfig {
    let names = operator.names();
    DevConfig {
        annotation_prefix: annotation_prefix(operator),
        manager: format!("{}-dev", names.command),
        lease: format!("{}-dev", names.release),
        holder: holder::this_process(),
    }
}

impl DevArguments {
    fn failure_policy(&self) -> FailurePolicy {
        match self.failure_policy {
            Policy::Ignore => FailurePolicy::Ignore,
            Policy::Fail => FailurePolicy::Fail,
        }
    }

    fn take_over(&self) -> TakeOver {
        if self.take_over { TakeOver::Always } else { TakeOver::Never }
    }
}
