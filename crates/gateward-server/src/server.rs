//! The server in three states: configured, bound, running.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::accept::accept;
use crate::bind::{BindError, bind};
use crate::cert_resolver::CertResolver;
use crate::connection::serve::ConnectionHandler;
use crate::handler::ReviewHandler;
use crate::limits::connection_limit::ConnectionLimit;
use crate::limits::{API_SERVER_IDLE_TIMEOUT, Limits, open_files};
use crate::metrics::Metrics;
use crate::phase::ServerPhase;
use crate::port::Port;
use crate::protocols::Protocols;
use crate::readiness::{ListenerState, Readiness};
use crate::refusals::Refusals;
use crate::self_check::{ClientTrust, InjectedTrust, SelfCheck, TargetTrust};
use crate::service::WebhookService;
use crate::startup_log;

/// A server that is not bound yet: its certificate, its handler, its limits.
#[derive(Debug)]
pub struct ReviewServer<H> {
    certificate: CertResolver,
    handler: H,
    limits: Limits,
    protocols: Protocols,
    metrics: Metrics,
    readiness: Readiness,
}

impl<H: ReviewHandler> ReviewServer<H> {
    /// A server with the default limits. It may be bound while `certificate` is still empty.
    pub fn new(certificate: CertResolver, handler: H) -> Self {
        Self {
            certificate,
            handler,
            limits: Limits::default(),
            protocols: Protocols::default(),
            metrics: Metrics::new("gateward"),
            readiness: Readiness::new(),
        }
    }

    /// Sets the limits.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the versions of HTTP.
    pub fn protocols(mut self, protocols: Protocols) -> Self {
        self.protocols = protocols;
        self
    }

    /// Sets the metrics that the server counts into.
    pub fn metrics(mut self, metrics: Metrics) -> Self {
        self.metrics = metrics;
        self
    }

    /// Sets the readiness that the server reports its state to.
    pub fn readiness(mut self, readiness: Readiness) -> Self {
        self.readiness = readiness;
        self
    }

    /// Binds an address; port 0 takes a free one. The operating system queues connections until [`BoundServer::serve`].
    #[expect(clippy::unused_async, reason = "it needs a runtime, which a caller that awaits it has")]
    pub async fn bind(self, address: SocketAddr) -> Result<BoundServer<H>, BindError> {
        self.limits.check()?;
        let tls = self.certificate.server_config(&self.protocols).map_err(|error| BindError::Tls(error.to_string()))?;
        let (listener, address) = bind(address)?;
        self.readiness.watch_certificate(self.certificate.clone());
        Ok(BoundServer { server: self, tls, listener, address })
    }
}

/// A server that is bound to its address.
#[derive(Debug)]
pub struct BoundServer<H> {
    server: ReviewServer<H>,
    tls: Arc<rustls::ServerConfig>,
    listener: TcpListener,
    address: SocketAddr,
}

impl<H: ReviewHandler> BoundServer<H> {
    /// The bound address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves, on the runtime of the caller.
    pub fn serve(self) -> RunningServer {
        let Self { server, tls, listener, address } = self;
        let ReviewServer { handler, limits, protocols, metrics, readiness, .. } = server;
        startup_log::starting(address, &handler.paths());
        if limits.idle <= API_SERVER_IDLE_TIMEOUT {
            startup_log::short_idle_timeout(limits.idle);
        }
        let (phase, watched) = watch::channel(ServerPhase::Serving);
        let most = open_files::for_reviews(limits.connections);
        if most < limits.connections {
            startup_log::few_files(limits.connections, most);
        }
        let connections = ConnectionLimit::new(most);
        let refusals = Refusals::new(Port::Webhooks, metrics.clone());
        let service = WebhookService::new(handler, limits.clone(), metrics.clone(), watched.clone());
        let handler = ConnectionHandler::new(service, tls, limits, protocols, metrics);
        let closed = ClosedOnDrop(readiness.clone());
        let accepting = tokio::spawn(listen(listener, connections.clone(), watched, handler, refusals, closed));
        readiness.set_listener(ListenerState::Open);
        RunningServer { address, phase, connections, accepting, readiness }
    }
}

async fn listen<H: ReviewHandler>(
    listener: TcpListener,
    connections: ConnectionLimit,
    phase: watch::Receiver<ServerPhase>,
    handler: ConnectionHandler<H>,
    refusals: Refusals,
    _closed: ClosedOnDrop,
) {
    let handler = Arc::new(handler);
    let serve = |socket, progress, phase| Arc::clone(&handler).serve_connection(socket, progress, phase);
    accept(listener, connections, phase, refusals, serve).await;
}

/// Reports the listener as closed, however accepting ends.
struct ClosedOnDrop(Readiness);

impl Drop for ClosedOnDrop {
    fn drop(&mut self) {
        self.0.set_listener(ListenerState::Closed);
    }
}

/// A running server. Dropping it aborts all connections; [`RunningServer::drain`] stops it gracefully.
#[derive(Debug)]
#[must_use = "dropping the server aborts all connections"]
pub struct RunningServer {
    pub(crate) address: SocketAddr,
    pub(crate) phase: watch::Sender<ServerPhase>,
    pub(crate) connections: ConnectionLimit,
    pub(crate) accepting: JoinHandle<()>,
    pub(crate) readiness: Readiness,
}

impl RunningServer {
    /// The bound address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Runs the self-check for one client. The pod becomes ready when it passes.
    pub async fn self_check(&self, trust: &ClientTrust) {
        let target = TargetTrust { name: "the own CA".into(), trust: trust.clone() };
        let injected = InjectedTrust { targets: vec![target], valid_from: Some(Instant::now()) };
        let (_open, injected) = watch::channel(injected);
        self.self_check_all(injected).await;
    }

    /// Runs the self-check: TLS handshakes with the own listener, until one is verified for each injection target at a
    /// time when the API servers observe its `caBundle`. The pod becomes ready when it passes. A change of `injected`
    /// restarts the check; it doesn't pass while there is no target.
    ///
    /// A passed check stays passed. The future borrows nothing, so it may be spawned; it ends when the check passes.
    pub fn self_check_all(&self, injected: watch::Receiver<InjectedTrust>) -> impl Future<Output = ()> + Send + use<> {
        SelfCheck::new(self.address, self.readiness.clone()).run(injected)
    }

    /// Makes no self-check: what API servers trust isn't known. The pod becomes ready without it.
    pub fn skip_self_check(&self) {
        self.readiness.skip_self_check();
    }
}
