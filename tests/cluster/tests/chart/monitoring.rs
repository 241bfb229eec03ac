//! The alerts fire when they should, as Prometheus itself evaluates them, and the dashboard is found.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::Stdio;

use cluster_tests::{Sandbox, Test, tests};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::charts::{Installation, of_kind, the};

pub fn tests() -> Vec<Test> {
    tests![
        alerts_and_dashboard_are_rendered_on_request_alone,
        each_alert_fires_when_it_should,
        each_alert_is_silent_when_it_should_be,
        alerts_are_about_their_own_release,
        the_dashboard_is_found_by_the_label_of_the_sidecar,
    ]
}

/// The labels of the usual release's series.
const OURS: &str = "namespace='dynamo-system',job='dynamo-platform-dynamo-operator-metrics-service',pod='a'";

/// Series of a minute each, and the alerts at one moment.
struct Case {
    /// What the release lives through.
    about: &'static str,
    /// Metric, further labels, and values.
    series: &'static [(&'static str, &'static str, &'static str)],
    at: &'static str,
    /// The alert of it; empty for none.
    alert: &'static str,
}

const fn case(
    alert: &'static str,
    about: &'static str,
    at: &'static str,
    series: &'static [(&'static str, &'static str, &'static str)],
) -> Case {
    Case { about, series, at, alert }
}

const LEADER: &str = "gateward_leader";
/// A replica leads in each case that says nothing of it.
const LEADING: (&str, &str, &str) = (LEADER, "", "1x60");
const EXPIRY: &str = "gateward_certificate_expiry_timestamp_seconds";
const TARGETS: &str = "gateward_ca_injection_targets";
const PHASE: &str = "gateward_ca_rotation_phase";
const ERRORS: &str = "dynamo_operator_webhook_errors_total";
const SHED: &str = "dynamo_operator_webhook_shed_total";
const INCOMPLETE: &str = "dynamo_operator_webhook_incomplete_views_total";
const CONFLICTING: &str = "gateward_rival_configuration";

/// The clock begins at 0.
const FIRING: [Case; 13] = [
    case("GatewardCertificateExpiring", "six days are left", "20m", &[(EXPIRY, "certificate='leaf'", "518400x30")]),
    case("GatewardCertificateExpiring", "the CA has ended", "20m", &[(EXPIRY, "certificate='ca'", "0x30")]),
    case(
        "GatewardInjectionTargetLacksCA",
        "one target of six is not written",
        "20m",
        &[(TARGETS, "state='matched'", "6x30"), (TARGETS, "state='lacking'", "0x5 1x30")],
    ),
    case(
        "GatewardNoInjectionTarget",
        "the configurations were deleted",
        "20m",
        &[(TARGETS, "state='matched'", "6x3 0x30")],
    ),
    case(
        "GatewardNoInjectionTarget",
        "one of the configurations was deleted",
        "20m",
        &[(TARGETS, "state='matched'", "6x3 5x30"), (TARGETS, "state='absent'", "0x3 1x30")],
    ),
    case(
        "GatewardRotationStuck",
        "a rotation stops in its second phase",
        "35m",
        &[(PHASE, "phase='publish'", "1x10 0x60"), (PHASE, "phase='switch'", "0x10 1x60")],
    ),
    case("GatewardNoLeader", "no replica leads", "10m", &[(LEADER, "", "0x20")]),
    case("GatewardNoLeader", "no replica is there any more", "20m", &[(LEADER, "", "1x5 _x30")]),
    case("GatewardReviewsShed", "large bodies are refused", "10m", &[(SHED, "limit='work'", "0+3x20")]),
    case(
        "GatewardReviewsFailed",
        "a handler panics again and again",
        "10m",
        &[(ERRORS, "review='validate',code='500'", "0+1x20")],
    ),
    case(
        "GatewardConflictingConfiguration",
        "another operator is there",
        "20m",
        &[(CONFLICTING, "configuration='ValidatingWebhookConfiguration other'", "1x30")],
    ),
    case(
        "GatewardIncompleteViews",
        "a view lacks something",
        "5m",
        &[(INCOMPLETE, "resource_type='DynamoGraphDeployment'", "0x2 1x30")],
    ),
    case("GatewardLeasesUnreadable", "the leases are forbidden", "10m", &[("gateward_lease_unreadable", "", "1x20")]),
];

const SILENT: [Case; 11] = [
    case("", "eight days are left", "20m", &[(EXPIRY, "certificate='leaf'", "691200x30")]),
    case("", "a target is written after five minutes", "5m", &[(TARGETS, "state='lacking'", "1x5 0x30")]),
    case(
        "",
        "all targets are written",
        "30m",
        &[
            (TARGETS, "state='matched'", "6x40"),
            (TARGETS, "state='lacking'", "0x40"),
            (TARGETS, "state='absent'", "0x40"),
        ],
    ),
    case(
        "",
        "a rotation ends within ten minutes",
        "10m",
        &[
            (PHASE, "phase='none'", "0x10 1x60"),
            (PHASE, "phase='publish'", "1x5 0x60"),
            (PHASE, "phase='retire'", "0x5 1x5 0x60"),
        ],
    ),
    case(
        "",
        "the lead changes hands",
        "12m",
        &[(LEADER, "replica='1'", "1x10 0x20"), (LEADER, "replica='2'", "0x12 1x20")],
    ),
    case("", "a crowd of an hour ago", "20m", &[(SHED, "limit='work'", "7x30")]),
    case("", "a single minute of overload", "8m", &[(SHED, "limit='work'", "0x2 5x30")]),
    case(
        "",
        "clients send nonsense",
        "20m",
        &[(ERRORS, "review='validate',code='400'", "0+9x30"), (ERRORS, "review='none',code='404'", "0+9x30")],
    ),
    case("", "another operator leaves at once", "4m", &[(CONFLICTING, "configuration='other'", "1x3 _x30")]),
    case("", "no view lacks anything", "20m", &[(INCOMPLETE, "resource_type='DynamoModel'", "4x30")]),
    case("", "leases are read", "20m", &[("gateward_lease_unreadable", "", "0x30")]),
];

/// An alert that fires.
#[derive(Debug, Deserialize)]
struct Alert {
    labels: BTreeMap<String, String>,
    annotations: BTreeMap<String, String>,
}

impl Alert {
    fn name(&self) -> &str {
        &self.labels["alertname"]
    }
}

fn monitored() -> Installation {
    Installation::of(&json!({"prometheusRule": {"enabled": true}, "grafanaDashboard": {"enabled": true}}))
}

/// The alerts that Prometheus fires in each case, by the rules of the usual release.
fn fired(sandbox: &Sandbox, cases: &[Case], labels: &str) -> Vec<Vec<Alert>> {
    let bed = sandbox.bed();
    let rules = bed.folder().join(format!("alerts-{}.json", sandbox.namespace()));
    let rule = the(&monitored().objects(bed), "PrometheusRule")["spec"].to_string();
    std::fs::write(&rules, rule).unwrap();
    let tests: Vec<Value> = cases
        .iter()
        .map(|case| {
            let leading = case.series.iter().all(|(metric, ..)| *metric != LEADER).then_some(&LEADING);
            let series = case.series.iter().chain(leading).map(|(metric, further, values)| {
                let further = if further.is_empty() { String::new() } else { format!(",{further}") };
                (format!("{metric}{{{labels}{further}}}"), Value::from(*values))
            });
            json!({"series": series.collect::<serde_json::Map<_, _>>(), "at": [case.at]})
        })
        .collect();
    let mut program = bed.programs().control_plane("prometheus-alerts");
    let mut running = program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let input = json!({"rules": rules, "tests": tests}).to_string();
    running.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = running.wait_with_output().unwrap();
    assert!(output.status.success());
    let moments: Vec<Vec<Vec<Alert>>> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(moments.len(), cases.len());
    moments.into_iter().map(|mut moments| moments.remove(0)).collect()
}

async fn alerts_and_dashboard_are_rendered_on_request_alone(sandbox: Sandbox) {
    let bed = sandbox.bed();
    let usual = Installation::of(&json!({})).objects(bed);
    assert!(of_kind(&usual, "PrometheusRule").is_empty());
    let labels = json!({"release": "kube-prometheus-stack", "app.kubernetes.io/name": "another"});
    let objects = Installation::of(&json!({"prometheusRule": {"enabled": true, "labels": labels}})).objects(bed);
    let rule = &the(&objects, "PrometheusRule")["metadata"];
    assert_eq!(
        (&rule["name"], &rule["namespace"]),
        (&json!("dynamo-platform-dynamo-operator"), &json!("dynamo-system"))
    );
    assert_eq!(rule["labels"]["release"], "kube-prometheus-stack");
    assert_eq!(rule["labels"]["app.kubernetes.io/name"], "dynamo-operator");
    assert_eq!(of_kind(&objects, "ConfigMap").len(), of_kind(&usual, "ConfigMap").len());
}

async fn each_alert_fires_when_it_should(sandbox: Sandbox) {
    let objects = monitored().objects(sandbox.bed());
    let rules = the(&objects, "PrometheusRule")["spec"]["groups"][0]["rules"].as_array().unwrap();
    for (case, alerts) in FIRING.iter().zip(fired(&sandbox, &FIRING, OURS)) {
        let names: Vec<&str> = alerts.iter().map(Alert::name).collect();
        assert_eq!(names, [case.alert], "{}", case.about);
        let Alert { labels, annotations } = &alerts[0];
        assert_eq!(labels["namespace"], "dynamo-system");
        assert!(["warning", "critical"].contains(&labels["severity"].as_str()));
        assert!(annotations["runbook_url"].ends_with(&format!("#{}", case.alert.to_lowercase())));
        for text in ["summary", "description"].map(|text| &annotations[text]) {
            assert!(!text.contains("{{") && !text.contains("<error") && !text.contains("<no value>"), "{text}");
        }
    }
    let untested = rules.iter().filter(|rule| FIRING.iter().all(|case| rule["alert"] != case.alert));
    assert_eq!(untested.count(), 0);
}

async fn each_alert_is_silent_when_it_should_be(sandbox: Sandbox) {
    for (case, alerts) in SILENT.iter().zip(fired(&sandbox, &SILENT, OURS)) {
        assert!(alerts.is_empty(), "{}: {alerts:?}", case.about);
    }
}

async fn alerts_are_about_their_own_release(sandbox: Sandbox) {
    let others = "namespace='zoo',job='dynamo-platform-dynamo-operator-metrics-service'";
    for (case, alerts) in FIRING.iter().zip(fired(&sandbox, &FIRING, others)) {
        // Of their own release there is nothing at all.
        let names: BTreeSet<&str> = alerts.iter().map(Alert::name).filter(|name| *name != "GatewardNoLeader").collect();
        assert!(names.is_empty(), "{}: {alerts:?}", case.about);
    }
}

async fn the_dashboard_is_found_by_the_label_of_the_sidecar(sandbox: Sandbox) {
    let dashboard = |values: Value| {
        let objects = Installation::of(&json!({"grafanaDashboard": values})).objects(sandbox.bed());
        let maps = of_kind(&objects, "ConfigMap");
        maps.into_iter().find(|map| map["metadata"]["name"].as_str().unwrap().ends_with("-dashboard")).cloned()
    };
    assert_eq!(dashboard(json!({})), None);
    let usual = dashboard(json!({"enabled": true})).unwrap();
    assert_eq!(usual["metadata"]["name"], "dynamo-platform-dynamo-operator-dashboard");
    assert_eq!(usual["metadata"]["labels"]["grafana_dashboard"], "1");
    assert_eq!(usual["metadata"]["annotations"], Value::Null);
    let shown: Value = serde_json::from_str(usual["data"]["gateward-webhooks.json"].as_str().unwrap()).unwrap();
    assert!(shown["panels"].as_array().unwrap().len() > 25);
    let labels = json!({"grafana_dashboard": null, "team": "otters"});
    let given = json!({"enabled": true, "labels": labels, "annotations": {"grafana_folder": "Operators"}});
    let given = &dashboard(given).unwrap()["metadata"];
    assert_eq!((&given["labels"]["grafana_dashboard"], &given["labels"]["team"]), (&Value::Null, &json!("otters")));
    assert_eq!(given["annotations"], json!({"grafana_folder": "Operators"}));
}
