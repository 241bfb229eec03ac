//! The book's staged edits (section 10): an object is converted, edited in the other version, and converted back.

use serde_json::{Value, json};

use super::convert;
use super::preserved::{component, held, hub, spoke, to_hub, to_spoke};

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

#[test]
fn shared_memory_that_was_removed_stays_removed() {
    let mut lifted = to_hub(&service(json!({"sharedMemory": {"disabled": true, "size": "1Gi"}})));
    assert_eq!(w(&mut lifted)["sharedMemorySize"], "0");
    assert_eq!(w(&mut to_spoke(&lifted))["sharedMemory"], json!({"disabled": true, "size": "1Gi"}));
    w(&mut lifted).as_object_mut().unwrap().remove("sharedMemorySize");
    assert_eq!(w(&mut to_spoke(&lifted)).get("sharedMemory"), None);
}

#[test]
fn a_second_cache_that_was_never_mounted_outlives_a_pod_without_a_main_container() {
    let caches = json!([
        {"name": "c", "useAsCompilationCache": true},
        {"name": "d", "mountPoint": "/d", "useAsCompilationCache": true},
    ]);
    let mut lifted = to_hub(&service(json!({"volumeMounts": caches})));
    assert_eq!(w(&mut lifted).get("podTemplate"), None);
    w(&mut lifted)["podTemplate"] = json!({"metadata": {"labels": {"a": "b"}}});
    let mut lowered = to_spoke(&lifted);
    assert_eq!(w(&mut lowered)["volumeMounts"], caches);
    assert_eq!(w(&mut lowered)["extraPodMetadata"], json!({"labels": {"a": "b"}}));
    assert_eq!(to_hub(&lowered)["spec"], lifted["spec"]);
}

#[test]
fn a_second_cache_that_was_mounted_goes_with_the_main_container() {
    let mut lifted = to_hub(&service(two_caches(json!({"image": "i", "env": [{"name": "A"}]}))));
    let a = json!([{"name": "a", "mountPoint": "/a", "useAsCompilationCache": true}]);
    w(&mut lifted)["podTemplate"] = json!({"metadata": {"labels": {"a": "b"}}});
    assert_eq!(w(&mut to_spoke(&lifted))["volumeMounts"], a);
    w(&mut lifted).as_object_mut().unwrap().remove("podTemplate");
    assert_eq!(w(&mut to_spoke(&lifted))["volumeMounts"], a);
}

#[test]
fn mounts_of_the_main_container_stay_there_when_a_cache_comes() {
    let own = json!([{"name": "v", "mountPath": "/v", "subPath": "s"}]);
    let main = json!({"image": "x:1", "volumeMounts": own});
    let mut lifted = to_hub(&service(json!({"extraPodSpec": {"mainContainer": main}})));
    w(&mut lifted)["compilationCache"] = json!({"pvcName": "p", "mountPath": "/p"});
    let mut lowered = to_spoke(&lifted);
    assert_eq!(w(&mut lowered)["extraPodSpec"]["mainContainer"], main);
    let p = json!({"name": "p", "mountPoint": "/p", "useAsCompilationCache": true});
    assert_eq!(w(&mut lowered)["volumeMounts"], json!([p]));
    assert_eq!(to_hub(&lowered)["spec"], lifted["spec"]);
}

#[test]
fn mounts_of_the_main_container_stay_there_when_the_cache_changes_or_goes() {
    let own = json!([{"name": "v", "mountPath": "/v", "subPath": "s"}]);
    let cache = |name: &str| json!({"name": name, "mountPoint": format!("/{name}"), "useAsCompilationCache": true});
    let written = json!({"volumeMounts": [cache("p")], "extraPodSpec": {"mainContainer": {"volumeMounts": own}}});
    let read = |lifted: &Value| {
        let mut lowered = to_spoke(lifted);
        let service = w(&mut lowered);
        (service["volumeMounts"].clone(), service["extraPodSpec"]["mainContainer"]["volumeMounts"].clone())
    };
    let p = json!({"name": "p", "mountPoint": "/p"});
    let mut lifted = to_hub(&service(written));
    w(&mut lifted)["compilationCache"] = json!({"pvcName": "q", "mountPath": "/q"});
    assert_eq!(read(&lifted), (json!([cache("q"), p]), own.clone()));
    w(&mut lifted).as_object_mut().unwrap().remove("compilationCache");
    assert_eq!(read(&lifted), (json!([p]), own.clone()));
    w(&mut lifted)["podTemplate"]["spec"]["containers"][0]["volumeMounts"] = own.clone();
    assert_eq!(read(&lifted), (Value::Null, own));
}

#[test]
fn a_pod_spec_that_says_nothing_makes_no_pod_template_and_comes_back() {
    for extra in [
        json!({}),
        json!({"mainContainer": {}}),
        json!({"containers": []}),
        json!({"mainContainer": {"name": "other"}}),
    ] {
        let written = service(json!({"extraPodSpec": extra}));
        let mut lifted = to_hub(&written);
        assert_eq!(w(&mut lifted).get("podTemplate"), None, "{extra}");
        assert_eq!(w(&mut to_spoke(&lifted))["extraPodSpec"], extra);
        w(&mut lifted)["podTemplate"] = json!({"metadata": {"labels": {"a": "b"}}});
        assert_eq!(w(&mut to_spoke(&lifted))["extraPodSpec"], extra);
    }
}

#[test]
fn the_name_of_a_main_container_that_the_go_operator_kept_comes_back() {
    let main = json!({"name": "other", "resources": {}});
    let kept = json!({"version": 1, "spec": {"services": {"w": {"extraPodSpec": {"containers": null, "mainContainer": main}}}}});
    let mut written = hub(json!({"components": [{"name": "w"}]}));
    written["metadata"]["annotations"] = json!({"nvidia.com/dgd-spec": kept.to_string()});
    assert_eq!(w(&mut to_spoke(&written))["extraPodSpec"], json!({"mainContainer": main}));
}

/// The port that the main container's probe asks, where both halves name one.
fn merged_port(of_service: Value, of_main_container: Value) -> Value {
    let probe = |port: &Value| json!({"httpGet": {"port": port}});
    let written = service(json!({
        "readinessProbe": probe(&of_service),
        "extraPodSpec": {"mainContainer": {"readinessProbe": probe(&of_main_container)}},
    }));
    let mut lifted = to_hub(&written);
    assert_eq!(w(&mut to_spoke(&lifted)).to_owned(), w(&mut written.clone()).to_owned());
    w(&mut lifted)["podTemplate"]["spec"]["containers"][0]["readinessProbe"]["httpGet"]["port"].clone()
}

#[test]
fn a_number_does_not_take_the_place_of_a_name_of_a_port() {
    assert_eq!(merged_port(json!("http"), json!(8000)), "http");
    assert_eq!(merged_port(json!("http"), json!(0)), "http");
    assert_eq!(merged_port(json!(8000), json!("http")), "http");
    assert_eq!(merged_port(json!(8000), json!(9000)), 9000);
    assert_eq!(merged_port(json!(8000), json!(0)), 8000);
    assert_eq!(merged_port(json!("http"), json!("grpc")), "grpc");
}
