//! The webhooks of an operator in a router that is already there.

use std::sync::Arc;

use gateward_core::{ClusterReader, Facts, Notes, WebhooksError};
use gateward_server::{Limits, LimitsError, Metrics, ReviewHandler, ReviewService};

use crate::handler;
use crate::operator::Operator;

/// Why webhooks can't be a service.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServiceError {
    /// Two declarations contradict each other.
    #[error(transparent)]
    Webhooks(#[from] WebhooksError),
    /// The limits contradict each other.
    #[error(transparent)]
    Limits(#[from] LimitsError),
}

/// Makes a `tower` service of an operator's webhooks, for a router that is already there.
///
/// It answers the paths of the webhooks, with the usual limits on bodies and work and with deadlines. TLS, the limits of
/// connections and the drain are the listener's; [`Server`](crate::Server) brings all of that.
///
/// ```
/// use gateward::prelude::*;
/// use std::sync::Arc;
///
/// # fn routes(webhooks: Webhooks) -> Result<axum::Router, gateward::ServiceError> {
/// let router = axum::Router::new()
///     .route("/hello", axum::routing::get(|| async { "hello" }))
///     .fallback_service(webhooks.into_service(Arc::new(()))?);
/// # Ok(router)
/// # }
/// ```
pub trait IntoService: Operator + Sized {
    /// The service, whose handlers read `facts`. They have no cluster: a look-up, `.scale` too, is an HTTP error. With
    /// [`into_service_with`](Self::into_service_with) they have one.
    fn into_service(
        self,
        facts: Arc<dyn Facts>,
    ) -> Result<ReviewService<impl ReviewHandler + use<Self>>, ServiceError> {
        let metrics = Metrics::new(self.names().metric_prefixes());
        self.into_service_with(facts, None, Limits::default(), metrics)
    }

    /// The same with a cluster to look things up in, such as [`cluster_reader`](crate::cluster_reader) of a client, other
    /// limits, and metrics that somebody shows.
    fn into_service_with(
        self,
        facts: Arc<dyn Facts>,
        cluster: Option<Arc<dyn ClusterReader>>,
        limits: Limits,
        metrics: Metrics,
    ) -> Result<ReviewService<impl ReviewHandler + use<Self>>, ServiceError> {
        self.webhooks().check()?;
        let handler = handler::unchanging(Arc::new(self), facts, cluster, Notes::InRecord);
        Ok(ReviewService::new(handler, limits, metrics)?)
    }
}

impl<P: Operator> IntoService for P {}

/// Looks things up in the cluster of a client, with its rights, for [`IntoService::into_service_with`].
#[cfg(feature = "cluster")]
pub fn cluster_reader(client: gateward_cluster::Client) -> Arc<dyn ClusterReader> {
    Arc::new(gateward_cluster::ApiReader::new(client))
}
