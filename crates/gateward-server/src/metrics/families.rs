//! The metric families of `/metrics`, in the order in which they are documented. Registration takes names and help from
//! here; `docs/metrics.md`, the dashboard and the alerts of the chart are generated out of this table.

use prometheus_client::registry::{Metric, Registry};

/// A metric family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetricFamily {
    /// Which registry it belongs to.
    pub scope: MetricScope,
    /// Its type.
    pub kind: MetricKind,
    name: &'static str,
    /// Its labels.
    pub labels: &'static [MetricLabel],
    /// What it measures.
    pub help: &'static str,
}

/// Which servers have a family, and how its name begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricScope {
    /// Of every server; the name begins with [`MetricPrefixes::server`].
    Server,
    /// Of a server in a cluster; the name begins with [`MetricPrefixes::cluster`].
    Cluster,
    /// Of a server in a cluster; the name is that of controller-runtime's certificate watcher.
    CertWatcher,
}

/// How the names of an operator's metrics begin, without the underscore that follows. One text stands for both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetricPrefixes<'a> {
    /// Of reviews and connections.
    pub server: &'a str,
    /// Of certificates, injection and leader election.
    pub cluster: &'a str,
}

impl<'a> From<&'a str> for MetricPrefixes<'a> {
    fn from(prefix: &'a str) -> Self {
        Self { server: prefix, cluster: prefix }
    }
}

/// The type of a metric family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    /// Only grows.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Counts observations in buckets.
    Histogram,
}

/// A label of a metric family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetricLabel {
    /// Its name.
    pub name: &'static str,
    /// Its values, where they are few; else empty.
    pub values: &'static [&'static str],
}

impl MetricFamily {
    /// The name that a scraper sees. A histogram's series add `_bucket`, `_sum` and `_count`.
    pub fn exposed_name<'a>(&self, prefixes: impl Into<MetricPrefixes<'a>>) -> String {
        let MetricPrefixes { server, cluster } = prefixes.into();
        let total = if self.kind == MetricKind::Counter { "_total" } else { "" };
        match self.scope {
            MetricScope::Server => format!("{server}_{}{total}", self.name),
            MetricScope::Cluster => format!("{cluster}_{}{total}", self.name),
            MetricScope::CertWatcher => format!("{}{total}", self.name),
        }
    }

    pub(super) fn register(&self, registry: &mut Registry, metric: impl Metric) {
        registry.register(self.name, self.help, metric);
    }
}

impl MetricKind {
    /// As the text format spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

/// Declares a constant for each family, and the list of them all.
macro_rules! families {
    ($($constant:ident: $scope:ident $kind:ident $name:literal [$($label:ident $([$($value:literal)+])?),*] $help:literal;)+) => {
        $(
            pub(super) const $constant: MetricFamily = MetricFamily {
                scope: MetricScope::$scope,
                kind: MetricKind::$kind,
                name: $name,
                labels: &[$(MetricLabel { name: stringify!($label), values: &[$($($value),+)?] }),*],
                help: $help,
            };
        )+

        /// All metric families.
        pub const FAMILIES: &[MetricFamily] = &[$($constant),+];
    };
}

families! {
    DURATION: Server Histogram "webhook_duration_seconds" [resource_type, operation]
        "Duration of validating reviews";
    REQUESTS: Server Counter "webhook_requests" [resource_type, operation, result ["allowed" "denied"]]
        "Validating reviews";
    DENIALS: Server Counter "webhook_denials" [resource_type, operation, reason]
        "Denials of validating and mutating reviews";
    MUTATION_DURATION: Server Histogram "webhook_mutation_duration_seconds" [resource_type, operation]
        "Duration of mutating reviews";
    MUTATIONS: Server Counter "webhook_mutations"
        [resource_type, operation, result ["patched" "unchanged" "denied"]]
        "Mutating reviews";
    SKIPS: Server Counter "webhook_skips" [resource_type, operation, reason]
        "Reviews allowed without validation";
    CONVERSION_DURATION: Server Histogram "webhook_conversion_duration_seconds" [resource_type]
        "Duration of conversion reviews";
    CONVERSIONS: Server Counter "webhook_conversions" [resource_type, result ["converted" "failed"]]
        "Conversion reviews";
    CONVERTED_OBJECTS: Server Counter "webhook_converted_objects" [resource_type]
        "Objects converted";
    INCOMPLETE_VIEWS: Server Counter "webhook_incomplete_views" [resource_type]
        "Converted objects that lack something and are labelled as incomplete";
    ERRORS: Server Counter "webhook_errors" [review ["validate" "mutate" "convert" "none"], code]
        "HTTP errors instead of a verdict";
    REQUEST_BYTES: Server Counter "webhook_request_bytes" []
        "Bytes of bodies received";
    BODY_BYTES: Server Gauge "webhook_body_bytes_in_flight" []
        "Bytes of bodies held at the moment";
    REQUESTS_IN_FLIGHT: Server Gauge "webhook_requests_in_flight" []
        "Requests between their head and their response";
    PANICS: Server Counter "webhook_panics" []
        "Panics of handlers";
    SHED: Server Counter "webhook_shed" [limit ["concurrency" "work" "bytes"]]
        "Requests shed for overload";
    CONNECTIONS: Server Gauge "webhook_connections" []
        "Open connections";
    CONNECTIONS_REFUSED: Server Counter "webhook_connections_refused" [port ["webhooks" "health" "metrics"]]
        "Connections closed at once, because every other had a request in flight";
    CONNECTIONS_EVICTED: Server Counter "webhook_connections_evicted" [port ["webhooks" "health" "metrics"]]
        "Connections closed for a new one, while idle or before a complete request";
    HANDSHAKE_FAILURES: Server Counter "webhook_handshake_failures" [reason ["timeout" "tls"]]
        "TLS handshakes that failed";
    CONNECTION_ERRORS: Server Counter "webhook_connection_errors"
        [reason ["idle" "head" "answer" "malformed" "broken"]]
        "Connections that ended with an error; idle, head and answer are timeouts";
    CERTIFICATE_EXPIRY: Cluster Gauge "certificate_expiry_timestamp_seconds" [certificate ["leaf" "ca"]]
        "Expiry of a certificate, in seconds since 1970; absent without a certificate";
    SERVING_SECRET_FAULTS: Cluster Gauge "serving_secret_faults" []
        "Faults of the serving Secret, as readiness and log name them: those of a provided certificate, and 1 while what it holds isn't served";
    INJECTION_TARGETS: Cluster Gauge "ca_injection_targets" [state ["matched" "lacking" "absent"]]
        "Injection targets, those among them whose caBundle lacks the expected CA, and those that are not there";
    INJECTION_REPAIRS: Cluster Counter "ca_injection_repairs" []
        "caBundles restored after someone else had changed them";
    CONFLICTING_CONFIGURATION: Cluster Gauge "rival_configuration" [configuration]
        "1 for each conflicting webhook configuration";
    NAMESPACE_CLAIMS: Cluster Gauge "namespace_claims"
        [namespace, state ["counted" "lease_alone" "expired"]]
        "1 for each namespace with a Lease that claims it; of more than 100 the rest is counted as _other";
    LEASE_UNREADABLE: Cluster Gauge "lease_unreadable" []
        "1 while Leases that claim namespaces, or the webhooks behind them, can't be read";
    ROTATION_PHASE: Cluster Gauge "ca_rotation_phase" [phase ["none" "publish" "switch" "retire"]]
        "1 for the current phase of the CA rotation, 0 for the others";
    LEADER: Cluster Gauge "leader" []
        "1 on the leader, 0 on other replicas";
    CERTIFICATE_READS: CertWatcher Counter "certwatcher_read_certificate" []
        "Serving certificates that were loaded";
    CERTIFICATE_READ_ERRORS: CertWatcher Counter "certwatcher_read_certificate_errors" []
        "Serving certificates that could not be loaded, so that the previous one stayed";
}
