//! The book's staged edits (section 10): an object is converted, edited in the other version, and converted back.

use serde_json::{Value, json};

use super::convert;
use super::keeping::{component, held, hub, spoke, to_hub, to_spoke};

/// A v1beta1 graph with one component, called `w`, of this pod.
fn pod(pod: Value) -> Value {
    hub(json!({"components": [{"name": "w", "podTemplate": pod}]}))
}

/// A v1alpha1 graph with one service, called `w`.
fn service(service: Value) -> Value {
    spoke(json!({"services": {"w": service}}))
}

/// The one component.
fn w(graph: &mut Value) -> &mut Value {
    if graph["apiVersion"] == "nvidia.com/v1beta1" {
        &mut graph["spec"]["components"][0]
    } else {
        &mut graph["spec"]["services"]["w"]
    }
}

fn container_names(graph: &Value) -> Vec<&str> {
    let containers = graph["spec"]["components"][0]["podTemplate"]["spec"]["containers"].as_array();
    containers.into_iter().flatten().map(|each| each["name"].as_str().unwrap()).collect()
}

/// A service that mounts two caches, and something by its main container.
fn two_caches(main_container: Value) -> Value {
    let cache = |name: &str| json!({"name": name, "mountPoint": format!("/{name}"), "useAsCompilationCache": true});
    let mut service = json!({"componentType": "worker", "volumeMounts": [cache("a"), cache("b")]});
    if !main_container.is_null() {
        service["extraPodSpec"] = json!({"mainContainer": main_container});
    }
    service
}

#[test]
fn e_01_a_cache_that_is_no_longer_mounted_is_no_mount_of_the_service() {
    let c = json!({"name": "c", "mountPath": "/c"});
    let mut lifted = to_hub(&service(two_caches(json!({"image": "i", "volumeMounts": [c]}))));
    let mounts = &mut w(&mut lifted)["podTemplate"]["spec"]["containers"][0]["volumeMounts"];
    mounts.as_array_mut().unwrap().retain(|mount| mount["name"] != "b");
    let lowered = to_spoke(&lifted);
    let read = |graph: &Value| {
        let service = &graph["spec"]["services"]["w"];
        (service["volumeMounts"].clone(), service["extraPodSpec"]["mainContainer"]["volumeMounts"].clone())
    };
    let a = json!({"name": "a", "mountPoint": "/a", "useAsCompilationCache": true});
    assert_eq!(read(&lowered), (json!([a]), json!([c])));
    assert_eq!(read(&to_spoke(&to_hub(&lowered))), (json!([a]), json!([c])));
}

#[test]
fn e_02_a_pod_that_was_replaced_mounts_nothing_of_old() {
    let mut lifted = to_hub(&service(two_caches(Value::Null)));
    let main = json!({"name": "main", "volumeMounts": [{"name": "r", "mountPath": "/r"}]});
    w(&mut lifted)["podTemplate"] = json!({"spec": {"containers": [main]}});
    let expected = json!([
        {"name": "a", "mountPoint": "/a", "useAsCompilationCache": true},
        {"name": "r", "mountPoint": "/r"},
    ]);
    assert_eq!(to_spoke(&lifted)["spec"]["services"]["w"]["volumeMounts"], expected);
}

#[test]
fn e_03_another_cache_forgets_those_of_old() {
    let mut lifted = to_hub(&service(two_caches(Value::Null)));
    w(&mut lifted)["compilationCache"] = json!({"pvcName": "new", "mountPath": "/new"});
    let expected = json!([{"name": "new", "mountPoint": "/new", "useAsCompilationCache": true}]);
    assert_eq!(to_spoke(&lifted)["spec"]["services"]["w"]["volumeMounts"], expected);
}

#[test]
fn e_04_where_variables_were_written_is_remembered_of_a_service_that_v1beta1_made() {
    let written = pod(json!({"metadata": {"name": "t"}, "spec": {"containers": [{"name": "main", "image": "i"}]}}));
    let mut lowered = to_spoke(&written);
    w(&mut lowered)["envs"] = json!([{"name": "FLAT", "value": "1"}]);
    w(&mut lowered)["extraPodSpec"]["mainContainer"]["env"] = json!([{"name": "EXTRA", "value": "2"}]);
    let back = to_spoke(&to_hub(&lowered));
    assert_eq!(back["spec"]["services"], lowered["spec"]["services"]);
}

#[test]
fn e_05_a_pod_without_containers_gets_none() {
    let written = component("v1beta1", json!({"name": "w", "podTemplate": {"spec": {"nodeSelector": {"a": "b"}}}}));
    assert_eq!(to_hub(&to_spoke(&written)), written);
}

#[test]
fn e_06_the_order_of_containers_is_kept() {
    let containers = json!([{"name": "metrics", "image": "m"}, {"name": "main", "image": "i"}]);
    let written = pod(json!({"spec": {"containers": containers}}));
    assert_eq!(to_hub(&to_spoke(&written)), written);
}

#[test]
fn e_07_containers_in_an_order_that_can_be_rebuilt_are_not_recorded() {
    let containers = ["main", "metrics", "logger"].map(|name| json!({"name": name, "image": "i"}));
    let mut lowered = to_spoke(&pod(json!({"metadata": {"name": "t"}, "spec": {"containers": containers}})));
    let kept = held(&lowered, "nvidia.com/dgd-spec")["spec"]["components"][0]["podTemplate"].clone();
    assert_eq!(kept["metadata"], json!({"name": "t"}));
    assert_eq!(kept["spec"].get("containers").filter(|list| !list.is_null()), None, "{kept}");
    w(&mut lowered)["extraPodSpec"]["containers"].as_array_mut().unwrap().swap(0, 1);
    let lifted = to_hub(&lowered);
    assert_eq!(container_names(&lifted), ["main", "logger", "metrics"]);
    assert_eq!(lifted["spec"]["components"][0]["podTemplate"]["metadata"]["name"], "t");
}

#[test]
fn e_08_an_optional_secret_is_no_plain_reference() {
    let mut lifted = to_hub(&service(json!({"envFromSecret": "s"})));
    let reference = json!([{"secretRef": {"name": "s", "optional": true}}]);
    w(&mut lifted)["podTemplate"]["spec"]["containers"][0]["envFrom"] = reference.clone();
    let mut lowered = to_spoke(&lifted);
    assert_eq!(w(&mut lowered)["extraPodSpec"]["mainContainer"]["envFrom"], reference);
    assert_eq!(w(&mut lowered).get("envFromSecret"), None);
    assert_eq!(to_hub(&lowered)["spec"], lifted["spec"]);
}

/// A graph with a generated sidecar, to which a user of v1beta1 gave a security context, in v1beta1 and in v1alpha1.
fn secured_sidecar() -> (Value, Value) {
    let sidecar = json!({"image": "r/fe:1", "args": ["a"], "envFromSecret": "s", "envs": [{"name": "A"}]});
    let mut lifted = to_hub(&service(json!({"frontendSidecar": sidecar})));
    w(&mut lifted)["podTemplate"]["spec"]["containers"][1]["securityContext"] = json!({"runAsUser": 1});
    let lowered = to_spoke(&lifted);
    (lifted, lowered)
}

#[test]
fn e_09_what_a_user_of_v1beta1_adds_to_the_generated_sidecar_is_recorded_alone() {
    let (lifted, lowered) = secured_sidecar();
    let component = held(&lowered, "nvidia.com/dgd-spec")["spec"]["components"][0].clone();
    let containers = component["podTemplate"]["spec"]["containers"].as_array().unwrap();
    let sidecar = containers.iter().find(|each| each["name"] == "sidecar-frontend").unwrap();
    assert_eq!(*sidecar, json!({"name": "sidecar-frontend", "securityContext": {"runAsUser": 1}}));
    assert_eq!(to_hub(&lowered)["spec"], lifted["spec"]);
}

#[test]
fn e_10_a_sidecar_that_was_removed_stays_away() {
    let (_, mut lowered) = secured_sidecar();
    w(&mut lowered).as_object_mut().unwrap().remove("frontendSidecar");
    let mut lifted = to_hub(&lowered);
    assert_eq!(w(&mut lifted).get("frontendSidecar"), None);
    assert!(!container_names(&lifted).contains(&"sidecar-frontend"));
}

#[test]
fn e_11_a_sidecar_of_another_name_goes_with_its_container() {
    let containers = json!([{"name": "main", "image": "i"}, {"name": "sidecar", "image": "s"}]);
    let template = json!({"spec": {"containers": containers}});
    let written = hub(json!({"components": [{"name": "w", "frontendSidecar": "sidecar", "podTemplate": template}]}));
    let mut lowered = to_spoke(&written);
    assert_eq!(to_hub(&lowered), written);
    let kept = held(&lowered, "nvidia.com/dgd-spec")["spec"]["components"][0].clone();
    assert_eq!(kept["frontendSidecar"], "sidecar");
    let listed = kept["podTemplate"]["spec"]["containers"].as_array().unwrap();
    assert!(listed.contains(&json!({"name": "sidecar"})), "{kept}");
    w(&mut lowered)["extraPodSpec"].as_object_mut().unwrap().remove("containers");
    let mut lifted = to_hub(&lowered);
    assert_eq!(w(&mut lifted).get("frontendSidecar"), None);
    assert_eq!(container_names(&lifted), ["main"]);
}

#[test]
fn what_conversion_kept_can_always_be_read_again() {
    let (_, lowered) = secured_sidecar();
    assert!(convert(&lowered, "v1beta1").unwrap().1.is_empty());
}
