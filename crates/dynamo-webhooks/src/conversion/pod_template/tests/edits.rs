//! Staged edits: an object is converted, edited where it is, and converted back.

use serde_json::json;

use super::*;

fn two_caches() -> Value {
    json!([
        {"name": "a", "mountPoint": "/a", "useAsCompilationCache": true},
        {"name": "b", "mountPoint": "/b", "useAsCompilationCache": true},
    ])
}

fn flagged(name: &str) -> Value {
    json!({"name": name, "mountPoint": format!("/{name}"), "useAsCompilationCache": true})
}

#[test]
fn e_01_a_second_cache_that_the_hub_unmounted_does_not_come_back() {
    let own = json!([{"name": "c", "mountPath": "/c"}]);
    let written = spoke(json!({
        "volumeMounts": two_caches(),
        "extraPodSpec": {"mainContainer": {"volumeMounts": own}},
    }));
    let edited = written.up().edited(|spec| {
        let mounts = spec["podTemplate"]["spec"]["containers"][0]["volumeMounts"].as_array_mut().unwrap();
        mounts.retain(|mount| mount["name"] != "b");
    });
    let back = edited.down();
    assert_eq!(back.json()["volumeMounts"], json!([flagged("a")]));
    assert_eq!(back.json()["extraPodSpec"]["mainContainer"]["volumeMounts"], own);
    assert_eq!(back.up().json(), edited.json());
    assert_eq!(back.up().down().json(), back.json());
}

#[test]
fn a_cache_that_the_hub_unmounted_leaves_the_split_of_the_other_mounts() {
    let own = json!([{"name": "c", "mountPath": "/c"}]);
    let written = spoke(json!({
        "volumeMounts": two_caches(),
        "extraPodSpec": {"mainContainer": {"volumeMounts": own}},
    }));
    let edited = written.up().edited(|spec| spec["podTemplate"]["spec"]["containers"][0]["volumeMounts"] = own.clone());
    let back = edited.down();
    assert_eq!(back.json()["volumeMounts"], json!([flagged("a")]));
    assert_eq!(back.json()["extraPodSpec"]["mainContainer"]["volumeMounts"], own);
    assert_eq!(back.up().json(), edited.json());
}

#[test]
fn e_02_a_pod_template_that_the_hub_replaced_mounts_no_second_cache() {
    let replaced = json!({"spec": {"containers": [
        {"name": "main", "volumeMounts": [{"name": "r", "mountPath": "/r"}]},
    ]}});
    let edited = spoke(json!({"volumeMounts": two_caches()})).up().edited(|spec| spec["podTemplate"] = replaced);
    let back = edited.down();
    assert_eq!(back.json()["volumeMounts"], json!([flagged("a"), {"name": "r", "mountPoint": "/r"}]));
    assert_eq!(back.up().json(), edited.json());
}

#[test]
fn e_03_another_compilation_cache_makes_the_remembered_ones_void() {
    let edited = spoke(json!({"volumeMounts": two_caches()}))
        .up()
        .edited(|spec| spec["compilationCache"] = json!({"pvcName": "x", "mountPath": "/x"}));
    let back = edited.down();
    assert_eq!(back.json()["volumeMounts"], json!([flagged("x")]));
    assert_eq!(back.up().json(), edited.json());
}

#[test]
fn e_04_a_split_made_in_v1alpha1_is_kept_in_an_object_of_the_hub() {
    let edited = hub(json!({"podTemplate": {"metadata": {"name": "t"}}})).down().edited(|spec| {
        spec["envs"] = json!([{"name": "FLAT"}]);
        spec["extraPodSpec"] = json!({"mainContainer": {"env": [{"name": "EXTRA"}]}});
    });
    let hub = edited.up();
    assert_eq!(hub.main()["env"], json!([{"name": "FLAT"}, {"name": "EXTRA"}]));
    assert_eq!(hub.json()["podTemplate"]["metadata"]["name"], "t");
    assert_eq!(hub.down().json(), edited.json());
    assert_eq!(hub.down().up().json(), hub.json());
}

#[test]
fn e_05_no_main_container_appears_where_there_was_none() {
    let written = hub(json!({"podTemplate": {"spec": {"nodeSelector": {"pool": "h100"}}}}));
    let lowered = written.down();
    assert_eq!(lowered.entry()["podTemplate"], json!({}));
    assert!(!lowered.has_record());
    assert_eq!(lowered.up().json(), written.json());
}

#[test]
fn e_06_the_order_of_containers_is_kept() {
    let written = hub(json!({"podTemplate": {"spec": {"containers": [
        {"name": "metrics", "image": "m"}, {"name": "main", "image": "i"},
    ]}}}));
    let lowered = written.down();
    let listed = json!({"spec": {"containers": [{"name": "metrics"}, {"name": "main"}]}});
    assert_eq!(lowered.entry()["podTemplate"], listed);
    assert!(!lowered.has_record());
    assert_eq!(lowered.up().json(), written.json());
}

#[test]
fn e_07_an_order_that_can_be_rebuilt_is_not_remembered() {
    let written = hub(json!({"podTemplate": {"metadata": {"name": "t"}, "spec": {"containers": [
        {"name": "main", "image": "i"}, {"name": "metrics", "image": "m"}, {"name": "logger", "image": "l"},
    ]}}}));
    let lowered = written.down();
    assert_eq!(lowered.entry()["podTemplate"], json!({"metadata": {"name": "t"}}));
    let swapped = lowered.edited(|spec| spec["extraPodSpec"]["containers"].as_array_mut().unwrap().reverse());
    let template = swapped.up().json()["podTemplate"].clone();
    let names: Vec<_> = template["spec"]["containers"].as_array().unwrap().iter().map(|each| &each["name"]).collect();
    assert_eq!(names, ["main", "logger", "metrics"]);
    assert_eq!(template["metadata"]["name"], "t");
}

#[test]
fn e_08_a_secret_with_more_to_say_stays_with_the_main_container() {
    let optional = json!([{"secretRef": {"name": "s", "optional": true}}]);
    let edited = spoke(json!({"envFromSecret": "s"}))
        .up()
        .edited(|spec| spec["podTemplate"]["spec"]["containers"][0]["envFrom"] = optional.clone());
    let back = edited.down();
    assert_eq!(back.json()["envFromSecret"], Value::Null);
    assert_eq!(back.json()["extraPodSpec"]["mainContainer"]["envFrom"], optional);
    assert_eq!(back.up().json(), edited.json());
}

fn with_security_context() -> Hub {
    let sidecar = json!({"image": "r/fe:1", "args": ["-p"], "envs": [{"name": "A"}], "envFromSecret": "s"});
    spoke(json!({"frontendSidecar": sidecar})).up().edited(|spec| {
        spec["podTemplate"]["spec"]["containers"][1]["securityContext"] = json!({"runAsNonRoot": true});
    })
}

#[test]
fn e_09_what_the_sidecar_has_more_in_the_hub_is_remembered_alone() {
    let edited = with_security_context();
    let back = edited.down();
    assert_eq!(back.json()["extraPodSpec"], Value::Null);
    let containers = back.entry()["podTemplate"]["spec"]["containers"].clone();
    let sidecar = json!({"name": "sidecar-frontend", "securityContext": {"runAsNonRoot": true}});
    assert_eq!(containers, json!([{"name": "main"}, sidecar]));
    assert!(!back.has_record());
    assert_eq!(back.up().json(), edited.json());
}

#[test]
fn e_10_a_sidecar_removed_in_v1alpha1_is_gone_with_all_it_had() {
    let removed =
        with_security_context().down().edited(|spec| drop(spec.as_object_mut().unwrap().remove("frontendSidecar")));
    let hub = removed.up().json();
    assert_eq!(hub["frontendSidecar"], Value::Null);
    assert_eq!(hub["podTemplate"]["spec"]["containers"], json!([{"name": "main"}]));
}

#[test]
fn e_11_a_reference_goes_with_its_container() {
    let written = hub(json!({
        "frontendSidecar": "sidecar",
        "podTemplate": {"spec": {"containers": [{"name": "main", "image": "i"}, {"name": "sidecar", "image": "s"}]}},
    }));
    let lowered = written.down();
    assert_eq!(lowered.entry()["podTemplate"]["spec"]["containers"], json!([{"name": "sidecar"}]));
    assert_eq!(lowered.entry()["frontendSidecar"], "sidecar");
    assert_eq!(lowered.up().json(), written.json());
    let removed =
        lowered.edited(|spec| drop(spec["extraPodSpec"].as_object_mut().unwrap().remove("containers"))).up().json();
    assert_eq!(removed["frontendSidecar"], Value::Null);
    assert_eq!(removed["podTemplate"]["spec"]["containers"], json!([{"name": "main", "image": "i"}]));
}
