//! The metrics of certificates, injection and leader election in a cluster.
//!
//! The two of the certificate watcher have the names of controller-runtime, without a prefix, as in the Dynamo Operator.

use std::time::SystemTime;

use gateward_certs::rotation::Phase;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;

use super::families;
use super::registries::{Registries, SharedRegistries};

/// The most namespaces with a series of their own: tenants make namespaces.
const MOST_NAMESPACES: usize = 100;

/// The label of further namespaces. No namespace has this name.
const OTHER_NAMESPACES: &str = "_other";

/// A family of gauges with one label of known values.
type Gauges = Family<[(&'static str, &'static str); 1], Gauge>;

/// The label of each phase of a CA rotation.
const PHASES: [(Option<Phase>, &str); 4] = [
    (None, "none"),
    (Some(Phase::Publish), "publish"),
    (Some(Phase::Switch), "switch"),
    (Some(Phase::Retire), "retire"),
];

/// The metrics of a server in a cluster: see [`ClusterMetrics::of`]. Clones share them.
#[derive(Debug, Clone)]
pub struct ClusterMetrics {
    registries: SharedRegistries,
    series: Series,
}

/// The role of a replica in leader election.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It holds the lease and writes Secrets and caBundles.
    Leader,
    /// It reads what the leader writes.
    Follower,
}

/// Whether leases that claim namespaces, and the webhooks behind them, can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseAccess {
    /// They can.
    Readable,
    /// They can't.
    Unreadable,
}

/// How many injection targets there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InjectionTargetCounts {
    /// All injection targets.
    pub matched: usize,
    /// Those whose `caBundle` lacks the expected CA.
    pub lacking: usize,
    /// Those that are expected beside them, and aren't there.
    pub absent: usize,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Series {
    expiry: Gauges,
    secret_faults: Gauge,
    injection_targets: Gauges,
    restored: Counter,
    conflicting: Family<[(&'static str, String); 1], Gauge>,
    claims: Family<[(&'static str, String); 2], Gauge>,
    lease_unreadable: Gauge,
    phase: Gauges,
    leader: Gauge,
    reloads: Counter,
    reload_errors: Counter,
}

impl ClusterMetrics {
    pub(super) fn registered(registries: SharedRegistries, series: Series) -> Self {
        Self { registries, series }
    }

    /// The expiry of the serving certificate; `None` while there is none.
    pub fn serving_certificate_expires(&self, end: Option<SystemTime>) {
        self.series.expires("leaf", end);
    }

    /// The expiry of the CA; `None` while there is none.
    pub fn ca_expires(&self, end: Option<SystemTime>) {
        self.series.expires("ca", end);
    }

    /// How many faults the serving Secret has.
    pub fn serving_secret_faults(&self, count: usize) {
        self.series.secret_faults.set(whole(count));
    }

    /// How many injection targets there are.
    pub fn injection_targets(&self, counts: InjectionTargetCounts) {
        let set = |state, count| self.series.injection_targets.get_or_create(&[("state", state)]).set(whole(count));
        set("matched", counts.matched);
        set("lacking", counts.lacking);
        set("absent", counts.absent);
    }

    /// How many `caBundle`s this replica has restored since it started.
    pub fn restored(&self, total: u64) {
        self.series.restored.inc_by(total.saturating_sub(self.series.restored.get()));
    }

    /// The names of all conflicting webhook configurations; they replace the previous ones.
    pub fn conflicting_configurations<'a>(&self, configurations: impl IntoIterator<Item = &'a str>) {
        // A scrape sees all of them or none.
        let _registries = self.registries.lock();
        self.series.conflicting.clear();
        for name in configurations {
            self.series.conflicting.get_or_create(&[("configuration", name.to_owned())]).set(1);
        }
    }

    /// The state of the claim on each namespace with a lease; they replace the previous ones.
    pub fn namespace_claims<'a>(&self, claims: impl IntoIterator<Item = (&'a str, &'static str)>) {
        let _registries = self.registries.lock();
        self.series.claims.clear();
        for (position, (namespace, state)) in claims.into_iter().enumerate() {
            let namespace = if position < MOST_NAMESPACES { namespace } else { OTHER_NAMESPACES };
            let labels = [("namespace", namespace.to_owned()), ("state", state.to_owned())];
            self.series.claims.get_or_create(&labels).inc();
        }
    }

    /// Whether leases that claim namespaces can't be read.
    pub fn lease_unreadable(&self, access: LeaseAccess) {
        self.series.lease_unreadable.set((access == LeaseAccess::Unreadable).into());
    }

    /// The phase of the CA rotation; `None` while there is none.
    pub fn rotation(&self, phase: Option<Phase>) {
        let _registries = self.registries.lock();
        for (each, label) in PHASES {
            self.series.phase.get_or_create(&[("phase", label)]).set((each == phase).into());
        }
    }

    /// The role of this replica.
    pub fn role(&self, role: Role) {
        self.series.leader.set((role == Role::Leader).into());
    }

    /// A serving certificate was loaded.
    pub fn reloaded(&self) {
        self.series.reloads.inc();
    }

    /// A serving certificate could not be loaded.
    pub fn reload_failed(&self) {
        self.series.reload_errors.inc();
    }
}

impl Series {
    pub(super) fn registered_in(registries: &mut Registries) -> Self {
        let series = Self::default();
        let (of, registry) = (series.clone(), &mut registries.cluster);
        families::CERTIFICATE_EXPIRY.register(registry, of.expiry);
        families::SERVING_SECRET_FAULTS.register(registry, of.secret_faults);
        families::INJECTION_TARGETS.register(registry, of.injection_targets);
        families::INJECTION_REPAIRS.register(registry, of.restored);
        families::CONFLICTING_CONFIGURATION.register(registry, of.conflicting);
        families::NAMESPACE_CLAIMS.register(registry, of.claims);
        families::LEASE_UNREADABLE.register(registry, of.lease_unreadable);
        families::ROTATION_PHASE.register(registry, of.phase);
        families::LEADER.register(registry, of.leader);
        families::CERTIFICATE_READS.register(&mut registries.cert_watcher, of.reloads);
        families::CERTIFICATE_READ_ERRORS.register(&mut registries.cert_watcher, of.reload_errors);
        series
    }

    fn expires(&self, certificate: &'static str, end: Option<SystemTime>) {
        let labels = [("certificate", certificate)];
        match end {
            Some(end) => drop(self.expiry.get_or_create(&labels).set(seconds(end))),
            None => drop(self.expiry.remove(&labels)),
        }
    }
}

fn seconds(moment: SystemTime) -> i64 {
    let since = moment.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

fn whole(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
