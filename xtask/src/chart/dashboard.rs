//! The Grafana dashboard: a panel for each metric family.

use dynamo_webhooks::names::METRICS_PREFIX;
use gateward_server::metrics::{FAMILIES, MetricFamily, MetricKind, MetricScope};
use serde_json::{Value, json};

use super::metrics::METRIC_PREFIXES;

/// What is chosen at the head of the dashboard.
const SELECTED: &str = r#"namespace=~"$namespace",job=~"$job""#;
/// The same of series whose `namespace` isn't that of the release.
const SELECTED_BY_JOB: &str = r#"job=~"$job""#;

/// Width and height of a panel; a row has room for 24.
const PANEL: (usize, usize) = (8, 8);

/// The rows, and what stands in them.
const ROWS: [(&str, &[MetricScope]); 2] = [
    ("Reviews and connections", &[MetricScope::Server]),
    ("Certificates and leader", &[MetricScope::Cluster, MetricScope::CertWatcher]),
];

/// The dashboard as Grafana imports it.
pub fn dashboard() -> anyhow::Result<String> {
    let dashboard = json!({
        "uid": "gateward-webhooks",
        "title": "Dynamo Operator / webhooks",
        "tags": ["gateward", "webhooks"],
        "schemaVersion": 39,
        "editable": true,
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "templating": {"list": [source(), variable("namespace"), variable("job")]},
        "panels": panels(),
    });
    Ok(serde_json::to_string_pretty(&dashboard)? + "\n")
}

fn source() -> Value {
    json!({"name": "datasource", "type": "datasource", "query": "prometheus"})
}

/// A variable with the values of a label, for all of them unless one is chosen.
fn variable(label: &str) -> Value {
    let query = format!("label_values({METRICS_PREFIX}_webhook_connections, {label})");
    json!({
        "name": label,
        "type": "query",
        "datasource": {"type": "prometheus", "uid": "${datasource}"},
        "query": {"query": query, "refId": "values"},
        "definition": query,
        "includeAll": true,
        "multi": true,
        "current": {"text": "All", "value": "$__all"},
        "refresh": 2,
    })
}

fn panels() -> Vec<Value> {
    let (width, height) = PANEL;
    let (mut panels, mut top) = (Vec::new(), 0);
    for (title, scopes) in ROWS {
        let place = json!({"x": 0, "y": top, "w": 24, "h": 1});
        panels
            .push(json!({"id": panels.len() + 1, "type": "row", "title": title, "collapsed": false, "gridPos": place}));
        top += 1;
        let families: Vec<_> = FAMILIES.iter().filter(|family| scopes.contains(&family.scope)).collect();
        for (number, family) in families.iter().enumerate() {
            let (row, column) = (number / (24 / width), number % (24 / width));
            let place = json!({"x": column * width, "y": top + row * height, "w": width, "h": height});
            panels.push(panel(panels.len() + 1, family, &place));
        }
        top += families.len().div_ceil(24 / width) * height;
    }
    panels
}

fn panel(id: usize, family: &MetricFamily, place: &Value) -> Value {
    let name = family.exposed_name(METRIC_PREFIXES);
    let targets = queries(family, &name)
        .into_iter()
        .enumerate()
        .map(|(number, (expr, legend))| json!({"refId": format!("Q{number}"), "expr": expr, "legendFormat": legend}));
    json!({
        "id": id,
        "type": "timeseries",
        "title": family.help,
        "description": name,
        "datasource": {"type": "prometheus", "uid": "${datasource}"},
        "gridPos": place,
        "fieldConfig": {"defaults": {"unit": unit(family, &name), "min": 0}, "overrides": []},
        "targets": targets.collect::<Vec<_>>(),
    })
}

/// The queries of a panel, and how each is named in the legend.
fn queries(family: &MetricFamily, name: &str) -> Vec<(String, String)> {
    let labels: Vec<&str> = family.labels.iter().map(|label| label.name).collect();
    let selected = if labels.contains(&"namespace") { SELECTED_BY_JOB } else { SELECTED };
    let legend: Vec<String> = labels.iter().map(|label| format!("{{{{{label}}}}}")).collect();
    let legend = legend.join(" ");
    let of_all =
        |labels: &[&str]| if labels.is_empty() { String::new() } else { format!(" by ({})", labels.join(", ")) };
    match family.kind {
        MetricKind::Counter => {
            vec![(format!("sum{} (rate({name}{{{selected}}}[$__rate_interval]))", of_all(&labels)), legend)]
        }
        MetricKind::Gauge if name.ends_with("_timestamp_seconds") => {
            vec![(format!("min{} ({name}{{{selected}}}) - time()", of_all(&labels)), legend)]
        }
        // Replicas say the same of a cluster, and each something of itself.
        MetricKind::Gauge => {
            let over = if family.scope == MetricScope::Cluster { "max" } else { "sum" };
            vec![(format!("{over}{} ({name}{{{selected}}})", of_all(&labels)), legend)]
        }
        MetricKind::Histogram => {
            let buckets = of_all(&[&labels[..], &["le"]].concat());
            let rate = format!("sum{buckets} (rate({name}_bucket{{{selected}}}[$__rate_interval]))");
            let quantile = |share: &str| (format!("histogram_quantile({share}, {rate})"), format!("{share} {legend}"));
            vec![quantile("0.5"), quantile("0.99")]
        }
    }
}

fn unit(family: &MetricFamily, name: &str) -> &'static str {
    match family.kind {
        MetricKind::Counter if name.contains("_bytes") => "Bps",
        MetricKind::Counter => "ops",
        MetricKind::Gauge | MetricKind::Histogram if name.ends_with("_seconds") => "s",
        MetricKind::Gauge if name.contains("_bytes") => "bytes",
        MetricKind::Gauge | MetricKind::Histogram => "short",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_family_has_a_panel_and_no_two_overlap() {
        let panels = panels();
        let shown: BTreeSet<&str> = panels.iter().filter_map(|panel| panel["description"].as_str()).collect();
        let names: Vec<String> = FAMILIES.iter().map(|family| family.exposed_name(METRIC_PREFIXES)).collect();
        assert_eq!(shown, names.iter().map(String::as_str).collect());
        let mut taken = BTreeSet::new();
        for panel in &panels {
            let side = |name: &str| panel["gridPos"][name].as_u64().unwrap();
            for x in side("x")..side("x") + side("w") {
                for y in side("y")..side("y") + side("h") {
                    assert!(x < 24 && taken.insert((x, y)), "{}", panel["title"]);
                }
            }
        }
    }

    #[test]
    fn a_query_fits_the_kind_of_its_metric() {
        let query = |name: &str| {
            let family = FAMILIES.iter().find(|family| family.exposed_name(METRIC_PREFIXES) == name).unwrap();
            queries(family, name).remove(0).0
        };
        let selected = SELECTED;
        assert_eq!(
            query("dynamo_operator_webhook_duration_seconds"),
            format!(
                "histogram_quantile(0.5, sum by (resource_type, operation, le) \
                 (rate(dynamo_operator_webhook_duration_seconds_bucket{{{selected}}}[$__rate_interval])))"
            )
        );
        assert_eq!(
            query("dynamo_operator_webhook_panics_total"),
            format!("sum (rate(dynamo_operator_webhook_panics_total{{{selected}}}[$__rate_interval]))")
        );
        assert_eq!(query("gateward_leader"), format!("max (gateward_leader{{{selected}}})"));
        assert!(query("gateward_certificate_expiry_timestamp_seconds").ends_with(" - time()"));
        let of_a_namespace =
            FAMILIES.iter().filter(|family| family.labels.iter().any(|label| label.name == "namespace"));
        let queries: Vec<_> = of_a_namespace.map(|family| query(&family.exposed_name(METRIC_PREFIXES))).collect();
        assert!(!queries.is_empty() && queries.iter().all(|query| query.contains("{job=~")), "{queries:?}");
    }
}
