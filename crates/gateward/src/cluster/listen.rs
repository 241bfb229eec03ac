//! The listeners: probes from the first moment on, reviews, and metrics once it can be asked who may read them.

use std::net::{Ipv6Addr, SocketAddr};
use std::sync::Arc;

use gateward_cluster::{AccessReview, Connection};
use gateward_core::Notes;
use gateward_server::metrics::cluster::ClusterMetrics;
use gateward_server::{
    BindError, Http2Limits, IdentitySlot, Metrics, PlainServer, Port, Protocols, Readiness, SecureServer, Server,
    Serving,
};

use super::authorize::ByApiServer;
use super::facts::Present;
use crate::answerer::ProductAnswerer;
use crate::product::Product;
use crate::settings::{HttpVersions, ListenAddress, Listeners, MetricsAccess};

/// What listens, and what it shows and answers by.
pub(super) struct Listening {
    pub(super) serving: Serving,
    pub(super) readiness: Readiness,
    pub(super) identity: IdentitySlot,
    pub(super) present: Present,
    metrics: Metrics,
    _health: PlainServer,
}

/// The listener of metrics; it closes when this is dropped.
#[expect(dead_code, reason = "held until the end")]
pub(super) enum MetricsListener {
    Secure(SecureServer),
    Plain(PlainServer),
}

impl Listening {
    /// Takes the addresses of probes and reviews. Reviews are answered as soon as there is a certificate to show.
    pub(super) async fn start<P: Product>(
        product: &Arc<P>,
        listeners: &Listeners,
        readiness: Readiness,
    ) -> Result<Self, BindError> {
        let metrics = Metrics::new(product.names().metrics);
        let health = PlainServer::bind(address(listeners.health), Port::Health, readiness.clone(), &metrics).await?;
        let (identity, present) = (IdentitySlot::empty(), Present::unknown());
        let facts = present.clone();
        let answerer =
            ProductAnswerer { product: Arc::clone(product), facts: move || facts.get(), notes: Notes::InRecord };
        let server = Server::new(identity.clone(), answerer)
            .metrics(metrics.clone())
            .protocols(protocols(listeners.http))
            .readiness(readiness.clone());
        let serving = server.bind(address(listeners.webhooks)).await?.serve();
        Ok(Self { serving, readiness, identity, present, metrics, _health: health })
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
                PlainServer::bind(address, Port::Metrics, pages, &self.metrics).await.map(MetricsListener::Plain)
            }
            MetricsAccess::Authorized => {
                let readers = ByApiServer(AccessReview::new(connection.client()));
                let secure = SecureServer::bind(address, &self.identity, readers, pages, &self.metrics).await;
                secure.map(MetricsListener::Secure)
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
