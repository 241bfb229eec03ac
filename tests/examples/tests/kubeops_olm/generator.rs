//! Cases of what is generated of a declaration.

use std::collections::BTreeSet;

use gateward::prelude::*;
use gateward::{Operator, Release, Review, webhook_configuration};
use k8s_openapi::api::core::v1::Pod;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::program::Program;
use crate::testapp::KubeOpsNames;
use crate::{Case, Outcome, holds_all, same};

/// Single facts that differ on purpose; `docs/deviations.md` says why.
const DIFFERENT: [(&str, &str); 2] = [
    ("file", "a file is named after the kind of its object"),
    ("caBundle", "no manifest has a caBundle: the server writes it once there is a CA, and keeps it right"),
];

pub fn judge(case: &Case) -> Outcome {
    let input = &case.rest["input"];
    let mut named = case.expect.as_object().unwrap().iter();
    if input["role"].is_string() {
        return judge_entries(case);
    }
    if let Some(format) = input["format"].as_str() {
        return judge_folder(format, &case.expect);
    }
    if input["versions"].is_array() {
        return Err("the author says which version is stored".to_owned());
    }
    let found = if input["has_conversion_webhook"] == json!(true) { stanza()? } else { names_of_conversion()? };
    named.try_for_each(|(name, value)| compare(name, &found[name], value))
}

fn compare(name: &str, found: &Value, expected: &Value) -> Outcome {
    let Some((_, why)) = DIFFERENT.iter().find(|(different, _)| *different == name) else {
        return same(name, found, expected);
    };
    if found == expected {
        return Err(format!("{name} is as expected; it differs no more"));
    }
    println!("differs on purpose: {name}: {why}");
    Ok(())
}

#[derive(Serialize, Deserialize)]
struct TestEntity {}

resource!(TestEntity, "webhook.dev/v1", "TestEntity", "testentitys");

struct CreateAndUpdate;

#[handler]
impl<K: Send + Sync + 'static> Validator<K> for CreateAndUpdate {
    async fn create(&self, _: &K, _: &Request) {}
    async fn update(&self, _: &K, _: &K, _: &Request) {}
}

struct UpdateAlone;

impl UpdateAlone {
    /// Begins with the name of an operation, and is none.
    fn create_message() -> &'static str {
        "no"
    }
}

#[handler]
impl Validator<TestEntity> for UpdateAlone {
    async fn update(&self, _: &TestEntity, _: &TestEntity, _: &Request) -> Verdict {
        Verdict::deny(Self::create_message())
    }
}

/// What the attribute refuses to compile, by hand.
struct NoOperation;

impl Validator<TestEntity> for NoOperation {
    const OPERATIONS: &'static [&'static str] = &[];
}

/// The operator that a case describes, each entry for the listed versions alone, as KubeOps' are.
fn described(input: &Value) -> KubeOpsNames {
    let overrides: Vec<&str> = input["overrides"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let webhooks = Webhooks::with_paths(PathStyle::KubeOps);
    let exact = Endpoint::new().exact();
    let webhooks = match (input["entity"]["kind"].as_str(), overrides.as_slice()) {
        (Some("Pod"), _) => webhooks.register(Webhook::<Pod>::new().validator(CreateAndUpdate).validating_at(exact)),
        (_, ["Create", "Update"]) => {
            webhooks.register(Webhook::<TestEntity>::new().validator(CreateAndUpdate).validating_at(exact))
        }
        (_, ["Update"]) => webhooks.register(Webhook::<TestEntity>::new().validator(UpdateAlone).validating_at(exact)),
        _ => webhooks.register(Webhook::<TestEntity>::new().validator(NoOperation).validating_at(exact)),
    };
    KubeOpsNames { webhooks }
}

fn judge_entries(case: &Case) -> Outcome {
    let operator = described(&case.rest["input"]);
    if let Some(fragments) = case.expect.get("error_contains") {
        let error = operator.webhooks.check().map_err(|error| error.to_string());
        return holds_all("error", &error.err().unwrap_or_default(), fragments);
    }
    operator.webhooks.check().map_err(|error| error.to_string())?;
    let installation = operator.installation(&Release { name: "testapp".into(), namespace: "testapp-system".into() });
    let configuration = json!(webhook_configuration(&operator.webhooks, Review::Validate, &installation));
    let entry = of_entry(&configuration["webhooks"][0]);
    let found = json!({
        "config_kind": configuration["kind"],
        "config_name": configuration["metadata"]["name"],
        "file": written()?,
        "webhook_name": entry["name"],
        "operations": entry["operations"],
    });
    let mut named = case.expect.as_object().unwrap().iter();
    named.try_for_each(|(name, value)| match value.as_object().filter(|_| name == "webhook") {
        Some(webhook) => webhook.iter().try_for_each(|(name, value)| same(name, &entry[name], value)),
        None => compare(name, &found[name], value),
    })
}

/// The file of the validating webhooks, as the command writes it.
fn written() -> Result<Value, String> {
    let folder = tempfile::tempdir().unwrap();
    Program::of_testapp().runs(&["generate", "webhooks", "--out", folder.path().to_str().unwrap()])?;
    let mut files = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap());
    let is_validating = |path: &std::path::Path| {
        std::fs::read_to_string(path).is_ok_and(|text| text.contains("kind: ValidatingWebhookConfiguration"))
    };
    Ok(files.find(|file| is_validating(&file.path())).map_or(Value::Null, |file| json!(file.file_name().to_str())))
}

/// An entry in the words of the cases, in which a member with the API's default is null.
fn of_entry(entry: &Value) -> Value {
    let (rule, service) = (&entry["rules"][0], &entry["clientConfig"]["service"]);
    let unless = |member: &str, default: Value| {
        let found = &entry[member];
        if *found == default { Value::Null } else { found.clone() }
    };
    json!({
        "name": entry["name"],
        "operations": rule["operations"],
        "apiGroups": rule["apiGroups"],
        "apiVersions": rule["apiVersions"],
        "resources": rule["resources"],
        "service_name": service["name"],
        "path": service["path"],
        "matchPolicy": entry["matchPolicy"],
        "sideEffects": entry["sideEffects"],
        "admissionReviewVersions": entry["admissionReviewVersions"],
        "failurePolicy": unless("failurePolicy", json!("Fail")),
        "timeoutSeconds": unless("timeoutSeconds", json!(10)),
        "namespaceSelector": entry["namespaceSelector"],
        "objectSelector": entry["objectSelector"],
    })
}

fn names_of_conversion() -> Result<Value, String> {
    let webhooks = kubeops_conversion::webhooks();
    let declared = webhooks.declarations().next().unwrap();
    Ok(json!({
        "plural": declared.plural,
        "crd": printed_crd()?["metadata"]["name"],
        "conversion_path": declared.conversion_path(),
    }))
}

/// The CRD that the command prints.
fn printed_crd() -> Result<Value, String> {
    let arguments = ["generate", "crds", "--namespace", "testapp-system", "--format", "json"];
    let printed = Program::of_conversion().runs(&arguments)?;
    serde_json::from_str(&printed).map_err(|error| error.to_string())
}

/// Its stanza.
fn stanza() -> Result<Value, String> {
    let crd = printed_crd()?;
    let conversion = &crd["spec"]["conversion"];
    let client = &conversion["webhook"]["clientConfig"];
    Ok(json!({
        "strategy": conversion["strategy"],
        "conversionReviewVersions": conversion["webhook"]["conversionReviewVersions"],
        "service_name": client["service"]["name"],
        "service_namespace_set": client["service"]["namespace"] == "testapp-system",
        "path": client["service"]["path"],
        "caBundle": client["caBundle"],
    }))
}

/// Whether kustomize finds its file and all that it lists. The test bed's kubectl builds such folders.
fn judge_folder(format: &str, expect: &Value) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let image = "registry.example.org/testapp:1.0.0";
    Program::of_testapp().runs(&["generate", "kustomize", "--out", out, "--image", image, "--format", format])?;
    let read =
        |name: &str| std::fs::read_to_string(folder.path().join(name)).map_err(|error| format!("{name}: {error}"));
    let kustomization: Value = serde_json::from_str(&read("kustomization.yaml")?).map_err(|error| error.to_string())?;
    let resources: BTreeSet<&str> =
        kustomization["resources"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    for resource in &resources {
        serde_json::from_str::<Value>(&read(resource)?).map_err(|error| format!("{resource}: {error}"))?;
    }
    same("kustomize_can_build", &json!(resources.len() > 5), &expect["kustomize_can_build"])
}
