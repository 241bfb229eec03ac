//! ALPHA-01 to ALPHA-10.

use serde_json::{Value, json};

use super::{component, create, created, drum, updated, with, worker};

/// Judges a service of a graph and the same fields on a standalone component: the findings are the same.
#[track_caller]
fn assert_found(service: Value, expected: &[&str]) {
    let at = |prefix: &str| -> Vec<String> { expected.iter().map(|line| line.replace("P.", prefix)).collect() };
    assert_eq!(created(drum(service.clone())), at("spec.services[drum]."), "in a graph");
    assert_eq!(created(component(service)), at("spec."), "on its own");
}

#[test]
fn annotations_of_pods_are_not_examined() {
    let annotations = json!({"annotations": {"nvidia.com/vllm-distributed-executor-backend": "pool"}});
    assert_found(worker(json!({"extraPodMetadata": annotations})), &[]);
}

#[test]
fn a_dynamo_namespace_is_warned_of_unless_empty() {
    assert_found(worker(json!({"dynamoNamespace": "reef"})), &["warning ALPHA-03 P.dynamoNamespace"]);
    assert_found(worker(json!({"dynamoNamespace": ""})), &[]);
}

#[test]
fn the_warning_names_the_namespace_that_is_used_instead() {
    let warnings = |object: Value| create(&object).warnings().join("\n");
    let service = worker(json!({"dynamoNamespace": "reef"}));
    assert!(warnings(drum(service.clone())).contains("\"tidepool-sea-otter\""));
    let global = with(service.clone(), json!({"globalDynamoNamespace": true}));
    assert!(warnings(drum(global)).contains("\"dynamo\""));
    assert!(warnings(component(service.clone())).contains("\"tidepool-\""));
    let mut owned = component(service);
    owned["metadata"]["ownerReferences"] =
        json!([{"kind": "Other", "name": "x"}, {"kind": "DynamoGraphDeployment", "name": "o.p"}]);
    assert!(warnings(owned).contains("\"tidepool-o-p\""));
}

#[test]
fn autoscaling_is_warned_of_even_when_empty() {
    assert_found(worker(json!({"autoscaling": {}})), &["warning ALPHA-04 P.autoscaling"]);
    assert_found(worker(json!({"autoscaling": null})), &[]);
}

#[test]
fn warnings_come_on_every_update_and_with_denials() {
    let stored = drum(worker(json!({"autoscaling": {}})));
    assert_eq!(updated(stored.clone(), stored.clone()), ["warning ALPHA-04 spec.services[drum].autoscaling"]);
    let denied = created(drum(worker(json!({"autoscaling": {}, "ingress": {"enabled": true}}))));
    assert_eq!(
        denied,
        ["ALPHA-06 spec.services[drum].ingress.host", "warning ALPHA-04 spec.services[drum].autoscaling"]
    );
}

#[test]
fn a_mount_that_repeats_the_cache_need_not_say_where() {
    let cache = json!({"name": "v", "useAsCompilationCache": true});
    assert_found(worker(json!({"volumeMounts": [cache, {"name": "v", "mountPoint": ""}]})), &[]);
    assert_found(worker(json!({"volumeMounts": [{"name": "v"}, cache]})), &[]);
    let second = json!([{"name": "c", "mountPoint": "/c", "useAsCompilationCache": true}, cache, {"name": "v"}]);
    assert_found(worker(json!({"volumeMounts": second})), &["ALPHA-05 P.volumeMounts[2].mountPoint"]);
}
