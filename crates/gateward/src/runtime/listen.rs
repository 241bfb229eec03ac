//! The listeners: probes from the first moment on, reviews, and metrics once it can be asked who may read them.

use std::net::{Ipv6Addr, SocketAddr};
use std::sync::Arc;

use gateward_cluster::{AccessReview, Connection};
use gateward_core::Notes;
use gateward_server::{
    BindError, CertResolver, ClusterMetrics, Http2Limits, HttpServer, HttpsServer, Limits, Metrics, Port, Protocols,
    Readiness, ReviewServer, RunningServer, WebhooksHandler,
};

use super::authorize::ByApiServer;
use super::error::ServerError;
use super::facts::Present;
use crate::config::{HttpVersions, ListenAddress, Listeners, MetricsAccess};
use crate::handler::OperatorWebhooks;
use crate::operator::Operator;

/// What a server listens with.
pub(crate) struct ListenerSettings {
    pub(crate) listeners: Listeners,
    pub(crate) limits: Limits,
    pub(crate) metrics: Metrics,
    pub(crate) readiness: Readiness,
    /// Reviews are answered as soon as it has a certificate.
    pub(crate) certificate: CertResolver,
}

/// What listens, and what it shows and answers by.
pub(crate) struct BoundListeners {
    pub(super) serving: RunningServer,
    pub(super) readiness: Readiness,
    pub(super) certificate: CertResolver,
    pub(super) present: Present,
    pub(super) health: HttpServer,
    metrics: Metrics,
    listeners: Listeners,
}

/// The listener of metrics; it closes when this is dropped.
#[expect(dead_code, reason = "held until the end")]
pub(super) enum MetricsListener {
    Https(HttpsServer),
    Http(HttpServer),
}

impl BoundListeners {
    /// Takes the addresses of probes and reviews.
    pub(super) async fn start<P: Operator>(operator: &Arc<P>, settings: ListenerSettings) -> Result<Self, BindError> {
        let ListenerSettings { listeners, limits, metrics, readiness, certificate } = settings;
        let health = HttpServer::bind(address(listeners.health), Port::Health, readiness.clone(), &metrics).await?;
        let present = Present::unknown();
        let (facts, cluster) = (present.clone(), present.cluster());
        let handler =
            WebhooksHandler::new(OperatorWebhooks(Arc::clone(operator)), move || facts.get()).cluster(cluster);
        let server = ReviewServer::new(certificate.clone(), handler.notes(Notes::InRecord))
            .limits(limits)
            .metrics(metrics.clone())
            .protocols(protocols(listeners.http))
            .readiness(readiness.clone());
        let serving = server.bind(address(listeners.webhooks)).await?.serve();
        Ok(Self { serving, readiness, certificate, present, health, metrics, listeners })
    }

    /// Takes the address of metrics. Without a connection no API server can say who may read them.
    pub(super) async fn metrics(&self, connection: Option<&Connection>) -> Result<MetricsListener, ServerError> {
        let (address, pages) = (address(self.listeners.metrics), self.metrics.clone());
        match (self.listeners.metrics_access, connection) {
            (MetricsAccess::Open, _) => {
                Ok(MetricsListener::Http(HttpServer::bind(address, Port::Metrics, pages, &self.metrics).await?))
            }
            (MetricsAccess::Authorized, Some(connection)) => {
                let readers = ByApiServer(AccessReview::new(connection.client()));
                let secure = HttpsServer::bind(address, &self.certificate, readers, pages, &self.metrics).await?;
                Ok(MetricsListener::Https(secure))
            }
            (MetricsAccess::Authorized, None) => Err(ServerError::MetricsAccess),
        }
    }

    /// Where reviews are answered.
    pub(crate) fn address(&self) -> SocketAddr {
        self.serving.address()
    }

    /// Where probes are answered.
    pub(crate) fn health_address(&self) -> SocketAddr {
        self.health.address()
    }

    /// What is measured of the cluster.
    pub(super) fn measures(&self) -> ClusterMetrics {
        ClusterMetrics::of(&self.metrics)
    }
}

fn protocols(versions: HttpVersions) -> Protocols {
    match versions {
        HttpVersions::Http1 => Protocols::Http1,
        HttpVersions::Http1AndHttp2 => Protocols::Http1AndHttp2(Http2Limits::default()),
    }
}

/// All addresses of IPv6 are those of IPv4 too.
fn address(ListenAddress { ip, port }: ListenAddress) -> SocketAddr {
    SocketAddr::new(ip.unwrap_or(Ipv6Addr::UNSPECIFIED.into()), port)
}
