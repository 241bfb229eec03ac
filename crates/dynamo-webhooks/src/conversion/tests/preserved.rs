//! What one version can't say is kept, and comes back where no live field contradicts it.

use serde_json::{Value, json};

use super::convert;

/// A v1alpha1 graph with this spec.
pub fn spoke(spec: Value) -> Value {
    graph("v1alpha1", spec)
}

/// A v1beta1 graph with this spec.
pub fn hub(spec: Value) -> Value {
    graph("v1beta1", spec)
}

fn graph(version: &str, spec: Value) -> Value {
    json!({
        "apiVersion": format!("nvidia.com/{version}"),
        "kind": "DynamoGraphDeployment",
        "metadata": {"name": "otter", "namespace": "tidepool"},
        "spec": spec,
    })
}

pub fn component(version: &str, spec: Value) -> Value {
    let mut object = graph(version, spec);
    object["kind"] = json!("DynamoComponentDeployment");
    object
}

/// The object with an annotation.
fn carrying(mut object: Value, key: &str, text: &str) -> Value {
    object["metadata"]["annotations"][key] = json!(text);
    object
}

fn kept_of_graph(object: Value, kept: Value) -> Value {
    carrying(object, "nvidia.com/dgd-spec", &json!({"version": 1, "spec": kept}).to_string())
}

#[track_caller]
pub fn to_hub(object: &Value) -> Value {
    convert(object, "v1beta1").unwrap().0
}

#[track_caller]
pub fn to_spoke(object: &Value) -> Value {
    convert(object, "v1alpha1").unwrap().0
}

/// What the annotation holds, as JSON.
pub fn held(object: &Value, key: &str) -> Value {
    object["metadata"]["annotations"][key].as_str().map_or(Value::Null, |text| serde_json::from_str(text).unwrap())
}

fn names(hub: &Value) -> Vec<&str> {
    hub["spec"]["components"].as_array().unwrap().iter().map(|each| each["name"].as_str().unwrap()).collect()
}

#[track_caller]
fn assert_comes_back(object: &Value) {
    let there = if object["apiVersion"] == "nvidia.com/v1beta1" { "v1alpha1" } else { "v1beta1" };
    let here = if there == "v1alpha1" { "v1beta1" } else { "v1alpha1" };
    let (between, issues) = convert(object, there).unwrap();
    assert!(issues.is_empty());
    assert_eq!(convert(&between, here).unwrap().0, *object, "by way of {between}");
}

#[test]
fn restores_the_order_of_components_from_the_stash() {
    let written = spoke(json!({"services": {"a": {}, "b": {}, "c": {}, "d": null}}));
    let kept =
        |order: &[&str]| json!({"components": order.iter().map(|name| json!({"name": name})).collect::<Vec<_>>()});
    assert_eq!(names(&to_hub(&kept_of_graph(written.clone(), kept(&["c", "gone", "a"])))), ["c", "a", "b"]);
    // An ascending list remembers nothing about the order.
    assert_eq!(names(&to_hub(&kept_of_graph(written, kept(&["b", "c"])))), ["a", "b", "c"]);
    assert_comes_back(&hub(json!({"components": [{"name": "b"}, {"name": "a"}, {"name": "c"}]})));
}

#[test]
fn records_all_components_where_they_are_not_in_order() {
    let lowered = to_spoke(&hub(json!({"components": [{"name": "b"}, {"name": "a"}]})));
    let expected = json!({"version": 1, "spec": {"components": [{"name": "b"}, {"name": "a"}]}});
    assert_eq!(held(&lowered, "nvidia.com/dgd-spec"), expected);
}

#[test]
fn marks_pods_that_a_user_of_v1beta1_wrote() {
    let pod = json!({"spec": {"containers": [{"name": "main", "image": "r/x:1"}]}});
    let graph = hub(json!({"components": [{"name": "a"}, {"name": "b", "podTemplate": pod}]}));
    let names = |object: &Value| held(&to_spoke(object), "nvidia.com/dgd-spec")["spec"]["components"].clone();
    assert_eq!(names(&graph)[0]["name"], "b");
    assert_eq!(names(&graph)[1], Value::Null);
    let standalone = component("v1beta1", json!({"name": "w", "podTemplate": {}}));
    assert_eq!(held(&to_spoke(&standalone), "nvidia.com/dcd-spec")["spec"]["name"], "w");
}

#[test]
fn entries_without_a_value_come_back_unless_the_key_is_in_use() {
    let written = spoke(json!({"services": {"ghost": null, "w": {}}}));
    assert_comes_back(&written);
    let mut lifted = to_hub(&written);
    lifted["spec"]["components"] = json!([{"name": "ghost", "replicas": 2}]);
    assert_eq!(to_spoke(&lifted)["spec"]["services"], json!({"ghost": {"replicas": 2}}));
}

#[test]
fn a_service_of_another_name_than_its_key_keeps_it() {
    assert_comes_back(&spoke(json!({"services": {"w": {"serviceName": "legacy"}}})));
    // The Go operator drops a name that is the key.
    assert_comes_back(&spoke(json!({"services": {"w": {"serviceName": "w"}}})));
}

#[test]
fn fields_that_v1beta1_has_no_room_for_come_back() {
    let service = json!({
        "annotations": {"a": "b"}, "labels": {"x": "y"}, "ingress": {"enabled": true, "host": "h"},
        "autoscaling": {"minReplicas": 1}, "dynamoNamespace": "",
    });
    assert_comes_back(&spoke(json!({"services": {"w": service}, "pvcs": [{"name": "p", "create": true}]})));
    assert_comes_back(&component("v1alpha1", {
        let mut spec = service;
        spec["serviceName"] = json!("w");
        spec
    }));
}

#[test]
fn nothing_to_keep_leaves_no_annotations() {
    let lifted = to_hub(&spoke(json!({"services": {"w": {"componentType": "worker", "replicas": 1}}})));
    assert_eq!(lifted["metadata"].get("annotations"), None);
    let lowered = to_spoke(&carrying(hub(json!({"components": [{"name": "a"}]})), "nvidia.com/dgd-spec", "{}"));
    assert_eq!(lowered["metadata"].get("annotations"), None);
}

#[test]
fn other_keys_of_the_operators_stay() {
    let graph = carrying(spoke(json!({})), "nvidia.com/dgd-spec-of-old", "x");
    assert_eq!(to_hub(&graph)["metadata"]["annotations"]["nvidia.com/dgd-spec-of-old"], "x");
}

#[test]
fn an_annotation_that_cannot_be_read_is_dropped_with_a_note_and_conversion_goes_on() {
    for (object, version) in [
        (spoke(json!({"services": {"w": {}}})), "v1beta1"),
        (hub(json!({"components": [{"name": "w"}]})), "v1alpha1"),
        (component("v1alpha1", json!({"serviceName": "w"})), "v1beta1"),
        (component("v1beta1", json!({"name": "w"})), "v1alpha1"),
    ] {
        let key = if object["kind"] == "DynamoGraphDeployment" { "nvidia.com/dgd-spec" } else { "nvidia.com/dcd-spec" };
        for text in ["{", "7", r#"{"spec": {"services": 1, "components": 1, "replicas": "x"}}"#] {
            let (converted, issues) = convert(&carrying(object.clone(), key, text), version).unwrap();
            assert_eq!(converted["metadata"].get("annotations"), None, "{text}");
            let paths: Vec<String> = issues.iter().map(|issue| issue.path.to_string()).collect();
            assert_eq!(paths, [format!("metadata.annotations[{key}]")], "{text}");
        }
    }
}

#[test]
fn a_status_that_cannot_be_read_is_dropped_with_a_note_too() {
    let graph = carrying(hub(json!({"components": [{"name": "w"}]})), "nvidia.com/dgd-status", "{");
    let (lowered, issues) = convert(&graph, "v1alpha1").unwrap();
    assert_eq!(lowered["metadata"].get("annotations"), None);
    assert_eq!(issues.iter().count(), 1);
    let standalone = carrying(component("v1beta1", json!({"name": "w"})), "nvidia.com/dcd-status", "[]");
    assert!(convert(&standalone, "v1alpha1").is_ok());
}

#[test]
fn a_status_kept_on_a_v1alpha1_object_is_never_read() {
    let (lifted, issues) = convert(&carrying(spoke(json!({})), "nvidia.com/dgd-status", "{"), "v1beta1").unwrap();
    assert_eq!(lifted["metadata"].get("annotations"), None);
    assert!(issues.is_empty());
}

#[test]
fn the_source_is_read_leniently_where_it_has_the_shape_of_the_other_version() {
    let graph = kept_of_graph(hub(json!({"components": [{"name": "w"}]})), json!({"components": [{"name": "w"}]}));
    assert_eq!(to_spoke(&graph)["spec"], json!({"services": {"w": {}}}));
}

#[test]
fn shared_memory_that_says_too_little_or_too_much_comes_back() {
    for memory in [
        json!({}),
        json!({"size": "0"}),
        json!({"disabled": true}),
        json!({"disabled": true, "size": "0"}),
        json!({"disabled": true, "size": "4Gi"}),
        json!({"size": "16Gi"}),
    ] {
        assert_comes_back(&spoke(json!({"services": {"w": {"sharedMemory": memory}}})));
    }
    for size in ["0", "0Gi", "1Gi", "-1Gi"] {
        assert_comes_back(&hub(json!({"components": [{"name": "w", "sharedMemorySize": size}]})));
    }
}

#[test]
fn zero_shared_memory_of_v1beta1_is_disabled_in_v1alpha1() {
    let lowered = to_spoke(&hub(json!({"components": [{"name": "w", "sharedMemorySize": "0"}]})));
    assert_eq!(lowered["spec"]["services"]["w"]["sharedMemory"], json!({"disabled": true, "size": "0"}));
}

#[test]
fn kept_shared_memory_gives_way_to_a_live_size() {
    let mut lifted = to_hub(&spoke(json!({"services": {"w": {"sharedMemory": {"disabled": true, "size": "4Gi"}}}})));
    lifted["spec"]["components"][0]["sharedMemorySize"] = json!("1Gi");
    assert_eq!(to_spoke(&lifted)["spec"]["services"]["w"]["sharedMemory"], json!({"size": "1Gi"}));
    lifted["spec"]["components"][0].as_object_mut().unwrap().remove("sharedMemorySize");
    assert_eq!(to_spoke(&lifted)["spec"]["services"]["w"].get("sharedMemory"), None);
}

#[test]
fn details_of_types_come_back() {
    for (whole, detail) in
        [("worker", "prefill"), ("worker", "draft"), ("frontend", "prefill"), ("prefill", ""), ("decode", "x")]
    {
        let mut service = json!({"componentType": whole});
        if !detail.is_empty() {
            service["subComponentType"] = json!(detail);
        }
        assert_comes_back(&spoke(json!({"services": {"w": service}})));
    }
}

#[test]
fn a_changed_type_brings_no_whole_type_of_old_back() {
    let mut lifted = to_hub(&spoke(json!({"services": {"w": {"componentType": "prefill"}}})));
    lifted["spec"]["components"][0]["type"] = json!("decode");
    let service = to_spoke(&lifted)["spec"]["services"]["w"].clone();
    assert_eq!(service, json!({"componentType": "worker", "subComponentType": "decode"}));
}

#[test]
fn a_detail_of_another_type_does_not_make_a_worker_do_one_half() {
    let mut lifted = to_hub(&spoke(json!({"services": {"w": {"subComponentType": "prefill"}}})));
    lifted["spec"]["components"][0]["type"] = json!("worker");
    assert_eq!(to_spoke(&lifted)["spec"]["services"]["w"], json!({"componentType": "worker"}));
}

#[test]
fn features_that_are_off_come_back_where_nothing_live_takes_their_place() {
    let service = json!({
        "scalingAdapter": {},
        "gpuMemoryService": {"enabled": false, "mode": "intraPod"},
        "failover": {"enabled": false, "numShadows": 2},
    });
    let written = spoke(json!({"services": {"w": service}}));
    assert_comes_back(&written);
    let mut lifted = to_hub(&written);
    lifted["spec"]["components"][0]["experimental"] = json!({"failover": {"mode": "InterPod"}});
    lifted["spec"]["components"][0]["scalingAdapter"] = json!({});
    let service = to_spoke(&lifted)["spec"]["services"]["w"].clone();
    assert_eq!(service["failover"], json!({"enabled": true, "mode": "interPod"}));
    assert_eq!(service["scalingAdapter"], json!({"enabled": true}));
    assert_eq!(service["gpuMemoryService"], json!({"enabled": false, "mode": "intraPod"}));
}

#[test]
fn a_disabled_checkpoint_of_the_annotation_fills_a_missing_one() {
    let kept = json!({"services": {"w": {"checkpoint": {"checkpointRef": "c"}}}});
    let bare = hub(json!({"components": [{"name": "w"}]}));
    let lowered = to_spoke(&kept_of_graph(bare, kept.clone()));
    assert_eq!(lowered["spec"]["services"]["w"]["checkpoint"], json!({"checkpointRef": "c"}));
    let checkpoint = json!({"checkpoint": {"enabled": true}});
    let live = hub(json!({"components": [{"name": "w", "experimental": checkpoint}]}));
    let lowered = to_spoke(&kept_of_graph(live, kept));
    assert_eq!(lowered["spec"]["services"]["w"]["checkpoint"], json!({"enabled": true}));
}

/// E-15 of the book's staged edits.
#[test]
fn an_explicit_false_of_groves_scaling_group_survives() {
    assert_comes_back(&hub(
        json!({"components": [{"name": "w", "experimental": {"grove": {"forceScalingGroup": false}}}]}),
    ));
}

#[test]
fn an_empty_experimental_block_survives() {
    assert_comes_back(&hub(json!({"components": [{"name": "w", "experimental": {}}]})));
}

#[test]
fn groves_part_joins_a_live_block_and_goes_with_its_component() {
    let grove = json!({"grove": {"forceScalingGroup": true}});
    let mut lowered = to_spoke(&hub(json!({"components": [{"name": "w", "experimental": grove}]})));
    lowered["spec"]["services"]["w"]["failover"] = json!({"enabled": true});
    let expected = json!({"failover": {}, "grove": {"forceScalingGroup": true}});
    assert_eq!(to_hub(&lowered)["spec"]["components"][0]["experimental"], expected);
    lowered["spec"]["services"] = json!({"other": {}});
    assert_eq!(to_hub(&lowered)["spec"]["components"], json!([{"name": "other"}]));
}

#[test]
fn two_components_of_one_name_are_an_error_at_the_second() {
    let error = convert(&hub(json!({"components": [{"name": "a"}, {"name": "w"}, {"name": "w"}]})), "v1alpha1");
    assert_eq!(error.unwrap_err().path.to_string(), "spec.components[2].name");
}

#[test]
fn a_component_without_a_name_of_its_own_stays_without_while_the_objects_is_the_same() {
    let written = component("v1alpha1", json!({"componentType": "worker"}));
    assert_comes_back(&written);
    let mut lifted = to_hub(&written);
    assert_eq!(lifted["spec"]["name"], "otter");
    lifted["spec"]["name"] = json!("renamed");
    assert_eq!(to_spoke(&lifted)["spec"]["serviceName"], "renamed");
}

#[test]
fn a_v1beta1_component_without_a_name_stays_so() {
    let unnamed = component("v1beta1", json!({"type": "worker"}));
    assert_comes_back(&unnamed);
    let mut lowered = to_spoke(&unnamed);
    lowered["spec"]["serviceName"] = json!("named");
    assert_eq!(to_hub(&lowered)["spec"]["name"], "named");
}

#[test]
fn a_status_tells_the_newest_name_apart_where_the_list_does_not() {
    let status = |service: Value| json!({"services": {"w": service}});
    for service in [
        json!({"componentName": "n", "componentNames": ["o", "n"]}),
        json!({"componentName": "o", "componentNames": ["o", "n"]}),
        json!({"componentName": "n"}),
        json!({"componentNames": ["o", "n"]}),
    ] {
        let mut written = spoke(json!({}));
        written["status"] = status(service.clone());
        assert_comes_back(&written);
        let mut alone = component("v1alpha1", json!({"serviceName": "w"}));
        alone["status"] = json!({"conditions": [], "service": service, "podSelector": {"a": "b"}});
        assert_comes_back(&alone);
    }
}

#[test]
fn what_a_schema_requires_is_written_though_it_is_empty() {
    let condition = json!({"type": "Ready", "status": "True", "reason": "r", "message": ""});
    let mut graph = hub(json!({"components": [{"name": "w", "modelRef": {"name": ""}}]}));
    graph["status"] = json!({"conditions": [condition], "components": {"w": {"replicas": 1}}});
    let lowered = to_spoke(&graph);
    assert_eq!(lowered["status"]["services"]["w"]["componentName"], "");
    assert_eq!(lowered["status"]["conditions"], json!([condition]));
    assert_eq!(to_hub(&lowered), graph);
    let mut alone = component("v1beta1", json!({"name": "w"}));
    alone["status"] = json!({"observedGeneration": 1});
    assert_eq!(to_spoke(&alone)["status"]["conditions"], json!([]));
}

#[test]
fn an_empty_list_of_containers_stays_one() {
    let template = json!({"spec": {"nodeSelector": {"a": "b"}, "containers": []}});
    let written = hub(json!({"components": [{"name": "w", "podTemplate": template}]}));
    assert_eq!(to_hub(&to_spoke(&written)), written);
}

#[test]
fn names_of_a_changed_list_are_not_brought_back() {
    let mut written = spoke(json!({}));
    written["status"] = json!({"services": {"w": {"componentName": "o", "componentNames": ["o", "n"]}}});
    let mut lifted = to_hub(&written);
    lifted["status"]["components"]["w"]["componentNames"] = json!(["n", "m"]);
    let expected = json!({"componentName": "m", "componentNames": ["n", "m"]});
    assert_eq!(to_spoke(&lifted)["status"]["services"]["w"], expected);
}

#[test]
fn a_pod_selector_comes_back_also_where_nothing_else_was_said() {
    let mut written = component("v1alpha1", json!({"serviceName": "w"}));
    written["status"] = json!({"conditions": [], "podSelector": {"a": "b"}});
    let mut lifted = to_hub(&written);
    assert_eq!(to_spoke(&lifted), written);
    lifted.as_object_mut().unwrap().remove("status");
    assert_eq!(to_spoke(&lifted), written);
}

#[test]
fn parameters_of_plugins_may_be_null() {
    let config = json!({"plugins": [{"type": "a", "parameters": null}]});
    assert_comes_back(&hub(json!({"components": [{"name": "e", "type": "epp", "eppConfig": {"config": config}}]})));
    assert_comes_back(&spoke(json!({"services": {"e": {"componentType": "epp", "eppConfig": {"config": config}}}})));
}

#[test]
fn an_adapter_is_converted_without_a_trace() {
    let adapter = |version: &str, name: &str| {
        let mut object = graph(version, json!({"replicas": 0, "dgdRef": {"name": "otter", name: "w"}}));
        object["kind"] = json!("DynamoGraphDeploymentScalingAdapter");
        object["status"] = json!({"replicas": 0, "selector": "a=b", "lastScaleTime": "2026-01-01T00:00:00Z"});
        object
    };
    let (spoke, hub) = (adapter("v1alpha1", "serviceName"), adapter("v1beta1", "componentName"));
    assert_eq!(to_hub(&spoke), hub);
    assert_eq!(to_spoke(&hub), spoke);
}

#[test]
fn a_zero_that_v1alpha1_leaves_out_is_written_because_v1beta1_demands_it() {
    let mut spoke = graph("v1alpha1", json!({"replicas": 1, "dgdRef": {"name": "otter", "serviceName": "w"}}));
    spoke["kind"] = json!("DynamoGraphDeploymentScalingAdapter");
    assert_eq!(to_hub(&spoke).get("status"), None);
    spoke["status"] = json!({"selector": "a=b"});
    assert_eq!(to_hub(&spoke)["status"], json!({"replicas": 0, "selector": "a=b"}));
}
