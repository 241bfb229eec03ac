//! The server: from what it needs, over the bound address, to serving.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::accept::accept;
use crate::answerer::Answerer;
use crate::bind::{BindError, bind};
use crate::connections::ConnectionLimit;
use crate::desk::Desk;
use crate::files;
use crate::identity::IdentitySlot;
use crate::journal;
use crate::limits::{API_SERVER_KEEPS_IDLE, Limits};
use crate::metrics::{Metrics, Port};
use crate::phase::Phase;
use crate::proof::{self, Caller, Callers, Trust};
use crate::protocols::Protocols;
use crate::readiness::{Listener, Readiness};
use crate::reception::Reception;
use crate::refusals::Refusals;

/// A server that is not bound yet: who it is, who answers, and what callers may take.
#[derive(Debug)]
pub struct Server<A> {
    identity: IdentitySlot,
    answerer: A,
    limits: Limits,
    protocols: Protocols,
    metrics: Metrics,
    readiness: Readiness,
}

impl<A: Answerer> Server<A> {
    /// A server with the default limits. It may be bound while `identity` is still empty.
    pub fn new(identity: IdentitySlot, answerer: A) -> Self {
        Self {
            identity,
            answerer,
            limits: Limits::default(),
            protocols: Protocols::default(),
            metrics: Metrics::new("gateward"),
            readiness: Readiness::new(),
        }
    }

    /// Other limits.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Other versions of HTTP.
    pub fn protocols(mut self, protocols: Protocols) -> Self {
        self.protocols = protocols;
        self
    }

    /// Counts into these metrics.
    pub fn metrics(mut self, metrics: Metrics) -> Self {
        self.metrics = metrics;
        self
    }

    /// Tells this readiness how it is.
    pub fn readiness(mut self, readiness: Readiness) -> Self {
        self.readiness = readiness;
        self
    }

    /// Takes an address; port 0 takes a free one. Connections wait until [`Bound::serve`].
    #[expect(clippy::unused_async, reason = "it needs a runtime, which a caller that awaits it has")]
    pub async fn bind(self, address: SocketAddr) -> Result<Bound<A>, BindError> {
        self.limits.check()?;
        let tls = self.identity.server_config(&self.protocols).map_err(|error| BindError::Tls(error.to_string()))?;
        let (listener, address) = bind(address)?;
        self.readiness.watch(self.identity.clone());
        Ok(Bound { server: self, tls, listener, address })
    }
}

/// A server that has its address.
#[derive(Debug)]
pub struct Bound<A> {
    server: Server<A>,
    tls: Arc<rustls::ServerConfig>,
    listener: TcpListener,
    address: SocketAddr,
}

impl<A: Answerer> Bound<A> {
    /// The bound address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves, on the runtime of the caller.
    pub fn serve(self) -> Serving {
        let Self { server, tls, listener, address } = self;
        let Server { answerer, limits, protocols, metrics, readiness, .. } = server;
        journal::starting(address, &answerer.paths());
        if limits.idle <= API_SERVER_KEEPS_IDLE {
            journal::idle_is_short(limits.idle);
        }
        let (phase, watched) = watch::channel(Phase::Serving);
        let most = files::for_reviews(limits.connections);
        if most < limits.connections {
            journal::few_files(limits.connections, most);
        }
        let connections = ConnectionLimit::new(most);
        let refusals = Refusals::new(Port::Webhooks, metrics.clone());
        let desk = Desk::new(answerer, limits.clone(), metrics.clone(), watched.clone());
        let reception = Reception::new(desk, tls, limits, protocols, metrics);
        let closed = ClosedOnDrop(readiness.clone());
        let accepting = tokio::spawn(receive(listener, connections.clone(), watched, reception, refusals, closed));
        readiness.listener(Listener::Open);
        Serving { address, phase, connections, accepting, readiness }
    }
}

async fn receive<A: Answerer>(
    listener: TcpListener,
    connections: ConnectionLimit,
    phase: watch::Receiver<Phase>,
    reception: Reception<A>,
    refusals: Refusals,
    _closed: ClosedOnDrop,
) {
    let reception = Arc::new(reception);
    let serve = |socket, state, phase| Arc::clone(&reception).converse(socket, state, phase);
    accept(listener, connections, phase, refusals, serve).await;
}

/// However accepting ends, readiness learns of it.
struct ClosedOnDrop(Readiness);

impl Drop for ClosedOnDrop {
    fn drop(&mut self) {
        self.0.listener(Listener::Closed);
    }
}

/// A server that serves. Dropping it cuts everything off; [`Serving::drain`] ends it well.
#[derive(Debug)]
#[must_use = "the server is cut off when this is dropped"]
pub struct Serving {
    pub(crate) address: SocketAddr,
    pub(crate) phase: watch::Sender<Phase>,
    pub(crate) connections: ConnectionLimit,
    pub(crate) accepting: JoinHandle<()>,
    pub(crate) readiness: Readiness,
}

impl Serving {
    /// The bound address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Makes handshakes with the own listener until one is verified; only then is the pod ready.
    pub async fn prove(&self, trust: &Trust) {
        let only = Caller { name: "the own authority".into(), trust: trust.clone() };
        let callers = Callers { known: vec![only], stand_from: Some(Instant::now()) };
        let (_stays, callers) = watch::channel(callers);
        self.prove_until(callers).await;
    }

    /// Makes handshakes with the own listener until one is verified for each of those who call, at a time when all of
    /// them have heard of what they trust; only then is the pod ready. Those who call may change meanwhile, which begins
    /// the proof anew; nobody who calls proves nothing.
    ///
    /// What was proved stays proved. The future belongs to nobody and may be spawned; it ends when the proof does.
    pub fn prove_until(&self, callers: watch::Receiver<Callers>) -> impl Future<Output = ()> + Send + use<> {
        proof::prove(self.address, callers, self.readiness.clone())
    }
}
