//! Whatever is stored, and however it came there, can be mended, let go and removed by its owner.

#![allow(clippy::unwrap_used, clippy::needless_pass_by_value, reason = "helpers of tests")]

use gateward::testing::{Findings, TestRequest};
use gateward::{Outcome, Skip, Webhooks};
use serde_json::{Value, json};

const KINDS: [(&str, &str); 9] = [
    ("DynamoGraphDeployment", "v1beta1"),
    ("DynamoGraphDeployment", "v1alpha1"),
    ("DynamoComponentDeployment", "v1beta1"),
    ("DynamoComponentDeployment", "v1alpha1"),
    ("DynamoGraphDeploymentRequest", "v1beta1"),
    ("DynamoGraphDeploymentRequest", "v1alpha1"),
    ("DynamoModel", "v1alpha1"),
    // Admitted by their schema alone, without a webhook.
    ("DynamoGraphDeploymentScalingAdapter", "v1beta1"),
    ("DynamoGraphDeploymentScalingAdapter", "v1alpha1"),
];

fn object(kind: &str, version: &str, metadata: Value, spec: Value) -> Value {
    let mut object = json!({"apiVersion": format!("nvidia.com/{version}"), "kind": kind, "metadata": metadata});
    object["metadata"]["name"] = "otter".into();
    object["spec"] = spec;
    object
}

/// Specs that no type reads.
fn unreadable() -> [Value; 4] {
    [
        json!([]),
        json!("x"),
        json!({"replicas": 2_147_483_648_u64, "components": 5, "services": 5, "model": {}, "modelName": []}),
        json!({"components": vec![json!({}); 1000], "envs": 1, "profilingConfig": 7, "baseModelName": 7, "backend": 7}),
    ]
}

fn webhooks() -> Webhooks {
    dynamo_webhooks::webhooks()
}

/// Both webhooks' answers to a change.
fn update(kind: &str, old: &Value, new: &Value) -> Vec<Findings> {
    let webhooks = webhooks();
    let trial = TestRequest::of(&webhooks);
    if kind.ends_with("Adapter") {
        return Vec::new();
    }
    let mut answers = vec![trial.update(old, new)];
    if kind != "DynamoModel" {
        answers.push(trial.default_update(old, new));
    }
    answers
}

#[test]
fn an_object_that_is_being_deleted_passes_in_every_kind_readable_or_not() {
    let leaving = json!({"deletionTimestamp": "2026-05-01T10:00:00Z", "finalizers": ["a/b"]});
    for (kind, version) in KINDS {
        for spec in unreadable() {
            let old = object(kind, version, leaving.clone(), spec.clone());
            for new in [object(kind, version, leaving.clone(), spec), object(kind, version, leaving.clone(), json!({}))]
            {
                for answer in update(kind, &old, &new) {
                    answer.assert_allowed();
                    assert!(answer.answer().decision.patch.is_empty(), "{kind} {version}");
                }
            }
        }
    }
}

#[test]
fn of_an_unreadable_graph_that_is_being_deleted_the_provider_is_judged() {
    let annotated = |provider: &str| {
        let annotations = json!({"nvidia.com/workload-provider": provider});
        json!({"deletionTimestamp": "2026-05-01T10:00:00Z", "annotations": annotations})
    };
    for version in ["v1beta1", "v1alpha1"] {
        for spec in unreadable() {
            let of = |provider| object("DynamoGraphDeployment", version, annotated(provider), spec.clone());
            let (old, new) = (of("grove"), of("component"));
            let webhooks = webhooks();
            let findings = TestRequest::of(&webhooks).update(&old, &new);
            findings.assert_denied();
            assert_eq!(findings.answer().decision.rules(), ["DGD-62"], "{version} {spec}");
            TestRequest::of(&webhooks).update(&old, &old).assert_allowed();
        }
    }
}

#[test]
fn removing_finalizers_alone_passes_in_every_kind_readable_or_not() {
    for (kind, version) in KINDS {
        for spec in unreadable() {
            let of = |finalizers: Value| object(kind, version, json!({"finalizers": finalizers}), spec.clone());
            for answer in update(kind, &of(json!(["a/b", "a/c"])), &of(json!(["a/c"]))) {
                answer.assert_allowed();
                assert_eq!(answer.answer().decision.outcome, Outcome::Skipped(Skip::FinalizersRemoved));
            }
        }
    }
}

fn worker(members: Value) -> Value {
    let main = json!({"name": "main", "image": "example.org/runtime:1.4.2"});
    let mut worker = json!({"name": "a", "type": "worker", "podTemplate": {"spec": {"containers": [main]}}});
    worker.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    worker
}

fn graph(component: Value, spec: Value) -> Value {
    let mut graph = object("DynamoGraphDeployment", "v1beta1", json!({}), spec);
    graph["spec"]["components"] = json!([component]);
    graph
}

#[test]
fn stored_replicas_beyond_their_type_are_mended() {
    let webhooks = webhooks();
    let old = graph(worker(json!({"replicas": 2_147_483_648_u64})), json!({}));
    let findings = TestRequest::of(&webhooks).update(&old, &graph(worker(json!({"replicas": 2})), json!({})));
    findings.assert_allowed();
    assert!(
        findings.warnings().iter().any(|text| text.starts_with("spec.components[0].replicas of the stored object"))
    );
}

#[test]
fn rules_on_changes_run_beside_an_unreadable_member() {
    let webhooks = webhooks();
    let old = graph(worker(json!({"replicas": "two"})), json!({"backendFramework": "vllm"}));
    let new = graph(worker(json!({"replicas": 2})), json!({"backendFramework": "sglang"}));
    let findings = TestRequest::of(&webhooks).update(&old, &new);
    let unreadable =
        TestRequest::of(&webhooks).update(&graph(worker(json!({"replicas": 2})), json!({"backendFramework": 5})), &new);
    unreadable.assert_allowed();
    // What is said of the framework is said whatever else can't be read.
    let readable = TestRequest::of(&webhooks)
        .update(&graph(worker(json!({"replicas": 2})), json!({"backendFramework": "vllm"})), &new);
    assert_eq!(findings.answer().decision.issues, readable.answer().decision.issues);
    assert!(!findings.answer().decision.issues.is_empty());
}

/// A graph whose status no rule reads, with the same status in each version.
fn with_status(version: &str, replicas: Value, spec: Value) -> Value {
    let mut graph = object("DynamoGraphDeployment", version, json!({}), spec);
    let members = if version == "v1beta1" { "components" } else { "services" };
    graph["status"] = json!({"state": "pending", members: {"a": {"componentKind": "Pod", "replicas": replicas}}});
    graph
}

#[test]
fn a_status_that_can_not_be_read_stands_in_no_users_way() {
    let beyond = || json!(2_147_483_648_u64);
    let services = |replicas: Value| json!({"services": {"a": {"componentType": "worker", "replicas": replicas}}});
    let components = |replicas: Value| json!({"components": [worker(json!({"replicas": replicas}))]});
    for (version, before, after, wrong) in [
        ("v1beta1", components(json!(1)), components(json!(2)), components(json!("two"))),
        ("v1alpha1", services(json!(1)), services(json!(2)), services(json!("two"))),
    ] {
        let old = with_status(version, beyond(), before.clone());
        for answer in update("DynamoGraphDeployment", &old, &with_status(version, beyond(), after)) {
            answer.assert_allowed();
        }
        // What the user writes is the user's to mend, a status of their own too.
        for mine in [with_status(version, beyond(), wrong), with_status(version, json!("two"), before)] {
            for answer in update("DynamoGraphDeployment", &old, &mine) {
                answer.assert_denied();
                assert!(answer.answer().decision.rules().contains(&"DECODE"));
            }
        }
    }
}
