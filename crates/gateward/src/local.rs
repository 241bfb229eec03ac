//! A server on this machine: certificates made in memory at start, nothing stored, no cluster.

use std::net::SocketAddr;
use std::sync::Arc;

use futures_util::Stream;
use gateward_certs::Ca;
use gateward_core::{ClusterReader, Facts, Notes};
pub use gateward_server::{BindError, Drain, Drained, Http2Limits, IdentityError, Protocols};
use gateward_server::{HttpServer, Metrics, Port, Readiness, ReviewServer, RunningServer};

use crate::certified::{Certified, CertifiedError};
use crate::handler;
use crate::operator::Operator;

/// Where a local server listens. Port 0 takes a free port.
#[derive(Debug, Clone)]
pub struct Listen {
    /// Reviews, over TLS.
    pub webhooks: SocketAddr,
    /// Probes, over plain HTTP.
    pub health: SocketAddr,
    /// Metrics, over plain HTTP.
    pub metrics: SocketAddr,
    /// The versions of HTTP for reviews.
    pub protocols: Protocols,
}

impl Listen {
    /// Free ports on the loopback address.
    pub fn anywhere() -> Self {
        let free = SocketAddr::from(([127, 0, 0, 1], 0));
        Self { webhooks: free, health: free, metrics: free, protocols: Protocols::default() }
    }
}

/// Why a local server doesn't start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// Two declarations contradict each other.
    #[error(transparent)]
    Webhooks(#[from] gateward_core::WebhooksError),
    /// No certificate can be made.
    #[error("cannot make a certificate: {0}")]
    Certificate(String),
    /// The certificate can't be used.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// An address can't be taken.
    #[error(transparent)]
    Bind(#[from] BindError),
}

impl From<CertifiedError> for StartError {
    fn from(error: CertifiedError) -> Self {
        match error {
            CertifiedError::Certificate(why) => Self::Certificate(why),
            CertifiedError::Identity(why) => Self::Identity(why),
        }
    }
}

/// A local server that serves.
#[must_use = "dropping the server aborts all connections"]
pub struct Local {
    serving: RunningServer,
    health: HttpServer,
    metrics: HttpServer,
    ca: Ca,
}

impl Local {
    /// Starts a server for the operator's webhooks. It is ready when this returns: a handshake that verifies its
    /// certificate has succeeded. Handlers look things up through `cluster`; without it every look-up says that there is
    /// none.
    pub async fn start<P: Operator>(
        operator: Arc<P>,
        facts: Arc<dyn Facts>,
        cluster: Option<Arc<dyn ClusterReader>>,
        listen: &Listen,
    ) -> Result<Self, StartError> {
        Self::start_certified(operator, facts, cluster, listen, Certified::new(listen.webhooks.ip())?).await
    }

    /// The same with a certificate that is there.
    pub(crate) async fn start_certified<P: Operator>(
        operator: Arc<P>,
        facts: Arc<dyn Facts>,
        cluster: Option<Arc<dyn ClusterReader>>,
        listen: &Listen,
        certified: Certified,
    ) -> Result<Self, StartError> {
        operator.webhooks().check()?;
        let (readiness, counted) = (Readiness::new(), Metrics::new(operator.names().metric_prefixes()));
        let health = HttpServer::bind(listen.health, Port::Health, readiness.clone(), &counted).await?;
        let metrics = HttpServer::bind(listen.metrics, Port::Metrics, counted.clone(), &counted).await?;
        let handler = handler::unchanging(operator, facts, cluster, Notes::AsWarnings);
        let server = ReviewServer::new(certified.certificate, handler)
            .metrics(counted)
            .protocols(listen.protocols.clone())
            .readiness(readiness);
        let serving = server.bind(listen.webhooks).await?.serve();
        serving.self_check(&certified.trust).await;
        Ok(Self { serving, health, metrics, ca: certified.ca })
    }

    /// Where reviews are answered.
    pub fn address(&self) -> SocketAddr {
        self.serving.address()
    }

    /// Where probes are answered.
    pub fn health(&self) -> SocketAddr {
        self.health.address()
    }

    /// Where metrics are.
    pub fn metrics(&self) -> SocketAddr {
        self.metrics.address()
    }

    /// The certificate that a client has to trust, as PEM.
    pub fn ca_pem(&self) -> String {
        self.ca.certificate_pem()
    }

    /// Stops the server. Each item of `skip` ends the current wait of the drain.
    pub async fn drain_with_skip(self, drain: Drain, skip: impl Stream<Item = ()> + Send) -> Drained {
        self.serving.drain_with_skip(drain, skip).await
    }
}
