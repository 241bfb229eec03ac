//! What is counted, under the names of the Dynamo Operator and beside them.
//!
//! | name, after the prefix | kind | labels |
//! |---|---|---|
//! | `webhook_duration_seconds` | histogram | `resource_type`, `operation`: time to judge, validating reviews |
//! | `webhook_requests_total` | counter | `resource_type`, `operation`, `result` (`allowed`, `denied`): validating reviews |
//! | `webhook_denials_total` | counter | `resource_type`, `operation`, `reason`: validating and mutating reviews |
//! | `webhook_mutation_duration_seconds` | histogram | `resource_type`, `operation`: time to default, mutating reviews |
//! | `webhook_mutations_total` | counter | `resource_type`, `operation`, `result` (`patched`, `unchanged`, `denied`) |
//! | `webhook_skips_total` | counter | `resource_type`, `operation`, `reason`: allowed without being judged |
//! | `webhook_conversion_duration_seconds` | histogram | `resource_type`: time to convert all objects of a review |
//! | `webhook_conversions_total` | counter | `resource_type`, `result` (`converted`, `failed`): reviews with objects to convert |
//! | `webhook_converted_objects_total` | counter | `resource_type`: objects in them |
//! | `webhook_errors_total` | counter | `review` (`validate`, `mutate`, `convert`, `none`), `code`: HTTP errors instead of a verdict |
//! | `webhook_request_bytes_total` | counter | bytes of bodies received |
//! | `webhook_body_bytes_in_flight` | gauge | bytes of bodies held at the moment |
//! | `webhook_requests_in_flight` | gauge | requests whose head was read and whose answer is not ready |
//! | `webhook_panics_total` | counter | panics of handlers |
//! | `webhook_shed_total` | counter | `limit` (`concurrency`, `work` for large bodies, `bytes`): turned away for overload |
//! | `webhook_connections` | gauge | open connections |
//! | `webhook_connections_refused_total` | counter | `port` (`webhooks`, `health`, `metrics`): closed at once, for every other had a request under way |
//! | `webhook_connections_evicted_total` | counter | `port`: closed to make room for another, before a whole request came or at rest |
//! | `webhook_handshake_failures_total` | counter | `reason` (`timeout`, `tls`) |
//! | `webhook_connection_errors_total` | counter | `reason` (`idle`, `head`, `answer`: given up for silence; `malformed`, `broken`) |
//!
//! In a cluster [further ones](cluster) stand beside them.
//!
//! `resource_type` is the kind, `operation` is spelled as in an AdmissionReview.

pub mod cluster;
mod exposition;
mod reason;
mod series;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use gateward_core::{Outcome, Record, Review};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use crate::metrics::cluster::{ClusterMetrics, Series};
use crate::metrics::series::{KindSeries, Kinds};
use crate::pages::{Page, Pages, PlainRequest};
use crate::patience::Silence;

/// A family of counters with one label.
type Counters = Family<[(&'static str, &'static str); 1], Counter>;

/// Everything that is counted. All clones count together.
#[derive(Clone)]
pub struct Metrics(Arc<Inner>);

struct Inner {
    page: Mutex<Registries>,
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

/// What the page is made of.
#[derive(Default)]
struct Registries {
    /// Names with the product's prefix.
    own: Registry,
    /// Names that are the same for every product.
    common: Registry,
}

/// Which limit turned a caller away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overload {
    Concurrency,
    Work,
    Bytes,
}

/// A listener, as metrics and the log name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Port {
    /// Reviews.
    Webhooks,
    /// Probes.
    Health,
    /// Metrics.
    Metrics,
}

impl Port {
    const ALL: [Self; 3] = [Self::Webhooks, Self::Health, Self::Metrics];

    /// The word that metrics and the log use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Webhooks => "webhooks",
            Self::Health => "health",
            Self::Metrics => "metrics",
        }
    }

    const fn label(self) -> [(&'static str, &'static str); 1] {
        [("port", self.as_str())]
    }
}

/// How a handshake failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HandshakeFailure {
    Timeout,
    Tls,
}

/// How a connection ended that did not end well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConnectionError {
    Silent(Silence),
    Malformed,
    Broken,
}

impl Metrics {
    /// Metrics whose names begin with `prefix` and an underscore.
    pub fn new(prefix: &str) -> Self {
        let mut own = Registry::with_prefix(prefix);
        let inner = Inner::registered_in(&mut own);
        let page = Mutex::new(Registries { own, common: Registry::default() });
        Self(Arc::new(Inner { page, ..inner }))
    }

    /// The measures of a server in a cluster. They stand on the page from the first call on.
    pub fn cluster(&self) -> ClusterMetrics {
        let series = self.0.cluster.get_or_init(|| Series::registered_in(&mut self.page_lock().common));
        ClusterMetrics::of(self.clone(), series.clone())
    }

    /// Adds metrics of one's own to the same page.
    pub fn register(&self, add: impl FnOnce(&mut Registry)) {
        add(&mut self.page_lock().own);
    }

    /// The page that a scraper reads: `OpenMetrics` where it asks for it, else the older text format.
    pub fn text(&self, accept: Option<&str>) -> (&'static str, String) {
        let Registries { own, common } = &*self.page_lock();
        exposition::page(&[own, common], accept)
    }

    /// While this is held, nobody reads the page.
    fn page_lock(&self) -> MutexGuard<'_, Registries> {
        self.0.page.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A review was answered.
    pub(crate) fn answered(&self, review: Option<Review>, record: &Record, elapsed: Option<Duration>) {
        match &record.outcome {
            Outcome::Undecided(why) => self.error(review, why.status()),
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
        self.0.refused.get_or_create(&port.label()).inc();
    }

    pub(crate) fn evicted(&self, port: Port) {
        self.0.evicted.get_or_create(&port.label()).inc();
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
            ConnectionError::Silent(silence) => silence.as_str(),
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

impl Pages for Metrics {
    fn has(&self, path: &str) -> bool {
        path == "/metrics"
    }

    fn page(&self, request: &PlainRequest<'_>) -> Option<Page> {
        let (content_type, body) = self.has(request.path).then(|| self.text(request.accept))?;
        Some(Page { status: 200, content_type, body })
    }
}

impl std::fmt::Debug for Metrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

/// One that a gauge counts.
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
    fn registered_in(registry: &mut Registry) -> Self {
        let kinds = Kinds::registered_in(registry);
        let inner = Self {
            page: Mutex::default(),
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
        inner.name_requests(registry);
        inner.name_connections(registry);
        inner
    }

    fn name_requests(&self, registry: &mut Registry) {
        registry.register("webhook_errors", "HTTP errors instead of a verdict", self.errors.clone());
        registry.register("webhook_request_bytes", "Bytes of bodies received", self.request_bytes.clone());
        registry.register("webhook_body_bytes_in_flight", "Bytes of bodies held", self.body_bytes.clone());
        registry.register("webhook_requests_in_flight", "Requests being answered", self.in_flight.clone());
        registry.register("webhook_panics", "Panics of handlers", self.panics.clone());
        registry.register("webhook_shed", "Requests turned away for overload", self.shed.clone());
    }

    fn name_connections(&self, registry: &mut Registry) {
        registry.register("webhook_connections", "Open connections", self.connections.clone());
        for port in Port::ALL {
            // A rate needs the series before the first of them is counted.
            let _ = (self.refused.get_or_create(&port.label()), self.evicted.get_or_create(&port.label()));
        }
        registry.register("webhook_connections_refused", "Connections that found no room", self.refused.clone());
        registry.register("webhook_connections_evicted", "Connections closed to make room", self.evicted.clone());
        registry.register("webhook_handshake_failures", "TLS handshakes that failed", self.handshake_failures.clone());
        registry.register(
            "webhook_connection_errors",
            "Connections that ended otherwise than well",
            self.connection_errors.clone(),
        );
    }
}

fn count(kind: &KindSeries, review: Option<Review>, record: &Record, outcome: &Outcome, elapsed: Option<Duration>) {
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
