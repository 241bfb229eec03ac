//! The options of `serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{ArgGroup, Args};
use gateward_server::{Http2Limits, Protocols};

use super::zap;
use crate::cli::known_cluster::ClusterOptions;
use crate::cli::logging::LogOptions;
use crate::local::Listen;

/// Arguments of `serve`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("where").required(true))]
pub(crate) struct ServeArguments {
    /// Serve on this machine, not in a cluster, with certificates made in memory
    #[arg(long, group = "where")]
    pub(super) local: bool,
    /// Serve in the cluster, in a Pod, as this configuration says
    #[arg(long, value_name = "FILE", group = "where")]
    pub(super) config: Option<PathBuf>,
    /// Serve the certificate in this directory, which somebody else mounts and renews: tls.crt and tls.key, or
    /// apiserver.crt and apiserver.key; OLM mounts /tmp/k8s-webhook-server/serving-certs
    #[arg(long, value_name = "DIRECTORY", requires = "config")]
    pub(super) certificate_dir: Option<PathBuf>,
    #[command(flatten)]
    pub(super) here: LocalArguments,
    #[command(flatten)]
    pub(super) log: LogOptions,
    #[command(flatten)]
    pub(super) zap: zap::ZapOptions,
}

/// Arguments of `serve --local`.
#[derive(Debug, Args)]
pub(crate) struct LocalArguments {
    /// Where reviews are answered
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9443", conflicts_with = "config")]
    pub(super) listen: SocketAddr,
    /// Where probes are answered: /healthz, /readyz, /readyz?verbose
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8081", conflicts_with = "config")]
    pub(super) health_listen: SocketAddr,
    /// Where /metrics is
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080", conflicts_with = "config")]
    pub(super) metrics_listen: SocketAddr,
    /// Write the certificate that clients have to trust to this file, as PEM
    #[arg(long, value_name = "FILE", conflicts_with = "config")]
    pub(super) ca_out: Option<PathBuf>,
    /// Speak HTTP/2 too; the API server never does
    #[arg(long, conflicts_with = "config")]
    pub(super) http2: bool,
    #[command(flatten)]
    pub(super) cluster: ClusterOptions,
}

impl LocalArguments {
    pub(super) fn listen(&self) -> Listen {
        let protocols =
            if self.http2 { Protocols::Http1AndHttp2(Http2Limits::default()) } else { Protocols::default() };
        Listen { webhooks: self.listen, health: self.health_listen, metrics: self.metrics_listen, protocols }
    }
}
