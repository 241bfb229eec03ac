//! The listeners: probes from the first moment on, reviews, and metrics once it can be asked who may read them.

use std::net::{Ipv6Addr, SocketAddr};
use std::sync::Arc;

use gateward_cluster::{AccessReview, Connection};
use gateward_core::Notes;
use gateward_server::ClusterMetrics;
use gateward_server::{
    BindError, CertResolver, Http2Limits, HttpServer, HttpsServer, Metrics, Port, Protocols, Readiness, RunningServer,
    Server, WebhooksHandler,
};

use super::authorize::ByApiServer;
use super::facts::Present;
use crate::config::{HttpVersions, ListenAddress, Listeners, MetricsAccess};
use crate::handler::OperatorWebhooks;
use crate::operator::Operator;

/// What listens, and what it shows and answers by.
pub(super) struct Listening {
    pub(super) serving: RunningServer,
    pub(super) readiness: Readiness,
    pub(super) certificate: CertResolver,
    pub(super) present: Present,
    metrics: Metrics,
    _health: HttpServer,
}

/// The listener of metrics; it closes when this is dropped.
#[expect(dead_code, reason = "held until the end")]
pub(super) enum MetricsListener {
    Https(HttpsServer),
    Http(HttpServer),
}

impl Listening {
    /// Takes the addresses of probes and reviews. Reviews are answered as soon as there is a certificate to show.
    pub(super) async fn start<P: Operator>(
        operator: &Arc<P>,
        listeners: &Listeners,
        readiness: Readiness,
    ) -> Result<Self, BindError> {
        let metrics = Metrics::new(operator.names().metrics);
        let health = HttpServer::bind(address(listeners.health), Port::Health, readiness.clone(), &metrics).await?;
        let (certificate, present) = (CertResolver::empty(), Present::unknown());
        let facts = present.clone();
        let handler = WebhooksHandler::new(OperatorWebhooks(Arc::clone(operator)), move || facts.get());
        let server = Server::new(certificate.clone(), handler.notes(Notes::InRecord))
            .metrics(metrics.clone())
            .protocols(protocols(listeners.http))
            .readiness(readiness.clone());
        let serving = server.bind(address(listeners.webhooks)).await?.serve();
        Ok(Self { serving, readiness, certificate, present, metrics, _health: health })
    }

    /// Takes the address of metrics.
    pub(super) async fn metrics(
        &self,
        listeners: &Listeners,
        connection: &Connection,
    ) -> Result<MetricsListener, BindError> {
        let (address, pages) = (address(listeners.metrics), self.metrics.clone());
        match listeners.metrics_access {
            MetricsAccess::Open => {
                HttpServer::bind(address, Port::Metrics, pages, &self.metrics).await.map(MetricsListener::Http)
            }
            MetricsAccess::Authorized => {
                let readers = ByApiServer(AccessReview::new(connection.client()));
                let secure = HttpsServer::bind(address, &self.certificate, readers, pages, &self.metrics).await;
                secure.map(MetricsListener::Https)
            }
        }
    }

    /// What is measured of the cluster.
    pub(super) fn measures(&self) -> ClusterMetrics {
        self.metrics.cluster()
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
