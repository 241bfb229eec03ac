//! The metrics: those of the Dynamo Operator under its names, and further ones.
//!
//! [`FAMILIES`] lists them. `resource_type` is the kind, `operation` is spelled as in an AdmissionReview.

pub mod cluster;
mod exposition;
mod families;
mod reason;
mod registries;
mod series;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use gateward_core::{Decision, Outcome, Review};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use crate::admin::endpoint::{AdminEndpoint, AdminRequest, AdminResponse};
use crate::connection::timeouts::TimeoutKind;
use crate::metrics::cluster::{ClusterMetrics, Series};
use crate::metrics::registries::{Registries, SharedRegistries};
use crate::metrics::series::{KindSeries, Kinds};
use crate::port::Port;
pub use families::{FAMILIES, MetricFamily, MetricKind, MetricLabel, MetricPrefixes, MetricScope};

/// A family of counters with one label.
type Counters = Family<[(&'static str, &'static str); 1], Counter>;

/// The metrics of a server. Clones share them.
#[derive(Clone)]
pub struct Metrics(Arc<Inner>);

struct Inner {
    registries: SharedRegistries,
    cluster: OnceLock<Series>,
    kinds: Kinds,
    errors: Family<[(&'static str, String); 2], Counter>,
    request_bytes: Counter,
    body_bytes: Gauge,
    in_flight: Gauge,
    panics: Counter,
    shed: Counters,
    connections: Gauge,
    refused: Counters,
    evicted: Counters,
    handshake_failures: Counters,
    connection_errors: Counters,
}

/// The limit for which a request was shed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overload {
    Concurrency,
    Work,
    Bytes,
}

impl Overload {
    const ALL: [Self; 3] = [Self::Concurrency, Self::Work, Self::Bytes];

    fn as_str(self) -> &'static str {
        match self {
            Self::Concurrency => "concurrency",
            Self::Work => "work",
            Self::Bytes => "bytes",
        }
    }
}

/// Why a handshake failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HandshakeFailure {
    Timeout,
    Tls,
}

/// Why a connection ended with an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConnectionError {
    TimedOut(TimeoutKind),
    Malformed,
    Broken,
}

impl ClusterMetrics {
    /// Those among the metrics of a server. `/metrics` shows them from the first call on.
    pub fn of(metrics: &Metrics) -> Self {
        let Inner { registries, cluster, .. } = &*metrics.0;
        let series = cluster.get_or_init(|| Series::registered_in(&mut registries.lock()));
        Self::registered(registries.clone(), series.clone())
    }
}

impl Metrics {
    /// Metrics whose names begin with a prefix and an underscore.
    pub fn new<'a>(prefixes: impl Into<MetricPrefixes<'a>>) -> Self {
        Self(Arc::new(Inner::registered_in(&SharedRegistries::with_prefixes(prefixes.into()))))
    }

    /// Registers further metrics with the prefix of the server's, by the [`prometheus_client`] that this crate exports.
    pub fn register(&self, add: impl FnOnce(&mut Registry)) {
        add(&mut self.0.registries.lock().server);
    }

    /// The body of `/metrics`: `OpenMetrics` where `accept` names it, else the Prometheus text format.
    pub fn text(&self, accept: Option<&str>) -> (&'static str, String) {
        let Registries { server, cluster, cert_watcher } = &*self.0.registries.lock();
        exposition::encode(&[server, cluster, cert_watcher], accept)
    }

    /// A request was handled.
    pub(crate) fn answered(&self, review: Option<Review>, record: &Decision, elapsed: Option<Duration>) {
        match &record.outcome {
            Outcome::Error(why) => self.error(review, why.status()),
            outcome => self.0.kinds.with(&record.kind.kind, |kind| count(kind, review, record, outcome, elapsed)),
        }
    }

    fn error(&self, review: Option<Review>, status: u16) {
        let review = review.map_or("none", Review::as_str).to_owned();
        self.0.errors.get_or_create(&[("review", review), ("code", status.to_string())]).inc();
    }

    pub(crate) fn received(&self, bytes: usize) {
        self.0.request_bytes.inc_by(bytes as u64);
    }

    pub(crate) fn panicked(&self) {
        self.0.panics.inc();
    }

    pub(crate) fn shed(&self, overload: Overload) {
        self.0.shed.get_or_create(&[("limit", overload.as_str())]).inc();
    }

    pub(crate) fn refused(&self, port: Port) {
        self.0.refused.get_or_create(&[("port", port.as_str())]).inc();
    }

    pub(crate) fn evicted(&self, port: Port) {
        self.0.evicted.get_or_create(&[("port", port.as_str())]).inc();
    }

    pub(crate) fn handshake_failed(&self, failure: HandshakeFailure) {
        let reason = match failure {
            HandshakeFailure::Timeout => "timeout",
            HandshakeFailure::Tls => "tls",
        };
        self.0.handshake_failures.get_or_create(&[("reason", reason)]).inc();
    }

    pub(crate) fn connection_failed(&self, error: ConnectionError) {
        let reason = match error {
            ConnectionError::TimedOut(timeout) => timeout.as_str(),
            ConnectionError::Malformed => "malformed",
            ConnectionError::Broken => "broken",
        };
        self.0.connection_errors.get_or_create(&[("reason", reason)]).inc();
    }

    pub(crate) fn body_bytes(&self) -> Gauge {
        self.0.body_bytes.clone()
    }

    /// Counts one more open connection until the result is dropped.
    pub(crate) fn connection(&self) -> Counted {
        Counted::of(&self.0.connections)
    }

    /// Counts one more request in flight until the result is dropped.
    pub(crate) fn request(&self) -> Counted {
        Counted::of(&self.0.in_flight)
    }
}

impl AdminEndpoint for Metrics {
    fn serves(&self, path: &str) -> bool {
        path == "/metrics"
    }

    fn respond(&self, request: &AdminRequest<'_>) -> Option<AdminResponse> {
        let (content_type, body) = self.serves(request.path).then(|| self.text(request.accept))?;
        Some(AdminResponse { status: 200, content_type, body })
    }
}

impl std::fmt::Debug for Metrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

/// Counts in a gauge until it is dropped.
pub(crate) struct Counted(Gauge);

impl Counted {
    fn of(gauge: &Gauge) -> Self {
        gauge.inc();
        Self(gauge.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Inner {
    fn registered_in(registries: &SharedRegistries) -> Self {
        let mut locked = registries.lock();
        let kinds = Kinds::registered_in(&mut locked.server);
        let inner = Self {
            registries: registries.clone(),
            cluster: OnceLock::new(),
            kinds,
            errors: Family::default(),
            request_bytes: Counter::default(),
            body_bytes: Gauge::default(),
            in_flight: Gauge::default(),
            panics: Counter::default(),
            shed: Family::default(),
            connections: Gauge::default(),
            refused: Family::default(),
            evicted: Family::default(),
            handshake_failures: Family::default(),
            connection_errors: Family::default(),
        };
        inner.register_requests(&mut locked.server);
        inner.register_connections(&mut locked.server);
        drop(locked);
        inner
    }

    fn register_requests(&self, registry: &mut Registry) {
        families::ERRORS.register(registry, self.errors.clone());
        families::REQUEST_BYTES.register(registry, self.request_bytes.clone());
        families::BODY_BYTES.register(registry, self.body_bytes.clone());
        families::REQUESTS_IN_FLIGHT.register(registry, self.in_flight.clone());
        families::PANICS.register(registry, self.panics.clone());
        // A rate needs the series before its first increment.
        for limit in Overload::ALL {
            drop(self.shed.get_or_create(&[("limit", limit.as_str())]));
        }
        families::SHED.register(registry, self.shed.clone());
    }

    fn register_connections(&self, registry: &mut Registry) {
        families::CONNECTIONS.register(registry, self.connections.clone());
        for port in Port::ALL {
            // A rate needs the series before its first increment.
            let label = [("port", port.as_str())];
            let _ = (self.refused.get_or_create(&label), self.evicted.get_or_create(&label));
        }
        families::CONNECTIONS_REFUSED.register(registry, self.refused.clone());
        families::CONNECTIONS_EVICTED.register(registry, self.evicted.clone());
        families::HANDSHAKE_FAILURES.register(registry, self.handshake_failures.clone());
        families::CONNECTION_ERRORS.register(registry, self.connection_errors.clone());
    }
}

fn count(kind: &KindSeries, review: Option<Review>, record: &Decision, outcome: &Outcome, elapsed: Option<Duration>) {
    let operation = record.operation;
    if let Outcome::Skipped(skip) = outcome {
        return kind.skipped(operation, skip.as_str());
    }
    if let Outcome::Denied { code, reason } = outcome {
        kind.denied(operation, reason::label(*code, reason));
    }
    match review {
        Some(Review::Validate) => kind.validated(operation, outcome, elapsed),
        Some(Review::Mutate) => kind.mutated(operation, outcome, elapsed),
        Some(Review::Convert) => kind.converted(outcome, elapsed),
        None => {}
    }
}

#[cfg(test)]
mod tests;
