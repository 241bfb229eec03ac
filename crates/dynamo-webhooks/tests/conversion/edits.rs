//! Staged edits of section 10: convert, edit without touching the annotations, convert back.

use serde_json::{Value, json};

use crate::case::{at, says};
use crate::kinds::converted;

#[track_caller]
pub fn said(object: &Value, path: &str, expected: &Value) {
    let found = at(object, path);
    assert!(says(found.as_ref(), expected), "{path} should be {expected}, is {found:?}\nin {object}");
}

#[track_caller]
pub fn absent(object: &Value, path: &str) {
    said(object, path, &Value::Null);
}

fn graph_of_v1alpha1(service: Value) -> Value {
    json!({
        "apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeployment",
        "metadata": {"name": "otter", "namespace": "tidepool"}, "spec": {"services": {"w": service}},
    })
}

fn graph_of_v1beta1(component: Value) -> Value {
    let mut component = component;
    component["name"] = "w".into();
    json!({
        "apiVersion": "nvidia.com/v1beta1", "kind": "DynamoGraphDeployment",
        "metadata": {"name": "otter", "namespace": "tidepool"}, "spec": {"components": [component]},
    })
}

fn to_v1alpha1(object: &Value) -> Value {
    converted(object, "v1alpha1")
}

fn to_v1beta1(object: &Value) -> Value {
    converted(object, "v1beta1")
}

const SERVICE: &str = "$.spec.services.w";
const COMPONENT: &str = "$.spec.components[0]";

fn service(rest: &str) -> String {
    format!("{SERVICE}{rest}")
}

fn component(rest: &str) -> String {
    format!("{COMPONENT}{rest}")
}

fn main_of(graph: &mut Value) -> &mut Value {
    &mut graph["spec"]["components"][0]["podTemplate"]["spec"]["containers"][0]
}

fn flagged(name: &str) -> Value {
    json!({"name": name, "mountPoint": format!("/{name}"), "useAsCompilationCache": true})
}

fn names(list: Option<Value>) -> Vec<String> {
    let list = list.unwrap_or_default();
    list.as_array().into_iter().flatten().map(|item| item["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn e_01_a_second_cache_that_is_unmounted_stays_away() {
    let mut graph = to_v1beta1(&graph_of_v1alpha1(json!({
        "componentType": "worker", "volumeMounts": [flagged("a"), flagged("b")],
        "extraPodSpec": {"mainContainer": {"volumeMounts": [{"name": "c", "mountPath": "/c"}]}},
    })));
    let mounts = main_of(&mut graph)["volumeMounts"].as_array_mut().unwrap();
    mounts.retain(|mount| mount["name"] != "b");
    let mut back = to_v1alpha1(&graph);
    for _ in 0..2 {
        said(&back, &service(".volumeMounts"), &json!([flagged("a")]));
        said(&back, &service(".extraPodSpec.mainContainer.volumeMounts"), &json!([{"name": "c", "mountPath": "/c"}]));
        back = to_v1alpha1(&to_v1beta1(&back));
    }
}

#[test]
fn e_02_a_replaced_template_resurrects_no_cache() {
    let mut graph = to_v1beta1(&graph_of_v1alpha1(
        json!({"componentType": "worker", "volumeMounts": [flagged("a"), flagged("b")]}),
    ));
    graph["spec"]["components"][0]["podTemplate"] =
        json!({"spec": {"containers": [{"name": "main", "volumeMounts": [{"name": "r", "mountPath": "/r"}]}]}});
    let back = to_v1alpha1(&graph);
    said(&back, &service(".volumeMounts"), &json!([flagged("a"), {"name": "r", "mountPoint": "/r"}]));
}

#[test]
fn e_03_a_changed_cache_makes_the_kept_ones_void() {
    let mut graph = to_v1beta1(&graph_of_v1alpha1(
        json!({"componentType": "worker", "volumeMounts": [flagged("a"), flagged("b")]}),
    ));
    graph["spec"]["components"][0]["compilationCache"] = json!({"pvcName": "z", "mountPath": "/z"});
    let back = to_v1alpha1(&graph);
    let mounts = at(&back, &service(".volumeMounts")).unwrap();
    let caches: Vec<&Value> =
        mounts.as_array().unwrap().iter().filter(|mount| mount["useAsCompilationCache"] == true).collect();
    assert_eq!(caches, [&flagged("z")], "{back}");
}

#[test]
fn e_04_the_split_of_environments_is_kept() {
    let mut graph = to_v1alpha1(&graph_of_v1beta1(
        json!({"podTemplate": {"metadata": {"name": "tmpl"}, "spec": {"containers": [{"name": "main", "image": "r/x:1"}]}}}),
    ));
    graph["spec"]["services"]["w"]["envs"] = json!([{"name": "FLAT", "value": "1"}]);
    graph["spec"]["services"]["w"]["extraPodSpec"]["mainContainer"]["env"] = json!([{"name": "EXTRA", "value": "2"}]);
    let there = to_v1beta1(&graph);
    said(&there, &component(".podTemplate.metadata.name"), &json!("tmpl"));
    let back = to_v1alpha1(&there);
    said(&back, &service(".envs"), &json!([{"name": "FLAT", "value": "1"}]));
    said(&back, &service(".extraPodSpec.mainContainer.env"), &json!([{"name": "EXTRA", "value": "2"}]));
}

#[test]
fn e_05_a_template_without_containers_gets_none() {
    let component = json!({
        "apiVersion": "nvidia.com/v1beta1", "kind": "DynamoComponentDeployment",
        "metadata": {"name": "otter-w", "namespace": "tidepool"},
        "spec": {"name": "w", "podTemplate": {"spec": {"containers": [], "nodeSelector": {"pool": "deep"}}}},
    });
    let back = to_v1beta1(&to_v1alpha1(&component));
    said(&back, "$.spec", &component["spec"]);
    absent(&back, "$.metadata.annotations");
}

#[test]
fn e_06_the_order_of_containers_is_kept() {
    let graph = graph_of_v1beta1(json!({"podTemplate": {"spec": {"containers": [
        {"name": "metrics", "image": "r/m:1"}, {"name": "main", "image": "r/x:1"},
    ]}}}));
    let back = to_v1beta1(&to_v1alpha1(&graph));
    said(&back, &component(".podTemplate"), &graph["spec"]["components"][0]["podTemplate"]);
}

#[test]
fn e_07_containers_that_change_places_stay_changed() {
    let mut graph = to_v1alpha1(&graph_of_v1beta1(
        json!({"podTemplate": {"metadata": {"name": "tmpl"}, "spec": {"containers": [
            {"name": "main", "image": "r/x:1"}, {"name": "metrics", "image": "r/m:1"}, {"name": "logger", "image": "r/l:1"},
        ]}}}),
    ));
    let stash = "$.metadata.annotations['nvidia.com/dgd-spec'] ~ $.spec.components[0].podTemplate";
    said(&graph, &format!("{stash}.metadata.name"), &json!("tmpl"));
    absent(&graph, &format!("{stash}.spec.containers"));
    graph["spec"]["services"]["w"]["extraPodSpec"]["containers"].as_array_mut().unwrap().reverse();
    let back = to_v1beta1(&graph);
    said(&back, &component(".podTemplate.metadata.name"), &json!("tmpl"));
    assert_eq!(names(at(&back, &component(".podTemplate.spec.containers"))), ["main", "logger", "metrics"]);
}

#[test]
fn e_08_a_secret_that_became_optional_is_no_plain_reference() {
    let mut graph = to_v1beta1(&graph_of_v1alpha1(json!({"componentType": "worker", "envFromSecret": "hf-token"})));
    main_of(&mut graph)["envFrom"][0]["secretRef"]["optional"] = true.into();
    let back = to_v1alpha1(&graph);
    absent(&back, &service(".envFromSecret"));
    let reference = json!([{"secretRef": {"name": "hf-token", "optional": true}}]);
    said(&back, &service(".extraPodSpec.mainContainer.envFrom"), &reference);
    said(&to_v1beta1(&back), &component(".podTemplate.spec.containers[0].envFrom"), &reference);
}

/// A service with a sidecar, in v1beta1 with a security context on its container.
fn edited_sidecar() -> Value {
    let mut graph = to_v1beta1(&graph_of_v1alpha1(json!({
        "componentType": "frontend",
        "frontendSidecar": {"image": "r/side:1", "args": ["--fast"], "envFromSecret": "hf-token", "envs": [{"name": "A", "value": "1"}]},
    })));
    let containers = graph["spec"]["components"][0]["podTemplate"]["spec"]["containers"].as_array_mut().unwrap();
    let sidecar = containers.iter_mut().find(|container| container["name"] == "sidecar-frontend").unwrap();
    sidecar["securityContext"] = json!({"runAsNonRoot": true});
    graph
}

#[test]
fn e_09_what_was_added_to_the_sidecar_is_kept_sparsely() {
    let graph = edited_sidecar();
    let there = to_v1alpha1(&graph);
    let stashed =
        at(&there, "$.metadata.annotations['nvidia.com/dgd-spec'] ~ $.spec.components[0].podTemplate.spec.containers");
    let stashed = stashed.unwrap();
    let sidecar = stashed.as_array().unwrap().iter().find(|container| container["name"] == "sidecar-frontend").unwrap();
    assert!(
        says(Some(sidecar), &json!({"name": "sidecar-frontend", "securityContext": {"runAsNonRoot": true}})),
        "{sidecar}"
    );
    said(&there, &service(".frontendSidecar.image"), &json!("r/side:1"));
    said(&to_v1beta1(&there), "$.spec", &graph["spec"]);
}

#[test]
fn e_10_a_removed_sidecar_does_not_come_back() {
    let mut graph = to_v1alpha1(&edited_sidecar());
    graph["spec"]["services"]["w"].as_object_mut().unwrap().remove("frontendSidecar").unwrap();
    let back = to_v1beta1(&graph);
    absent(&back, &component(".frontendSidecar"));
    assert!(
        !names(at(&back, &component(".podTemplate.spec.containers"))).contains(&"sidecar-frontend".to_owned()),
        "{back}"
    );
}

#[test]
fn e_11_a_reference_goes_with_the_container_that_it_names() {
    let mut graph = to_v1alpha1(&graph_of_v1beta1(json!({
        "frontendSidecar": "sidecar",
        "podTemplate": {"spec": {"containers": [{"name": "main", "image": "r/x:1"}, {"name": "sidecar", "image": "r/s:1"}]}},
    })));
    let stash = "$.metadata.annotations['nvidia.com/dgd-spec'] ~ $.spec.components[0]";
    said(&graph, &format!("{stash}.frontendSidecar"), &json!("sidecar"));
    let listed = at(&graph, &format!("{stash}.podTemplate.spec.containers")).unwrap_or_default();
    let sidecar = listed.as_array().into_iter().flatten().find(|container| container["name"] == "sidecar");
    assert!(says(sidecar, &json!({"name": "sidecar"})), "{graph}");
    graph["spec"]["services"]["w"]["extraPodSpec"].as_object_mut().unwrap().remove("containers").unwrap();
    let back = to_v1beta1(&graph);
    absent(&back, &component(".frontendSidecar"));
    assert_eq!(names(at(&back, &component(".podTemplate.spec.containers"))), ["main"], "{back}");
}

#[test]
fn e_15_an_explicit_false_survives() {
    let graph = graph_of_v1beta1(json!({"type": "worker", "experimental": {"grove": {"forceScalingGroup": false}}}));
    let back = to_v1beta1(&to_v1alpha1(&graph));
    said(&back, &component(".experimental.grove.forceScalingGroup"), &json!(false));
}
