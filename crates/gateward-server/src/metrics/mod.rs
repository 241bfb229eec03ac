//! The metrics: those of the Dynamo Operator under its names, and further ones.
//!
//! | name, after the prefix | kind | labels |
//! |---|---|---|
//! | `webhook_duration_seconds` | histogram | `resource_type`, `operation`: duration of validating reviews |
//! | `webhook_requests_total` | counter | `resource_type`, `operation`, `result` (`allowed`, `denied`): validating reviews |
//! | `webhook_denials_total` | counter | `resource_type`, `operation`, `reason`: validating and mutating reviews |
//! | `webhook_mutation_duration_seconds` | histogram | `resource_type`, `operation`: duration of mutating reviews |
//! | `webhook_mutations_total` | counter | `resource_type`, `operation`, `result` (`patched`, `unchanged`, `denied`) |
//! | `webhook_skips_total` | counter | `resource_type`, `operation`, `reason`: allowed without validation |
//! | `webhook_conversion_duration_seconds` | histogram | `resource_type`: duration of conversion reviews |
//! | `webhook_conversions_total` | counter | `resource_type`, `result` (`converted`, `failed`): reviews with objects to convert |
//! | `webhook_converted_objects_total` | counter | `resource_type`: objects in them |
//! | `webhook_errors_total` | counter | `review` (`validate`, `mutate`, `convert`, `none`), `code`: HTTP errors instead of a verdict |
//! | `webhook_request_bytes_total` | counter | bytes of bodies received |
//! | `webhook_body_bytes_in_flight` | gauge | bytes of bodies held at the moment |
//! | `webhook_requests_in_flight` | gauge | requests between their head and their response |
//! | `webhook_panics_total` | counter | panics of handlers |
//! | `webhook_shed_total` | counter | `limit` (`concurrency`, `work` for large bodies, `bytes`): requests shed for overload |
//! | `webhook_connections` | gauge | open connections |
//! | `webhook_connections_refused_total` | counter | `port` (`webhooks`, `health`, `metrics`): closed at once, because every other had a request in flight |
//! | `webhook_connections_evicted_total` | counter | `port`: closed for a new one, while idle or before a complete request |
//! | `webhook_handshake_failures_total` | counter | `reason` (`timeout`, `tls`) |
//! | `webhook_connection_errors_total` | counter | `reason` (`idle`, `head`, `answer`: timed out; `malformed`, `broken`) |
//!
//! In a cluster there are [further ones](cluster).
//!
//! `resource_type` is the kind, `operation` is spelled as in an AdmissionReview.

pub mod cluster;
mod exposition;
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

impl Metrics {
    /// Metrics whose names begin with `prefix` and an underscore.
    pub fn new(prefix: &str) -> Self {
        Self(Arc::new(Inner::registered_in(&SharedRegistries::with_prefix(prefix))))
    }

    /// The metrics of a server in a cluster. `/metrics` shows them from the first call on.
    pub fn cluster(&self) -> ClusterMetrics {
        let registries = &self.0.registries;
        let series = self.0.cluster.get_or_init(|| Series::registered_in(&mut registries.lock().common));
        ClusterMetrics::of(registries.clone(), series.clone())
    }

    /// Registers further metrics with the same prefix.
    pub fn register(&self, add: impl FnOnce(&mut Registry)) {
        add(&mut self.0.registries.lock().prefixed);
    }

    /// The body of `/metrics`: `OpenMetrics` where `accept` names it, else the Prometheus text format.
    pub fn text(&self, accept: Option<&str>) -> (&'static str, String) {
        let Registries { prefixed, common } = &*self.0.registries.lock();
        exposition::encode(&[prefixed, common], accept)
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
        let limit = match overload {
            Overload::Concurrency => "concurrency",
            Overload::Work => "work",
            Overload::Bytes => "bytes",
        };
        self.0.shed.get_or_create(&[("limit", limit)]).inc();
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
        let kinds = Kinds::registered_in(&mut locked.prefixed);
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
        inner.register_requests(&mut locked.prefixed);
        inner.register_connections(&mut locked.prefixed);
        drop(locked);
        inner
    }

    fn register_requests(&self, registry: &mut Registry) {
        registry.register("webhook_errors", "HTTP errors instead of a verdict", self.errors.clone());
        registry.register("webhook_request_bytes", "Bytes of bodies received", self.request_bytes.clone());
        registry.register("webhook_body_bytes_in_flight", "Bytes of bodies held", self.body_bytes.clone());
        registry.register("webhook_requests_in_flight", "Requests being answered", self.in_flight.clone());
        registry.register("webhook_panics", "Panics of handlers", self.panics.clone());
        registry.register("webhook_shed", "Requests shed for overload", self.shed.clone());
    }

    fn register_connections(&self, registry: &mut Registry) {
        registry.register("webhook_connections", "Open connections", self.connections.clone());
        for port in Port::ALL {
            // A rate needs the series before its first increment.
            let label = [("port", port.as_str())];
            let _ = (self.refused.get_or_create(&label), self.evicted.get_or_create(&label));
        }
        registry.register("webhook_connections_refused", "Connections refused at the limit", self.refused.clone());
        registry.register("webhook_connections_evicted", "Connections evicted at the limit", self.evicted.clone());
        registry.register("webhook_handshake_failures", "TLS handshakes that failed", self.handshake_failures.clone());
        registry.register(
            "webhook_connection_errors",
            "Connections that ended with an error",
            self.connection_errors.clone(),
        );
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
        Some(Review::Convert) => kind.converted(objects(outcome), elapsed),
        None => {}
    }
}

/// How many objects were converted, if they were.
fn objects(outcome: &Outcome) -> Option<usize> {
    match outcome {
        Outcome::Converted { objects } => Some(*objects),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
