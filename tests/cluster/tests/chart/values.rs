//! Every value does something, or the user gets an error.

use std::collections::BTreeSet;
use std::fs;

use cluster_tests::{Bed, Sandbox, Test, tests};
use gateward_lint::yaml;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::charts::{Installation, chart};

pub fn tests() -> Vec<Test> {
    tests![
        the_list_holds_every_value_that_the_schema_describes,
        a_value_with_an_effect_changes_what_is_rendered,
        a_value_without_effect_is_named_in_the_notes,
        a_value_that_another_keeps_from_its_effect_is_named_in_the_notes,
        alerts_without_series_are_named_in_the_notes,
        nothing_is_named_that_was_not_given,
    ]
}

#[derive(Deserialize)]
struct Others {
    here: Vec<Other>,
    nowhere: Vec<Other>,
}

/// Another setting of a value than its default.
#[derive(Deserialize)]
struct Other {
    value: String,
    r#as: Value,
    #[serde(default)]
    with: Option<Value>,
}

fn others() -> Others {
    serde_json::from_value(yaml::read(include_str!("others.yaml")).documents.remove(0).value).unwrap()
}

impl Other {
    /// The installation without it and with it.
    fn before_and_after(&self) -> (Installation, Installation) {
        let before = Installation::of(&self.with.clone().unwrap_or_else(|| json!({})));
        let mut after = before.clone();
        self.set(&mut after);
        (before, after)
    }

    fn set(&self, installation: &mut Installation) {
        let whole = &mut installation.values;
        let root = if self.value.starts_with("global.") { whole } else { &mut whole["dynamo-operator"] };
        let place = self.value.split('.').fold(root, |place, key| &mut place[key]);
        *place = self.r#as.clone();
    }
}

/// The paths of everything that the schema describes.
fn described(paths: &mut BTreeSet<String>, path: &str, schema: &Value) {
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        if property["description"].is_string() {
            paths.insert(path);
        } else {
            described(paths, &path, property);
        }
    }
}

async fn the_list_holds_every_value_that_the_schema_describes(_: Sandbox) {
    let schema = fs::read(chart().join("charts/dynamo-operator/values.schema.json")).unwrap();
    let mut wanted = BTreeSet::new();
    described(&mut wanted, "", &serde_json::from_slice(&schema).unwrap());
    let Others { here, nowhere } = others();
    let listed: BTreeSet<String> = here.into_iter().chain(nowhere).map(|other| other.value).collect();
    assert_eq!(listed, wanted);
}

async fn a_value_with_an_effect_changes_what_is_rendered(sandbox: Sandbox) {
    for other in others().here {
        let (before, after) = other.before_and_after();
        assert_ne!(before.objects(sandbox.bed()), after.objects(sandbox.bed()), "{}", other.value);
    }
}

fn notes(bed: &Bed, installation: Installation, namespace: &str) -> String {
    installation.named("dynamo-platform", namespace).notes(bed).unwrap()
}

async fn a_value_without_effect_is_named_in_the_notes(sandbox: Sandbox) {
    let plain = Installation::of(&json!({}));
    let mut given = plain.clone();
    let nowhere = others().nowhere;
    for other in &nowhere {
        other.set(&mut given);
    }
    assert_eq!(given.objects(sandbox.bed()), plain.objects(sandbox.bed()));
    let said = notes(sandbox.bed(), given, sandbox.namespace());
    for Other { value, .. } in nowhere {
        let whole = if value.starts_with("global.") { value } else { format!("dynamo-operator.{value}") };
        assert!(said.contains(&format!("\n  {whole}: ")), "{whole} is not in\n{said}");
    }
}

async fn a_value_that_another_keeps_from_its_effect_is_named_in_the_notes(sandbox: Sandbox) {
    let given = json!({
        "webhook": {"caBundle": "x", "certManager": {"issuerRef": {"name": "pki"}}},
        "namespaceRestriction": {"namespace": "lake", "targetNamespace": "lake"},
        "networkPolicy": {"apiServerCIDRs": ["10.0.0.0/8"], "nodeCIDRs": ["10.0.0.0/8"], "metricsFrom": [{}]},
        "admissionPolicy": {"namespaceLeases": {"writers": ["otter"]}},
        "prometheusRule": {"labels": {"release": "otter"}},
        "grafanaDashboard": {"annotations": {"grafana_folder": "otter"}},
    });
    let plain = json!({});
    let given = Installation::of(&given);
    assert_eq!(given.objects(sandbox.bed()), Installation::of(&plain).objects(sandbox.bed()));
    let said = notes(sandbox.bed(), given, sandbox.namespace());
    for value in [
        "webhook.caBundle: it is for certificates of cert-manager or of your own",
        "webhook.certManager.issuerRef: cert-manager is not asked unless webhook.certManager.enabled is true",
        "namespaceRestriction.namespace: the whole cluster is served unless",
        "namespaceRestriction.targetNamespace: the whole cluster is served unless",
        "networkPolicy.apiServerCIDRs: there is no NetworkPolicy unless",
        "networkPolicy.nodeCIDRs: there is no NetworkPolicy unless",
        "networkPolicy.metricsFrom: there is no NetworkPolicy unless",
        "admissionPolicy.namespaceLeases.writers: there is no policy unless",
        "prometheusRule.labels: there is no PrometheusRule unless",
        "grafanaDashboard.annotations: there is no dashboard unless",
    ] {
        assert!(said.contains(&format!("\n  dynamo-operator.{value}")), "{value} is not in\n{said}");
    }
}

/// The cluster knows the kind of the alerts, without which Helm would fail, and not that of the `ServiceMonitor`.
async fn alerts_without_series_are_named_in_the_notes(sandbox: Sandbox) {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let version = json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}});
    let rules = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "prometheusrules.monitoring.coreos.com"},
        "spec": {
            "group": "monitoring.coreos.com",
            "names": {"plural": "prometheusrules", "kind": "PrometheusRule"},
            "scope": "Namespaced",
            "versions": [version],
        },
    });
    sandbox.bed().install_crds(&[rules]).await.unwrap();
    for service in [Value::Null, false.into()] {
        let values = json!({"prometheusRule": {"enabled": true}, "metricsService": {"enabled": service}});
        let said = notes(sandbox.bed(), Installation::of(&values), sandbox.namespace());
        let wanted = "\n  dynamo-operator.prometheusRule.enabled: no alert fires without the ServiceMonitor";
        assert!(said.contains(wanted), "{said}");
    }
}

async fn nothing_is_named_that_was_not_given(sandbox: Sandbox) {
    let empty = json!({"natsAddr": "", "dynamo": {}, "webhook": {"caBundle": "", "certManager": {"issuerRef": {}}}});
    for values in [json!({}), empty] {
        let said = notes(sandbox.bed(), Installation::of(&values), sandbox.namespace());
        assert!(!said.contains("no effect"), "{said}");
    }
}
