//! What `bundle lint` says of a CSV or of the files of a bundle.

use gateward::check::bundle::{self, BundleFile, BundleReport, Judge};
use gateward::check::{Diagnostic, RefusedBy};
use serde_json::{Value, json};

use super::{Case, Outcome, holds_all, same};

/// The prefix of the annotations.
const PREFIX: &str = "operators.operatorframework.io.bundle";

/// The judges of a CSV, by their names in the cases. Of the validators the cases ask that of the CSV alone.
const JUDGES: [(&str, Judge, Option<&str>); 3] = [
    ("olm_v0", Judge::OlmV0, None),
    ("olm_v1", Judge::OlmV1, None),
    ("static_validator", Judge::Validators, Some("csv")),
];

/// The parts of a bundle that differ from case to case.
struct Parts {
    modes: Value,
    owned: Value,
    deployments: Vec<String>,
    descriptions: Value,
    crds: Vec<Value>,
    annotations: Value,
    further: Option<Value>,
}

impl Default for Parts {
    fn default() -> Self {
        Self {
            modes: json!([{"type": "AllNamespaces", "supported": true}]),
            owned: json!([]),
            deployments: vec!["dep".to_owned()],
            descriptions: json!([]),
            crds: Vec::new(),
            annotations: annotations(),
            further: None,
        }
    }
}

fn annotations() -> Value {
    let mut annotations = json!({});
    let values = [
        ("mediatype.v1", "registry+v1"),
        ("manifests.v1", "manifests/"),
        ("metadata.v1", "metadata/"),
        ("package.v1", "otter"),
        ("channels.v1", "stable"),
        ("channel.default.v1", "stable"),
    ];
    for (key, value) in values {
        annotations[format!("{PREFIX}.{key}")] = json!(value);
    }
    annotations
}

impl Parts {
    fn lint(&self) -> BundleReport {
        let spec = json!({"selector": {}, "template": {"spec": {"containers": []}}});
        let deployments: Vec<Value> = self.deployments.iter().map(|name| json!({"name": name, "spec": spec})).collect();
        let csv = json!({
            "apiVersion": "operators.coreos.com/v1alpha1",
            "kind": "ClusterServiceVersion",
            "metadata": {"name": "otter.v1.2.3"},
            "spec": {
                "displayName": "Otter",
                "version": "1.2.3",
                "installModes": self.modes,
                "customresourcedefinitions": {"owned": self.owned},
                "install": {"strategy": "deployment", "spec": {"deployments": deployments}},
                "webhookdefinitions": self.descriptions,
            },
        });
        let file = |path: String, value: &Value| BundleFile { path, bytes: value.to_string().into_bytes() };
        let manifests = self.crds.iter().chain(&self.further).chain([&csv]).enumerate();
        let mut files: Vec<BundleFile> =
            manifests.map(|(number, value)| file(format!("manifests/{number}.yaml"), value)).collect();
        files.push(file("metadata/annotations.yaml".to_owned(), &json!({"annotations": self.annotations})));
        bundle::lint(&files, &[]).unwrap()
    }
}

/// A CRD, with some fields of the case.
fn crd([name, version, kind]: [&str; 3], fields: &Value) -> Value {
    let (plural, group) = name.split_once('.').unwrap();
    let mut crd = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": name},
        "spec": {
            "group": group,
            "names": {"kind": kind, "plural": plural},
            "scope": "Namespaced",
            "versions": [{"name": version, "served": true, "storage": true}],
        },
    });
    take(&mut crd["spec"], fields);
    crd
}

fn take(object: &mut Value, fields: &Value) {
    for (key, value) in fields.as_object().into_iter().flatten() {
        object[key] = value.clone();
    }
}

/// A CSV against all who judge it.
pub fn judge_csv(case: &Case) -> Outcome {
    let csv = &case.rest["csv"];
    let owned = &csv["customresourcedefinitions"]["owned"];
    let deployments = csv["install"]["deployments"].as_array().into_iter().flatten();
    let parts = Parts {
        modes: csv["installModes"].clone(),
        owned: owned.clone(),
        deployments: deployments.filter_map(Value::as_str).map(str::to_owned).collect(),
        descriptions: csv["webhookdefinitions"].clone(),
        crds: owned.as_array().into_iter().flatten().filter_map(|owned| owned_crd(case, owned)).collect(),
        ..Parts::default()
    };
    let report = parts.lint();
    for (name, judge, stage) in JUDGES {
        let refusals: Vec<&RefusedBy> = report
            .diagnostics()
            .iter()
            .flat_map(|found| refusals(found, judge))
            .filter(|refused| stage.is_none_or(|stage| refused.stage == stage))
            .collect();
        as_judged(name, &refusals, &case.rest["by"][name])?;
    }
    recommended(case, &report)
}

/// The CRD of an owned one, unless the cluster of the case lacks it.
fn owned_crd(case: &Case, owned: &Value) -> Option<Value> {
    let name = owned["name"].as_str()?;
    let there = case.rest["cluster"]["crds"].as_array();
    let on_cluster = there.and_then(|crds| crds.iter().find(|crd| crd["name"] == name));
    let preserves = on_cluster.is_some_and(|crd| crd["preserveUnknownFields"] == true);
    let (kind, version) = (owned["kind"].as_str()?, owned["version"].as_str()?);
    let fields = json!({"preserveUnknownFields": preserves});
    (there.is_none() || on_cluster.is_some()).then(|| crd([name, version, kind], &fields))
}

fn refusals(found: &Diagnostic, judge: Judge) -> impl Iterator<Item = &RefusedBy> {
    found.refused_by.iter().flatten().filter(move |refused| refused.judge == judge.as_str())
}

fn as_judged(name: &str, refusals: &[&RefusedBy], expected: &Value) -> Outcome {
    let decision = if refusals.is_empty() { "accept" } else { "reject" };
    same(name, &json!(decision), &expected["decision"])?;
    if refusals.is_empty() {
        return Ok(());
    }
    if let Some(stage) = expected["stage"].as_str() {
        let stages: Vec<&str> = refusals.iter().map(|refused| refused.stage).collect();
        if !stages.contains(&stage) {
            return Err(format!("{name}: refuses at {stages:?}, not at {stage}"));
        }
    }
    let said = refusals.iter().map(|refused| format!("{}\n", refused.says)).collect::<String>();
    holds_all(name, &said, &expected["message_contains"])?;
    if expected["reason"].is_string() { holds_all(name, &said, &json!([expected["reason"]])) } else { Ok(()) }
}

fn recommended(case: &Case, report: &BundleReport) -> Outcome {
    let decision = if report.has_errors() { "reject" } else { "accept" };
    match case.rest["recommended"]["decision"].as_str() {
        Some("warn") if decision == "accept" && !report.diagnostics().is_empty() => Ok(()),
        _ => same("recommended", &json!(decision), &case.rest["recommended"]["decision"]),
    }
}

/// The files of a bundle against the validators.
pub fn judge_files(case: &Case) -> Outcome {
    let input = &case.rest["input"];
    let report = parts(input)?.lint();
    let refused: Vec<&Diagnostic> =
        report.diagnostics().iter().filter(|found| refusals(found, Judge::Validators).next().is_some()).collect();
    if case.area == "render" {
        let decision = if report.has_errors() { "reject" } else { "accept" };
        return same("decision", &json!(decision), &case.expect["decision"]);
    }
    let decision = if refused.is_empty() { "accept" } else { "reject" };
    same("validators", &json!(decision), &case.expect["decision"])?;
    let said = refused.iter().flat_map(|found| refusals(found, Judge::Validators));
    let said = said.map(|refused| format!("{}\n", refused.says)).collect::<String>();
    holds_all("validators", &said, &case.expect["message_contains"])?;
    recommended(case, &report)
}

fn parts(input: &Value) -> Result<Parts, String> {
    let mut parts = Parts::default();
    for (key, value) in input.as_object().into_iter().flatten() {
        match key.as_str() {
            "kind" => parts.further = Some(json!({"apiVersion": "v1", "kind": value, "metadata": {"name": "a"}})),
            "annotations" if value == "all but channel.default" => {
                if let Some(all) = parts.annotations.as_object_mut() {
                    all.remove(&format!("{PREFIX}.channel.default.v1"));
                }
            }
            "annotations" if value.is_object() => parts.annotations = value.clone(),
            "owned" => parts.owned = kinds(value).map(owned).collect(),
            "crds" => parts.crds = kinds(value).map(|kind| crd(kind, &json!({}))).collect(),
            "rules" if value == "all groups" => {
                let rule =
                    json!({"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"], "operations": ["CREATE"]});
                parts.descriptions = json!([description(0, &json!({"rules": [rule]}))]);
            }
            "crd.conversion.service" => {
                let (name, namespace) = value.as_str().and_then(|text| text.split_once('.')).unwrap_or_default();
                let client = json!({"service": {"name": name, "namespace": namespace}});
                let webhook = json!({"conversionReviewVersions": ["v1"], "clientConfig": client});
                let conversion = json!({"strategy": "Webhook", "webhook": webhook});
                let kind = ["as.g.io", "v1", "A"];
                parts.owned = json!([owned(kind)]);
                parts.crds = vec![crd(kind, &json!({"conversion": conversion}))];
            }
            "webhooks" => {
                let described = value.as_array().into_iter().flatten().enumerate();
                parts.descriptions = described.map(|(number, ports)| description(number, ports)).collect();
            }
            _ => return Err(format!("unknown input {key}: {value}")),
        }
    }
    Ok(parts)
}

/// Kinds as in `as.g.io/v1/A`.
fn kinds(value: &Value) -> impl Iterator<Item = [&str; 3]> {
    let texts = value.as_array().into_iter().flatten().filter_map(Value::as_str);
    texts.filter_map(|text| text.split('/').collect::<Vec<_>>().try_into().ok())
}

fn owned([name, version, kind]: [&str; 3]) -> Value {
    json!({"name": name, "version": version, "kind": kind})
}

/// A description that nobody refuses, with some fields of the case.
fn description(number: usize, fields: &Value) -> Value {
    let mut description = json!({
        "type": "ValidatingAdmissionWebhook",
        "generateName": format!("v{number}.example.org"),
        "deploymentName": "dep",
        "containerPort": 443,
        "webhookPath": "/validate",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    });
    take(&mut description, fields);
    description
}
