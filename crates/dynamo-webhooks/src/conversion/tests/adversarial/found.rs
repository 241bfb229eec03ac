//! What was found, each by its row of the issue.

use serde_json::{Map, Value, json};

use super::annotations::{DEEPEST, MOST_STEPS, nest};
use super::{COMPONENT, GRAPH, INCOMPLETE, PRESERVED, REQUEST, on_the_stack_of_a_worker};

fn graph(version: &str, spec: &Value) -> Value {
    let metadata = json!({"name": "otter", "namespace": "tidepool"});
    json!({"apiVersion": format!("nvidia.com/{version}"), "kind": "DynamoGraphDeployment", "metadata": metadata, "spec": spec})
}

fn annotated(mut object: Value, kept: &Value) -> Value {
    object["metadata"]["annotations"] = json!({PRESERVED: kept.to_string()});
    object
}

/// A graph of one worker in each version.
fn worker(version: &str) -> Value {
    match version {
        "v1alpha1" => graph(version, &json!({"services": {"w": {"componentType": "worker"}}})),
        _ => graph(version, &json!({"components": [{"name": "w", "type": "worker"}]})),
    }
}

/// What comes back at the end of a path of so many steps.
fn at_the_end_of(steps: usize, value: &Value, from: &str, through: &str) -> Option<Value> {
    let path: Vec<&str> = std::iter::once("spec").chain(std::iter::repeat_n("x", steps - 1)).collect();
    let kept = json!({"version": 1, "unknown": {through: [{"path": path, "hollow": steps - 2, "value": value}]}});
    let there = GRAPH.converted(&annotated(worker(from), &kept), through);
    let (mut plain, mut spec) = (GRAPH.converted(&worker(from), through), there["spec"].clone());
    let found = path.iter().try_fold(&there, |node, step| node.get(step)).cloned();
    spec.as_object_mut().unwrap().remove("x");
    assert_eq!(spec, plain["spec"].take());
    found
}

#[test]
fn h0_a_path_of_thousands_of_steps_ends_no_process() {
    on_the_stack_of_a_worker(|| {
        for (from, through) in [("v1alpha1", "v1beta1"), ("v1beta1", "v1alpha1")] {
            assert_eq!(at_the_end_of(8000, &json!(1), from, through), None);
        }
    });
}

#[test]
fn h0_a_path_of_as_many_steps_as_may_be_leads_to_a_deep_value_and_a_longer_one_nowhere() {
    on_the_stack_of_a_worker(|| {
        for (from, through) in [("v1alpha1", "v1beta1"), ("v1beta1", "v1alpha1")] {
            for shape in [0, u64::MAX, 0x1234_5678_9abc_def0] {
                let value = nest(json!(1), DEEPEST, shape);
                assert_eq!(at_the_end_of(MOST_STEPS, &value, from, through).as_ref(), Some(&value));
                assert_eq!(at_the_end_of(MOST_STEPS + 1, &value, from, through), None);
            }
        }
    });
}

#[test]
fn h1_a_known_field_does_not_come_alive_as_an_unknown_one() {
    let at = |name: &str| json!(["spec", "components", {"name": "w"}, name]);
    for (path, value) in [
        (at("minAvailable"), json!("abc")),
        (at("minAvailable"), json!(3)),
        (at("multinode"), json!({"nodeCount": 2})),
        (at("replicas"), json!(1000)),
        (json!(["spec", "components", {"name": "w"}, "multinode", "x"]), json!(1)),
        (json!(["spec", "components", {"name": "w"}, "scalingAdapter", "x"]), json!(1)),
        (json!(["spec", "restart"]), json!({"id": "now"})),
        (json!(["status"]), json!({"state": "successful"})),
        (json!(["status", "novel"]), json!(1)),
    ] {
        let kept = json!({"version": 1, "unknown": {"v1beta1": [{"path": path, "hollow": 1, "value": value}]}});
        let there = GRAPH.converted(&annotated(worker("v1alpha1"), &kept), "v1beta1");
        let plain = GRAPH.converted(&worker("v1alpha1"), "v1beta1");
        assert_eq!((&there["spec"], there.get("status")), (&plain["spec"], None), "{path}");
    }
}

#[test]
fn h1_a_difference_whose_reading_fits_changes_nothing_that_the_user_can_see() {
    let object = graph(
        "v1alpha1",
        &json!({"services": {"w": {"componentType": "worker", "envs": [{"name": "A", "value": "1"}]}}}),
    );
    let plain = GRAPH.converted(&object, "v1beta1");
    let pod = || vec![json!("spec"), json!("components"), json!({"name": "w"}), json!("podTemplate")];
    let below =
        |names: &[&str]| -> Vec<Value> { pod().into_iter().chain(names.iter().map(|name| json!(name))).collect() };
    let live = &plain["spec"]["components"][0]["podTemplate"];
    let containers = &live["spec"]["containers"];
    assert!(containers.is_array());
    for difference in [
        json!({"path": below(&["spec", "containers"]), "reads": containers, "was": "abc"}),
        json!({"path": below(&["spec", "containers"]), "reads": containers, "was": [{"name": "main", "image": "evil:1"}]}),
        json!({"path": below(&["spec", "hostNetwork"]), "was": true}),
        json!({"path": pod(), "reads": live}),
    ] {
        let kept = json!({"version": 1, "known": {"v1beta1": [difference]}});
        let there = GRAPH.converted(&annotated(object.clone(), &kept), "v1beta1");
        assert_eq!(there["spec"], plain["spec"], "{difference}");
    }
}

#[test]
fn h6_a_difference_that_replaces_the_whole_ends_nothing() {
    let object = json!({"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoComponentDeployment",
        "metadata": {"name": "otter", "namespace": "tidepool"}, "spec": {"componentType": "worker"}});
    let plain = COMPONENT.converted(&object, "v1beta1");
    for path in [json!([]), json!(["spec"])] {
        let kept = json!({"version": 1, "known": {"v1beta1": [{"path": path, "reads": plain["spec"], "was": 1}]}});
        let there = COMPONENT.converted(&annotated(object.clone(), &kept), "v1beta1");
        assert_eq!(there["spec"], plain["spec"]);
    }
}

#[test]
fn a_difference_that_the_other_version_can_not_see_comes_back_beside_forged_ones() {
    let object = worker("v1alpha1");
    let at = |steps: Value| -> Value {
        let steps = steps.as_array().unwrap().iter().cloned();
        [json!("spec"), json!("components"), json!({"name": "w"})].into_iter().chain(steps).collect()
    };
    let mut known: Vec<Value> =
        (0..5).map(|seconds| json!({"path": at(json!(["replicas"])), "was": seconds})).collect();
    known.insert(3, json!({"path": at(json!(["experimental"])), "was": {}}));
    let kept = json!({"version": 1, "known": {"v1beta1": known}});
    let there = GRAPH.converted(&annotated(object.clone(), &kept), "v1beta1");
    let mut expected = GRAPH.converted(&object, "v1beta1")["spec"].clone();
    expected["components"][0]["experimental"] = json!({});
    assert_eq!(there["spec"], expected);
}

#[test]
fn a_difference_that_breaks_the_schema_goes_alone() {
    let object = worker("v1alpha1");
    let at = |name: &str| json!(["spec", "components", {"name": "w"}, name]);
    // Both say nothing, so both lead back; a model has to have a name.
    let known = ["experimental", "modelRef"].map(|name| json!({"path": at(name), "was": {}}));
    let kept = json!({"version": 1, "known": {"v1beta1": known}});
    let there = GRAPH.converted(&annotated(object.clone(), &kept), "v1beta1");
    let mut expected = GRAPH.converted(&object, "v1beta1")["spec"].clone();
    expected["components"][0]["experimental"] = json!({});
    assert_eq!(there["spec"], expected);
    let noted = GRAPH.noted(&annotated(object, &kept), "v1beta1");
    assert!(noted.iter().any(|note| note.contains("a part of what conversion kept here doesn't fit")), "{noted:?}");
}

#[test]
fn h1_hundreds_of_fields_that_nobody_knows_hide_no_value_that_the_schema_refuses() {
    let object = worker("v1alpha1");
    let unknown: Map<String, Value> = (0..300).map(|number| (format!("a{number:03}"), json!(0))).collect();
    let at = |name: &str| json!(["spec", "components", {"name": "w"}, name]);
    let known = [json!({"path": at("experimental"), "was": unknown}), json!({"path": at("modelRef"), "was": {}})];
    let kept = json!({"version": 1, "known": {"v1beta1": known}});
    let there = GRAPH.converted(&annotated(object, &kept), "v1beta1");
    assert_eq!(there["spec"]["components"][0].get("modelRef"), None, "{there}");
}

#[test]
fn h1_an_object_that_lacks_something_gets_no_value_that_the_schema_refuses() {
    let status = json!({"state": "Ready", "deployment": {"name": "d", "namespace": "n"}});
    let spec = json!({"model": "m", "backend": "vllm", "profilingConfig": {"profilerImage": "x:1"}});
    let object = json!({"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeploymentRequest",
        "metadata": {"name": "otter", "namespace": "tidepool"}, "spec": spec, "status": status});
    let plain = REQUEST.converted(&object, "v1beta1");
    let values = [json!(false), json!({"template": 5}), json!({})].map(|job| json!({"profilingJob": job}));
    for value in values.into_iter().chain([json!({"dgd": 5})]) {
        let kept = json!({"version": 1, "known": {"v1beta1": [{"path": ["spec", "overrides"], "was": value}]}});
        let there = REQUEST.converted(&annotated(object.clone(), &kept), "v1beta1");
        assert_eq!(there["spec"], plain["spec"], "{value}");
    }
}

#[test]
fn h7_an_integer_beyond_its_type_is_left_out_of_a_marked_view() {
    let mut object = worker("v1beta1");
    object["spec"]["components"][0]["replicas"] = json!(2_147_483_648_u64);
    let there = GRAPH.converted(&object, "v1alpha1");
    assert_eq!(there["spec"]["services"]["w"]["componentType"], "worker");
    assert_eq!(there["spec"]["services"]["w"].get("replicas"), None);
    assert_eq!(there["metadata"]["labels"][INCOMPLETE], "true");
    assert_eq!(there["metadata"]["annotations"]["gateward.dev/incomplete-fields"], "spec.components[0].replicas");
}
