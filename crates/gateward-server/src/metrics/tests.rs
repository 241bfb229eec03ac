use std::time::{Duration, SystemTime};

use gateward_certs::rotation::Phase;
use gateward_core::{FieldPath, Operation};

use super::*;
use crate::metrics::cluster::{InjectionTargetCounts, LeaseAccess, Role};

fn page(metrics: &Metrics) -> String {
    metrics.text(None).1
}

#[test]
fn outside_a_cluster_there_are_no_cluster_metrics() {
    let page = page(&Metrics::new("otter"));
    assert!(!page.contains("otter_leader") && !page.contains("certwatcher"), "{page}");
}

#[test]
fn the_names_begin_with_the_operators_prefixes() {
    let metrics = Metrics::new(MetricPrefixes { server: "otter", cluster: "river" });
    let cluster = ClusterMetrics::of(&metrics);
    let end = SystemTime::UNIX_EPOCH + Duration::from_hours(500_000);
    cluster.serving_certificate_expires(Some(end));
    cluster.ca_expires(Some(end + Duration::from_secs(1)));
    cluster.injection_targets(InjectionTargetCounts { matched: 6, lacking: 1, absent: 2 });
    cluster.serving_secret_faults(2);
    cluster.restored(1);
    cluster.restored(3);
    cluster.rotation(Some(Phase::Switch));
    cluster.role(Role::Leader);
    cluster.lease_unreadable(LeaseAccess::Unreadable);
    cluster.namespace_claims([("team-a", "counted")]);
    cluster.reloaded();
    ClusterMetrics::of(&metrics).reload_failed();
    let page = page(&metrics);
    for line in [
        r#"river_certificate_expiry_timestamp_seconds{certificate="leaf"} 1800000000"#,
        r#"river_certificate_expiry_timestamp_seconds{certificate="ca"} 1800000001"#,
        "river_serving_secret_faults 2",
        r#"river_ca_injection_targets{state="matched"} 6"#,
        r#"river_ca_injection_targets{state="lacking"} 1"#,
        r#"river_ca_injection_targets{state="absent"} 2"#,
        "# TYPE river_ca_injection_repairs_total counter",
        "river_ca_injection_repairs_total 3",
        r#"river_ca_rotation_phase{phase="switch"} 1"#,
        r#"river_ca_rotation_phase{phase="none"} 0"#,
        "river_leader 1",
        "river_lease_unreadable 1",
        r#"river_namespace_claims{namespace="team-a",state="counted"} 1"#,
        "certwatcher_read_certificate_total 1",
        "certwatcher_read_certificate_errors_total 1",
        "otter_webhook_panics_total 0",
    ] {
        assert!(page.lines().any(|shown| shown == line), "{line} in {page}");
    }
}

#[test]
fn removed_series_disappear() {
    let metrics = Metrics::new("otter");
    let cluster = ClusterMetrics::of(&metrics);
    cluster.serving_certificate_expires(Some(SystemTime::now()));
    cluster.serving_certificate_expires(None);
    cluster.conflicting_configurations(["old", "older"]);
    cluster.conflicting_configurations(["old"]);
    let page = page(&metrics);
    assert!(!page.contains("certificate=\"leaf\"") && !page.contains("older"), "{page}");
    assert!(page.contains("otter_rival_configuration{configuration=\"old\"} 1\n"));
}

/// Tenants make namespaces, so they must not make series without bounds.
#[test]
fn namespaces_beyond_a_hundred_are_counted_together() {
    let metrics = Metrics::new("otter");
    let names: Vec<String> = (0..1_000).map(|number| format!("team-{number}")).collect();
    ClusterMetrics::of(&metrics).namespace_claims(names.iter().map(|name| (name.as_str(), "lease_alone")));
    let shown = page(&metrics);
    assert_eq!(shown.matches("otter_namespace_claims{").count(), 101);
    assert!(shown.contains(r#"otter_namespace_claims{namespace="_other",state="lease_alone"} 900"#), "{shown}");
    ClusterMetrics::of(&metrics).namespace_claims([]);
    assert!(!page(&metrics).contains("otter_namespace_claims{"));
}

#[test]
fn only_open_metrics_ends_with_eof() {
    let metrics = Metrics::new("otter");
    ClusterMetrics::of(&metrics).restored(1);
    let (_, newer) = metrics.text(Some("application/openmetrics-text"));
    assert_eq!(newer.matches("# EOF").count(), 1);
    assert!(newer.ends_with("# EOF\n") && newer.contains("otter_ca_injection_repairs_total 1\n"));
    assert!(!page(&metrics).contains("# EOF"));
}

/// Metrics of which each family has a series.
fn exercised() -> Metrics {
    let metrics = Metrics::new("otter");
    let cluster = ClusterMetrics::of(&metrics);
    cluster.ca_expires(Some(SystemTime::now()));
    cluster.injection_targets(InjectionTargetCounts::default());
    cluster.conflicting_configurations(["old"]);
    cluster.namespace_claims([("team-a", "counted")]);
    cluster.rotation(None);
    metrics.handshake_failed(HandshakeFailure::Tls);
    metrics.connection_failed(ConnectionError::Broken);
    metrics.error(None, 404);
    metrics.0.kinds.with("Otter", |kind| {
        let (operation, elapsed) = (Some(Operation::Create), Some(Duration::from_millis(1)));
        kind.validated(operation, &Outcome::Allowed, elapsed);
        kind.mutated(operation, &Outcome::Allowed, elapsed);
        kind.denied(operation, "validation");
        kind.skipped(operation, "terminating");
        kind.converted(&Outcome::Converted { objects: 3, incomplete: 2 }, elapsed);
        kind.converted(&Outcome::NotConverted { index: 0, path: FieldPath::root() }, elapsed);
    });
    metrics
}

#[test]
fn the_table_is_what_is_shown() {
    let page = page(&exercised());
    let shown: Vec<(&str, &str)> = page
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE "))
        .map(|line| line.split_once(' ').unwrap())
        .collect();
    let names: Vec<String> = FAMILIES.iter().map(|family| family.exposed_name("otter")).collect();
    let listed: Vec<(&str, &str)> =
        names.iter().zip(FAMILIES).map(|(name, family)| (name.as_str(), family.kind.as_str())).collect();
    let sorted = |mut families: Vec<_>| {
        families.sort_unstable();
        families
    };
    assert_eq!(sorted(shown), sorted(listed));
}

#[test]
fn a_series_has_the_labels_and_values_of_the_table() {
    let page = page(&exercised());
    let series = page.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('{'));
    let mut seen = 0;
    for (name, rest) in series {
        let name = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
        let family = FAMILIES.iter().find(|family| family.exposed_name("otter") == name).unwrap();
        let labels = rest.split_once('}').unwrap().0.split(',').map(|label| label.split_once('=').unwrap());
        let labels: Vec<_> = labels.filter(|(label, _)| *label != "le").collect();
        let wanted: Vec<_> = family.labels.iter().map(|label| label.name).collect();
        assert_eq!(labels.iter().map(|(label, _)| *label).collect::<Vec<_>>(), wanted, "{name}");
        for (label, (_, value)) in family.labels.iter().zip(labels) {
            let value = value.trim_matches('"');
            assert!(label.values.is_empty() || label.values.contains(&value), "{name}: {value}");
        }
        seen += 1;
    }
    assert!(seen > 20);
}

#[test]
fn converted_objects_that_lack_something_are_counted_by_kind() {
    let page = page(&exercised());
    for line in [
        r#"otter_webhook_converted_objects_total{resource_type="Otter"} 3"#,
        r#"otter_webhook_incomplete_views_total{resource_type="Otter"} 2"#,
        r#"otter_webhook_conversions_total{resource_type="Otter",result="failed"} 1"#,
    ] {
        assert!(page.lines().any(|shown| shown == line), "{line} in {page}");
    }
}

#[test]
fn shed_requests_are_counted_from_zero() {
    let page = page(&Metrics::new("otter"));
    for limit in ["concurrency", "work", "bytes"] {
        assert!(page.contains(&format!("otter_webhook_shed_total{{limit=\"{limit}\"}} 0\n")), "{page}");
    }
}
