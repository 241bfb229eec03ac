//! What is measured about certificates, injection and leadership in a cluster.
//!
//! | name | kind | labels |
//! |---|---|---|
//! | `gateward_certificate_expiry_timestamp_seconds` | gauge | `certificate` (`leaf`, `ca`): when it ends, in seconds since 1970; absent while there is none |
//! | `gateward_ca_injection_consumers` | gauge | `state`: those that are chosen for a bundle (`matched`), and those among them that don't carry what they should (`lacking`) |
//! | `gateward_ca_injection_repairs_total` | counter | bundles that were put right after someone else had changed them |
//! | `gateward_rival_configuration` | gauge | `configuration`: 1 for each other set of webhooks for the same kinds |
//! | `gateward_ca_rotation_phase` | gauge | `phase` (`none`, `publish`, `switch`, `retire`): 1 for the present one, 0 for the others |
//! | `gateward_writer` | gauge | 1 on the replica that writes, 0 on those that follow |
//! | `certwatcher_read_certificate_total` | counter | certificates that were taken into use |
//! | `certwatcher_read_certificate_errors_total` | counter | certificates that could not be, so that the one before stayed |
//!
//! The last two are named as the Dynamo Operator has them, which gets them from its library without a prefix. For the
//! others it has no names; they don't depend on the product.

use std::time::SystemTime;

use gateward_certs::rotation::Phase;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::Metrics;

/// A family of gauges with one label of known values.
type Gauges = Family<[(&'static str, &'static str); 1], Gauge>;

/// How a rotation's phase is labelled.
const PHASES: [(Option<Phase>, &str); 4] = [
    (None, "none"),
    (Some(Phase::Publish), "publish"),
    (Some(Phase::Switch), "switch"),
    (Some(Phase::Retire), "retire"),
];

/// The measures of a server in a cluster: see [`Metrics::cluster`]. All clones count together.
#[derive(Debug, Clone)]
pub struct ClusterMetrics {
    metrics: Metrics,
    series: Series,
}

/// What a replica does about what all replicas share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It holds the lease and writes.
    Writer,
    /// It reads what another writes.
    Follower,
}

/// How many carry a bundle.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Consumers {
    /// Those that were chosen to carry one.
    pub matched: usize,
    /// Those among them that don't carry what they should.
    pub lacking: usize,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Series {
    expiry: Gauges,
    consumers: Gauges,
    repairs: Counter,
    rivals: Family<[(&'static str, String); 1], Gauge>,
    phase: Gauges,
    writer: Gauge,
    reloads: Counter,
    reload_errors: Counter,
}

impl ClusterMetrics {
    pub(super) fn of(metrics: Metrics, series: Series) -> Self {
        Self { metrics, series }
    }

    /// When the server's certificate ends; `None` while there is none.
    pub fn leaf_expires(&self, end: Option<SystemTime>) {
        self.series.expires("leaf", end);
    }

    /// When the authority ends; `None` while there is none.
    pub fn authority_expires(&self, end: Option<SystemTime>) {
        self.series.expires("ca", end);
    }

    /// How many carry a bundle.
    pub fn consumers(&self, consumers: Consumers) {
        let set = |state, count| self.series.consumers.get_or_create(&[("state", state)]).set(whole(count));
        set("matched", consumers.matched);
        set("lacking", consumers.lacking);
    }

    /// How many bundles this replica has put right since it started.
    pub fn repaired(&self, total: u64) {
        self.series.repairs.inc_by(total.saturating_sub(self.series.repairs.get()));
    }

    /// The names of all other configurations for the same kinds, in place of those that were named before.
    pub fn rivals<'a>(&self, configurations: impl IntoIterator<Item = &'a str>) {
        // No scraper sees some of them.
        let _page = self.metrics.page_lock();
        self.series.rivals.clear();
        for name in configurations {
            self.series.rivals.get_or_create(&[("configuration", name.to_owned())]).set(1);
        }
    }

    /// How far the exchange of authorities has come; `None` while none is under way.
    pub fn rotation(&self, phase: Option<Phase>) {
        let _page = self.metrics.page_lock();
        for (each, label) in PHASES {
            self.series.phase.get_or_create(&[("phase", label)]).set((each == phase).into());
        }
    }

    /// What this replica does.
    pub fn role(&self, role: Role) {
        self.series.writer.set((role == Role::Writer).into());
    }

    /// A certificate was taken into use.
    pub fn reloaded(&self) {
        self.series.reloads.inc();
    }

    /// A certificate could not be taken into use.
    pub fn reload_failed(&self) {
        self.series.reload_errors.inc();
    }
}

impl Series {
    pub(super) fn registered_in(registry: &mut Registry) -> Self {
        let series = Self::default();
        let of = series.clone();
        registry.register(
            "gateward_certificate_expiry_timestamp_seconds",
            "When a certificate ends, in seconds since 1970",
            of.expiry,
        );
        registry.register("gateward_ca_injection_consumers", "Those that are to carry a bundle", of.consumers);
        registry.register("gateward_ca_injection_repairs", "Bundles that were put right", of.repairs);
        registry.register("gateward_rival_configuration", "Other webhooks for the same kinds", of.rivals);
        registry.register("gateward_ca_rotation_phase", "1 for the present phase", of.phase);
        registry.register("gateward_writer", "1 on the replica that writes", of.writer);
        registry.register("certwatcher_read_certificate", "Certificates taken into use", of.reloads);
        registry.register(
            "certwatcher_read_certificate_errors",
            "Certificates that could not be taken into use",
            of.reload_errors,
        );
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn page(metrics: &Metrics) -> String {
        metrics.text(None).1
    }

    #[test]
    fn a_server_outside_a_cluster_shows_nothing_of_it() {
        assert!(!page(&Metrics::new("otter")).contains("gateward_"));
    }

    #[test]
    fn names_do_not_depend_on_the_product_and_are_those_that_are_promised() {
        let metrics = Metrics::new("otter");
        let cluster = metrics.cluster();
        let end = SystemTime::UNIX_EPOCH + Duration::from_hours(500_000);
        cluster.leaf_expires(Some(end));
        cluster.authority_expires(Some(end + Duration::from_secs(1)));
        cluster.consumers(Consumers { matched: 6, lacking: 1 });
        cluster.repaired(1);
        cluster.repaired(3);
        cluster.rotation(Some(Phase::Switch));
        cluster.role(Role::Writer);
        cluster.reloaded();
        metrics.cluster().reload_failed();
        let page = page(&metrics);
        for line in [
            r#"gateward_certificate_expiry_timestamp_seconds{certificate="leaf"} 1800000000"#,
            r#"gateward_certificate_expiry_timestamp_seconds{certificate="ca"} 1800000001"#,
            r#"gateward_ca_injection_consumers{state="matched"} 6"#,
            r#"gateward_ca_injection_consumers{state="lacking"} 1"#,
            "# TYPE gateward_ca_injection_repairs_total counter",
            "gateward_ca_injection_repairs_total 3",
            r#"gateward_ca_rotation_phase{phase="switch"} 1"#,
            r#"gateward_ca_rotation_phase{phase="none"} 0"#,
            "gateward_writer 1",
            "certwatcher_read_certificate_total 1",
            "certwatcher_read_certificate_errors_total 1",
            "otter_webhook_panics_total 0",
        ] {
            assert!(page.lines().any(|shown| shown == line), "{line} in {page}");
        }
    }

    #[test]
    fn what_is_not_there_any_more_is_not_shown_any_more() {
        let metrics = Metrics::new("otter");
        let cluster = metrics.cluster();
        cluster.leaf_expires(Some(SystemTime::now()));
        cluster.leaf_expires(None);
        cluster.rivals(["old", "older"]);
        cluster.rivals(["old"]);
        let page = page(&metrics);
        assert!(!page.contains("certificate=\"leaf\"") && !page.contains("older"), "{page}");
        assert!(page.contains("gateward_rival_configuration{configuration=\"old\"} 1\n"));
    }

    #[test]
    fn both_formats_end_as_they_should() {
        let metrics = Metrics::new("otter");
        metrics.cluster().repaired(1);
        let (_, newer) = metrics.text(Some("application/openmetrics-text"));
        assert_eq!(newer.matches("# EOF").count(), 1);
        assert!(newer.ends_with("# EOF\n") && newer.contains("gateward_ca_injection_repairs_total 1\n"));
        assert!(!page(&metrics).contains("# EOF"));
    }
}
