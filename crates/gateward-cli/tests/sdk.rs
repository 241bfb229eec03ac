//! An operator of somebody else's, built on the facade alone: a validator and a defaulter, asked over verified TLS.

#![allow(clippy::unwrap_used, reason = "a test")]

#[path = "../src/demo/client.rs"]
mod client;

use std::sync::Arc;

use client::ReviewClient;
use gateward::local::{Listen, Local};
use gateward::prelude::*;
use gateward::{Patch, Review};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Debug, Clone, Serialize, Deserialize)]
struct TestEntity {
    spec: TestEntitySpec,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct TestEntitySpec {
    username: String,
}

resource!(TestEntity, "webhook.dev/v1", "TestEntity", "testentitys");

/// Names that nobody may take.
struct Usernames;

#[handler]
impl Validator<TestEntity> for Usernames {
    async fn create(&self, new: &TestEntity, _: &Request) -> Verdict {
        if new.spec.username == "forbidden" {
            Verdict::deny("name may not be 'forbidden'").code(422)
        } else {
            Verdict::allow()
        }
    }

    async fn update(&self, old: &TestEntity, new: &TestEntity, _: &Request) -> Verdict {
        if old.spec.username == new.spec.username { Verdict::allow() } else { Verdict::deny("a name stays") }
    }
}

/// Gives some names another form.
async fn overwrite(mut entity: TestEntity, _: &Request) -> TestEntity {
    if entity.spec.username == "overwrite" {
        entity.spec.username = "random overwritten".into();
    }
    entity
}

fn webhooks() -> Webhooks {
    let kind = Webhook::<TestEntity>::new().validator(Usernames).defaulter(overwrite).on([Create, Update]);
    Webhooks::new().register(kind)
}

fn entity(username: &str) -> Value {
    json!({
        "apiVersion": "webhook.dev/v1", "kind": "TestEntity",
        "metadata": {"name": "one", "namespace": "zoo"},
        "spec": {"username": username, "unknown": true},
    })
}

/// The answer to one review, over verified TLS.
async fn ask(review: Review, operation: &str, old: Value, new: Value) -> Value {
    let local = Local::start(Arc::new(webhooks()), Arc::new(()), None, &Listen::anywhere()).await.unwrap();
    let client = ReviewClient::new(local.address(), &local.ca_pem()).unwrap();
    let path = webhooks().path_of(review, &TestEntity::gvk()).unwrap();
    let body = json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "7", "kind": TestEntity::gvk(), "operation": operation,
            "name": "one", "namespace": "zoo", "object": new, "oldObject": old,
        }
    });
    client.post(&path, &body).await.unwrap()["response"].clone()
}

#[tokio::test]
async fn a_forbidden_name_is_denied_with_the_authors_code() {
    let response = ask(Review::Validate, "CREATE", Value::Null, entity("forbidden")).await;
    assert_eq!((&response["uid"], &response["allowed"]), (&json!("7"), &json!(false)));
    assert_eq!(response["status"]["code"], 422);
    assert_eq!(response["status"]["message"], "name may not be 'forbidden'");
}

#[tokio::test]
async fn a_denial_without_a_code_has_400() {
    let response = ask(Review::Validate, "UPDATE", entity("jane"), entity("john")).await;
    assert_eq!(response["status"]["code"], 400);
}

#[tokio::test]
async fn a_change_by_the_defaulter_is_the_smallest_patch() {
    let response = ask(Review::Mutate, "CREATE", Value::Null, entity("overwrite")).await;
    assert_eq!(response["patchType"], "JSONPatch");
    let patch = Patch::from_base64(response["patch"].as_str().unwrap()).unwrap();
    let expected = json!([{"op": "replace", "path": "/spec/username", "value": "random overwritten"}]);
    assert_eq!(serde_json::to_value(&patch).unwrap(), expected);
}

#[tokio::test]
async fn an_object_that_needs_no_default_gets_no_patch() {
    let response = ask(Review::Mutate, "CREATE", Value::Null, entity("jane")).await;
    assert_eq!(response, json!({"uid": "7", "allowed": true}));
}

#[tokio::test]
async fn a_removal_is_not_asked_about_unless_it_was_declared() {
    for review in [Review::Validate, Review::Mutate] {
        let response = ask(review, "DELETE", entity("jane"), Value::Null).await;
        assert_eq!(response, json!({"uid": "7", "allowed": true}));
    }
}
