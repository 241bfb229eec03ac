//! An admin listener over TLS, for authorized callers: metrics in a cluster.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, request};
use hyper::body::Incoming;
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::authorize::{Authorization, Authorizer, bearer, refusal};
use super::endpoint::AdminEndpoint;
use super::listener::{AdminListener, limits, serve_connection};
use super::response::{HttpResponse, check, respond};
use crate::bind::BindError;
use crate::cert_resolver::CertResolver;
use crate::connection::session::handshake;
use crate::limits::connection_limit::RequestProgress;
use crate::metrics::Metrics;
use crate::phase::ServerPhase;
use crate::port::Port;
use crate::protocols::Protocols;
use crate::refusals::Refusals;

/// The timeout of an authorization: below the scrape timeout of Prometheus, 10 s by default.
const AUTHORIZATION_TIMEOUT: Duration = Duration::from_secs(8);

/// Serves an endpoint over TLS to authorized callers until it is dropped.
#[derive(Debug)]
#[must_use = "the listener closes when this is dropped"]
pub struct HttpsServer(AdminListener);

impl HttpsServer {
    /// Binds an address (port 0 takes a free one) and serves at once, on a thread of its own; `authorizer` runs on the
    /// runtime of the caller. Handshakes fail while `certificate` is empty. `metrics` count refused and evicted
    /// connections.
    pub async fn bind(
        address: SocketAddr,
        certificate: &CertResolver,
        authorizer: impl Authorizer,
        endpoint: impl AdminEndpoint,
        metrics: &Metrics,
    ) -> Result<Self, BindError> {
        let tls = certificate.server_config(&Protocols::Http1).map_err(|error| BindError::Tls(error.to_string()))?;
        let (authorizer, runtime) = (Arc::new(authorizer), Handle::current());
        let service = Arc::new(AuthorizedService { tls: tls.into(), authorizer, runtime, endpoint });
        let serve = move |socket, progress, phase| {
            let service = Arc::clone(&service);
            async move { service.serve(socket, progress, phase).await }
        };
        AdminListener::bind(address, Refusals::new(Port::Metrics, metrics.clone()), serve).await.map(Self)
    }

    /// The bound address.
    pub fn address(&self) -> SocketAddr {
        self.0.address()
    }
}

/// Responds to authorized requests.
struct AuthorizedService<Z, E> {
    tls: TlsAcceptor,
    authorizer: Arc<Z>,
    /// Where the authorizer runs: its own connections belong to this runtime.
    runtime: Handle,
    endpoint: E,
}

impl<Z: Authorizer, E: AdminEndpoint> AuthorizedService<Z, E> {
    async fn serve(&self, socket: TcpStream, progress: Arc<RequestProgress>, phase: watch::Receiver<ServerPhase>) {
        if let Ok(stream) = handshake(socket, &self.tls, &limits(), Port::Metrics).await {
            serve_connection(stream, progress, phase, |request| self.response(request)).await;
        }
    }

    async fn response(&self, request: Request<Incoming>) -> HttpResponse {
        let (head, _body) = request.into_parts();
        if let Err(response) = check(&head, &self.endpoint) {
            return *response;
        }
        match refusal(self.authorize(&head).await) {
            Some(response) => response,
            None => respond(&head, &self.endpoint),
        }
    }

    async fn authorize(&self, head: &request::Parts) -> Authorization {
        let (path, token) = (head.uri.path().to_owned(), bearer(&head.headers).map(str::to_owned));
        let authorizer = Arc::clone(&self.authorizer);
        // Dropping the set aborts the task, such as when the caller hangs up.
        let mut task = JoinSet::new();
        let authorization = async move { authorizer.authorize(&path, token.as_deref()).await };
        task.spawn_on(authorization, &self.runtime);
        // A panic and a timeout deny.
        match timeout(AUTHORIZATION_TIMEOUT, task.join_next()).await {
            Ok(Some(Ok(authorization))) => authorization,
            Ok(Some(Err(_)) | None) | Err(_) => Authorization::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use tokio::time::Instant;

    use super::*;

    /// Never returns.
    struct Hangs;

    impl Authorizer for Hangs {
        async fn authorize(&self, _: &str, _: Option<&str>) -> Authorization {
            pending().await
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_authorization_that_hangs_times_out() {
        let tls = CertResolver::empty().server_config(&Protocols::Http1).unwrap().into();
        let (authorizer, runtime) = (Arc::new(Hangs), Handle::current());
        let service = AuthorizedService { tls, authorizer, runtime, endpoint: Metrics::new("test") };
        let (head, ()) = Request::get("/metrics").body(()).unwrap().into_parts();
        let start = Instant::now();
        assert_eq!(service.authorize(&head).await, Authorization::Unknown);
        assert_eq!(start.elapsed(), AUTHORIZATION_TIMEOUT);
    }
}
