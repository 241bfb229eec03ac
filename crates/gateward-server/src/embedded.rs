//! Reviews in a server of somebody else's: a `tower` service instead of a listener.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use http_body_util::Full;
use tokio::sync::watch;
use tower_service::Service;

use crate::connection::state::ConnectionState;
use crate::handler::ReviewHandler;
use crate::limits::{Limits, LimitsError};
use crate::metrics::Metrics;
use crate::phase::ServerPhase;
use crate::service::WebhookService;

/// Answers reviews in a router that is already there, with the limits of bodies and work, the deadlines and the metrics
/// of a [`ReviewServer`](crate::ReviewServer). What concerns connections (TLS, their number, silent peers, the drain) is
/// the listener's; of [`Limits`] only what is about requests counts here.
///
/// Clones share all limits. A path that no webhook serves is answered with 404, so it stands behind all other routes.
///
/// ```
/// use gateward_core::Webhooks;
/// use gateward_server::{Limits, Metrics, ReviewService, WebhooksHandler};
/// use std::sync::Arc;
///
/// let handler = WebhooksHandler::new(Arc::new(Webhooks::new()), || Arc::new(()));
/// let service = ReviewService::new(handler, Limits::default(), Metrics::new("my_operator"))?;
/// # Ok::<(), gateward_server::LimitsError>(())
/// ```
pub struct ReviewService<H>(Arc<WebhookService<H>>);

impl<H: ReviewHandler> ReviewService<H> {
    /// A service for the reviews of `handler`, which counts into `metrics`. It has to be called within a tokio runtime.
    pub fn new(handler: H, limits: Limits, metrics: Metrics) -> Result<Self, LimitsError> {
        limits.check()?;
        // The listener drains.
        let (_, phase) = watch::channel(ServerPhase::Serving);
        Ok(Self(Arc::new(WebhookService::new(handler, limits, metrics, phase))))
    }
}

impl<H> Clone for ReviewService<H> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<H, B> Service<Request<B>> for ReviewService<H>
where
    H: ReviewHandler,
    B: Body<Data = Bytes> + Send + Unpin + 'static,
{
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    /// Always ready: what is too much is answered with 429.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let service = Arc::clone(&self.0);
        Box::pin(async move { Ok(service.call(request, &ConnectionState::default()).await) })
    }
}
