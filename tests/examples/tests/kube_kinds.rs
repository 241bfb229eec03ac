//! An operator whose kinds are those of kube's derive and of k8s-openapi, on the facade alone.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::sync::Arc;
use std::time::SystemTime;

use gateward::Operator;
use gateward::check::{Checker, Report, Schemas};
use gateward::prelude::*;
use gateward::testing::{TestRequest, block_on};
use k8s_openapi::api::core::v1::Pod;
use kube::{CustomResource, CustomResourceExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Debug, Clone, CustomResource, Deserialize, Serialize, JsonSchema)]
#[kube(group = "webhook.dev", version = "v1", kind = "TestEntity", plural = "testentities", namespaced)]
struct TestEntitySpec {
    username: String,
}

const USERNAME: Rule = Rule { id: "USER-01", summary: "nobody is called forbidden", ..Rule::on(CREATE_AND_UPDATE) };

fn usernames(new: &TestEntity, _: &Request) -> Verdict {
    let mut issues = Issues::new();
    if new.spec.username == "forbidden" {
        let path = FieldPath::field("spec") / "username";
        issues.add(USERNAME.invalid(path, new.spec.username.clone()).message("may not be 'forbidden'"));
    }
    issues.into()
}

fn named_pods(new: &Pod, _: &Request) -> Verdict {
    if new.metadata.name.is_some() { Verdict::allow() } else { Verdict::deny("a pod has a name of its own") }
}

fn webhooks() -> Webhooks {
    let entities = Webhook::<TestEntity>::new().validator(usernames).rules([&USERNAME]).crd(TestEntity::crd());
    Webhooks::new().register(entities).register(Webhook::<Pod>::new().validator(named_pods))
}

#[test]
fn both_kinds_are_judged() {
    let webhooks = webhooks();
    let request = TestRequest::of(&webhooks);
    let entity = |name: &str| {
        json!({
            "apiVersion": "webhook.dev/v1", "kind": "TestEntity", "metadata": {"name": "max"}, "spec": {"username": name}
        })
    };
    request.create(&entity("forbidden")).by(&USERNAME).at("spec.username");
    request.create(&entity("max")).assert_allowed();
    let pod = |metadata| json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata});
    request.create(&pod(json!({"generateName": "max-"}))).assert_denied();
    request.create(&pod(json!({"name": "max"}))).assert_allowed();
}

#[test]
fn the_schema_that_kube_derives_is_held_against_a_file() {
    let webhooks = webhooks();
    let schemas = Schemas::read(&webhooks.crds()).unwrap();
    let file = "apiVersion: webhook.dev/v1\nkind: TestEntity\nmetadata: {name: max, namespace: zoo}\nspec: {}\n";
    let checker = Checker::new(&webhooks, &schemas, Arc::new(()), SystemTime::UNIX_EPOCH);
    let mut report = Report::new();
    block_on(checker.check("max.yaml", file.as_bytes(), &mut report)).unwrap();
    let found: Vec<String> = report.diagnostics().map(|found| found.path.to_string()).collect();
    assert_eq!(found, ["spec.username"], "{}", report.json());
}
