//! Cases of several webhooks in a row, before an API server that knows nothing but the rendered configurations.

use gateward::{Installation, Patch, Review, Webhooks, webhook_configuration};
use serde_json::{Value, json};

use crate::{Case, Outcome, ask, conversion, holds_all, same};

pub fn judge(case: &Case) -> Outcome {
    let steps: Vec<&str> = case.rest["steps"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    if steps.iter().all(|step| step.starts_with('/')) { judge_paths(case, &steps) } else { judge_write(case, &steps) }
}

/// The same review at one path after the other, each with the object that the one before made.
fn judge_paths(case: &Case, paths: &[&str]) -> Outcome {
    let webhooks = kubeops_admission::webhooks();
    let mut review = case.rest["review"].clone();
    for path in paths {
        let answer = ask(&webhooks, path, review.to_string().as_bytes());
        let response: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        same("allowed", &response["response"]["allowed"], &case.expect["allowed"])?;
        let patch = &answer.decision.patch;
        if !patch.is_empty() {
            same("patch", &serde_json::to_value(patch).unwrap(), &case.expect["patch"])?;
        }
        patch.apply(&mut review["request"]["object"]).map_err(|error| error.to_string())?;
    }
    same("object_after", &review["request"]["object"], &case.expect["object_after"])
}

/// A write of a `WebhookTest`, in words such as `create v1 {valid:false}`.
fn judge_write(case: &Case, steps: &[&str]) -> Outcome {
    let cluster = Cluster { webhooks: olm_webhooktest::webhooks(), exact: steps.concat().contains("Exact") };
    let (version, spec) = written(steps);
    let created = cluster.create(version, &spec);
    same("created", &json!(created.is_ok()), &case.expect["created"])?;
    let error = created.as_ref().err().cloned().unwrap_or_default();
    holds_all("error", &error, &case.expect["error_contains"])?;
    let stored = created.unwrap_or_default();
    let read = ["v1", "v2"].map(|version| (version, case.expect.get(format!("{version}.spec"))));
    let mut read = read.into_iter().filter_map(|(version, expected)| Some((version, expected?)));
    read.try_for_each(|(version, expected)| same(version, &cluster.read(version, &stored)?["spec"], expected))
}

/// What is written, in which version. A step that refers to another case is the write in the version that isn't stored.
fn written(steps: &[&str]) -> (&'static str, Value) {
    match steps {
        ["create v1 {valid:false}", ..] => ("v1", json!({"valid": false})),
        _ => ("v2", json!({"conversion": {"valid": true}})),
    }
}

struct Cluster {
    webhooks: Webhooks,
    /// Whether every entry has `matchPolicy: Exact`, whatever the operator renders.
    exact: bool,
}

impl Cluster {
    /// Writes an object as the API server does: mutate, validate, store as v1.
    fn create(&self, version: &str, spec: &Value) -> Result<Value, String> {
        let mut object = json!({
            "apiVersion": api_version(version),
            "kind": "WebhookTest",
            "metadata": {"name": "my-cr-1", "namespace": "webhook-e2e"},
            "spec": spec,
        });
        for review in [Review::Mutate, Review::Validate] {
            for webhook in self.webhooks(review) {
                self.call(&webhook, version, &mut object)?;
            }
        }
        self.read("v1", &object)
    }

    fn read(&self, version: &str, stored: &Value) -> Result<Value, String> {
        conversion::convert(&self.webhooks, &api_version(version), stored)
    }

    fn webhooks(&self, review: Review) -> Vec<Value> {
        let configuration =
            webhook_configuration(&self.webhooks, review, &Installation::of_release("webhooks", "operators"));
        let configuration = serde_json::to_value(configuration).unwrap();
        configuration["webhooks"].as_array().cloned().unwrap_or_default()
    }

    /// Asks a webhook about an object of `version`, converted to one that it lists where it may be.
    fn call(&self, webhook: &Value, version: &str, object: &mut Value) -> Result<(), String> {
        let listed = webhook["rules"][0]["apiVersions"].as_array().cloned().unwrap_or_default();
        let exact = self.exact || webhook["matchPolicy"] == json!("Exact");
        let seen = match listed.iter().any(|listed| *listed == json!(version)) {
            true => version.to_owned(),
            false if exact => return Ok(()),
            false => listed[0].as_str().unwrap().to_owned(),
        };
        let mut shown = self.read(&seen, object)?;
        let response = self.post(webhook, &seen, &shown);
        if response["allowed"] != json!(true) {
            let (name, message) = (&webhook["name"], response["status"]["message"].as_str().unwrap_or_default());
            return Err(format!("admission webhook {name} denied the request: {message}"));
        }
        if let Some(patch) = response["patch"].as_str() {
            Patch::from_base64(patch).unwrap().apply(&mut shown).unwrap();
        }
        *object = self.read(version, &shown)?;
        Ok(())
    }

    fn post(&self, webhook: &Value, version: &str, object: &Value) -> Value {
        let path = webhook["clientConfig"]["service"]["path"].as_str().unwrap();
        let kind = json!({"group": "webhook.operators.coreos.io", "version": version, "kind": "WebhookTest"});
        let review = json!({
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "request": {"uid": "chain", "kind": kind, "operation": "CREATE", "object": object, "name": "my-cr-1"},
        });
        let answer = ask(&self.webhooks, path, review.to_string().as_bytes());
        serde_json::from_slice::<Value>(&answer.body).unwrap()["response"].clone()
    }
}

fn api_version(version: &str) -> String {
    format!("webhook.operators.coreos.io/{version}")
}
