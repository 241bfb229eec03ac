//! Annotations in which conversion keeps something, in the hands of somebody who knows their form.

use cluster_tests::objects::{graph, graph_v1alpha1, object, service};
use cluster_tests::{Sandbox, Test, tests, version_of};
use serde_json::{Value, json};

use crate::hostile::tenant::{Tenant, VERSIONS, WAYS, Way, beside_a_neighbour, held, other_of};

pub fn tests() -> Vec<Test> {
    tests![
        h0_a_nest_of_thousands_of_objects_is_dropped,
        h1_a_known_field_does_not_come_alive,
        h1_a_status_comes_from_its_subresource_alone,
        h1_what_was_kept_and_then_altered_changes_nothing_that_is_stored,
        h6_a_record_that_replaces_the_whole_is_dropped,
    ]
}

const PRESERVED: &str = "gateward.dev/preserved";

/// A graph of either version, whose second component is called `Worker` or `decode`.
fn graph_of(version: &str, name: &str) -> Value {
    held(if version == "v1beta1" { graph(name) } else { graph_v1alpha1(name) })
}

/// The object with what conversion is said to have kept of a version.
fn keeping(mut object: Value, part: &str, version: &str, kept: &Value) -> Value {
    let annotation = json!({"version": 1, part: {version: kept}}).to_string();
    object["metadata"]["annotations"] = json!({PRESERVED: annotation});
    object
}

/// The object is written in its own version and in the other, in each way, and goes.
async fn is_an_ordinary_one(tenant: &Tenant, object: &Value) {
    let service = if version_of(object) == "v1beta1" { "decode" } else { "Worker" };
    let in_alpha = format!("/spec/services/{service}/replicas");
    for (version, pointer) in [("v1beta1", "/spec/components/1/replicas"), ("v1alpha1", &in_alpha)] {
        for (way, replicas) in WAYS.into_iter().zip(2..) {
            let answer = tenant.sets(object, version, way, pointer, &replicas.into()).await;
            let stored = answer.granted().unwrap_or_else(|why| panic!("{way:?} in {version} of {object}: {why}"));
            assert_eq!(stored.pointer(pointer), Some(&replicas.into()));
            let [beta, _] = tenant.reads(object).await;
            assert_eq!(beta["spec"]["components"][1]["replicas"], replicas);
        }
    }
    tenant.removes(object, other_of(object)).await;
}

async fn h0_a_nest_of_thousands_of_objects_is_dropped(sandbox: Sandbox) {
    beside_a_neighbour(&sandbox, async |tenant| {
        for version in VERSIONS {
            let path: Vec<&str> = std::iter::repeat_n("x", 8000).chain(["y"]).collect();
            let entry = json!([{"path": path, "hollow": 8000, "value": 1}]);
            let otter = graph_of(version, "otter");
            let otter = keeping(otter.clone(), "unknown", other_of(&otter), &entry);
            tenant.stores_as_if_it_had_no_annotations(&otter).await;
            is_an_ordinary_one(tenant, &otter).await;
        }
    })
    .await;
}

async fn h1_a_known_field_does_not_come_alive(sandbox: Sandbox) {
    beside_a_neighbour(&sandbox, async |tenant| {
        let component = |name: &str| json!(["spec", "components", {"name": "Worker"}, name]);
        let service = |name: &str| json!(["spec", "services", "decode", name]);
        let entries = [
            ("v1beta1", component("minAvailable"), json!("abc")),
            ("v1beta1", component("minAvailable"), json!(3)),
            ("v1beta1", component("multinode"), json!({"nodeCount": 2})),
            ("v1beta1", component("experimental"), json!([5])),
            ("v1beta1", json!(["spec", "components", {"name": "Worker"}, "scalingAdapter", "x"]), json!(1)),
            ("v1beta1", json!(["spec", "restart"]), json!({"id": "now"})),
            ("v1alpha1", service("minAvailable"), json!("abc")),
            ("v1alpha1", service("multinode"), json!({"nodeCount": 2})),
            ("v1alpha1", service("ingress"), json!("abc")),
            ("v1alpha1", json!(["spec", "restart"]), json!({"id": "now"})),
        ];
        for (target, path, value) in entries {
            let kept = json!([{"path": path, "hollow": 1, "value": value}]);
            let own = if target == "v1beta1" { "v1alpha1" } else { "v1beta1" };
            let otter = keeping(graph_of(own, "otter"), "unknown", target, &kept);
            tenant.stores_as_if_it_had_no_annotations(&otter).await;
            tenant.removes(&otter, target).await;
        }
        let kept = json!([{"path": component("minAvailable"), "hollow": 1, "value": "abc"}]);
        let otter = keeping(graph_of("v1alpha1", "otter"), "unknown", "v1beta1", &kept);
        tenant.own.accepts(&otter).await;
        is_an_ordinary_one(tenant, &otter).await;
    })
    .await;
}

async fn h1_a_status_comes_from_its_subresource_alone(sandbox: Sandbox) {
    beside_a_neighbour(&sandbox, async |tenant| {
        for version in VERSIONS {
            let otter = graph_of(version, "otter");
            for (path, value) in [
                (json!(["status"]), json!({"state": "successful"})),
                (json!(["status"]), json!("abc")),
                (json!(["status", "state"]), json!("successful")),
            ] {
                let kept = json!([{"path": path, "hollow": 1, "value": value}]);
                let otter = keeping(otter.clone(), "unknown", other_of(&otter), &kept);
                tenant.stores_as_if_it_had_no_annotations(&otter).await;
                // What a controller writes is what is read, whatever the annotation goes on saying.
                let place = tenant.own.place(&otter, version);
                let status = json!({"status": {"state": "pending"}});
                tenant.own.client().merge(&format!("{place}/status"), &status).await.unwrap().granted().unwrap();
                for read in tenant.reads(&otter).await {
                    assert_eq!(read["status"]["state"], "pending", "{read}");
                }
                // An update of the whole leaves it alone.
                let mut read = tenant.own.read(&otter, other_of(&otter)).await;
                read["status"] = json!({"state": "failed"});
                read["metadata"]["annotations"][PRESERVED] = otter["metadata"]["annotations"][PRESERVED].clone();
                tenant.own.replace(&read).await.granted().unwrap();
                for read in tenant.reads(&otter).await {
                    assert_eq!(read["status"]["state"], "pending", "{read}");
                }
                tenant.removes(&otter, version).await;
            }
        }
    })
    .await;
}

/// A service most of which v1beta1 says otherwise or not at all.
fn odd_service() -> Value {
    let mut service = service("worker");
    service["serviceName"] = "another".into();
    service["ingress"] = json!({"enabled": true, "host": "otter.example.org"});
    service["envs"] = json!([{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]);
    service["extraPodSpec"]["mainContainer"]["env"] = json!([{"name": "B", "value": "3"}]);
    service["extraPodSpec"]["containers"] = json!([{"name": "main", "image": "registry.example.org/listed:1"}]);
    service["resources"] = json!({"limits": {"cpu": "0.50", "gpu": "1"}});
    service["sharedMemory"] = json!({"disabled": true});
    service["volumeMounts"] = json!([{"name": "cache", "mountPoint": "/cache", "useAsCompilationCache": true}]);
    service
}

/// Each copy of a document in which one scalar is another or one list is empty, in texts that are JSON too.
fn altered(document: &Value) -> Vec<Value> {
    let mut copies = Vec::new();
    match document {
        Value::Object(members) => {
            for (name, member) in members {
                copies.extend(altered(member).into_iter().map(|member| {
                    let mut copy = members.clone();
                    copy[name] = member;
                    copy.into()
                }));
            }
        }
        Value::Array(items) => {
            copies.push(json!([]));
            for (index, item) in items.iter().enumerate() {
                copies.extend(altered(item).into_iter().map(|item| {
                    let mut copy = items.clone();
                    copy[index] = item;
                    copy.into()
                }));
            }
        }
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(inner) if inner.is_object() || inner.is_array() => {
                copies.extend(altered(&inner).into_iter().map(|inner| inner.to_string().into()));
            }
            _ => copies.extend([json!(2_147_483_648_u64), json!("abc")]),
        },
        _ => copies.extend([json!({"a": [1]}), json!("abc")]),
    }
    copies
}

/// The fingerprint of a record fits, since conversion itself has made it, and the rest is the user's.
async fn h1_what_was_kept_and_then_altered_changes_nothing_that_is_stored(sandbox: Sandbox) {
    beside_a_neighbour(&sandbox, async |tenant| {
        let mut otter = held(graph_v1alpha1("otter"));
        otter["spec"]["pvcs"] = json!([{"name": "cache", "create": false}]);
        otter["spec"]["services"]["Worker"] = odd_service();
        tenant.own.accepts(&otter).await;
        let [honest, _] = tenant.reads(&otter).await;
        let annotations = honest["metadata"]["annotations"].clone();
        let kept =
            json!({PRESERVED: annotations[PRESERVED], "nvidia.com/dgd-spec": annotations["nvidia.com/dgd-spec"]});
        assert!(kept[PRESERVED].is_string(), "nothing is kept: {annotations}");
        for alteration in altered(&kept) {
            let mut forged = honest.clone();
            for (key, value) in alteration.as_object().unwrap() {
                forged["metadata"]["annotations"][key] =
                    value.as_str().map_or_else(|| value.to_string(), str::to_owned).into();
            }
            tenant.own.replace(&forged).await.granted().unwrap();
            let view = tenant.own.read(&otter, "v1alpha1").await;
            let answer = tenant.own.replace(&view).await;
            answer.granted().unwrap_or_else(|why| panic!("{alteration}: {why}"));
            let beta = tenant.own.read(&otter, "v1beta1").await;
            assert_eq!(beta["spec"], honest["spec"], "{alteration}");
        }
        is_an_ordinary_one(tenant, &otter).await;
    })
    .await;
}

async fn h6_a_record_that_replaces_the_whole_is_dropped(sandbox: Sandbox) {
    beside_a_neighbour(&sandbox, async |tenant| {
        let record = json!({"components": {"": {"gateward": {"set": [{"at": [], "is": 1}]}}}});
        let lynx = object("v1alpha1", "DynamoComponentDeployment", "lynx", &service("worker"));
        let lynx = keeping(held(lynx), "known", "v1beta1", &record);
        tenant.stores_as_if_it_had_no_annotations(&lynx).await;
        for (version, way) in VERSIONS.into_iter().flat_map(|version| WAYS.map(|way| (version, way))) {
            tenant.sets(&lynx, version, way, "/spec/replicas", &json!(2)).await.granted().unwrap();
            let [beta, alpha] = tenant.reads(&lynx).await;
            assert_eq!((&beta["spec"]["replicas"], &alpha["spec"]["replicas"]), (&json!(2), &json!(2)));
            tenant.sets(&lynx, version, Way::Put, "/spec/replicas", &json!(1)).await.granted().unwrap();
        }
        tenant.removes(&lynx, "v1beta1").await;
    })
    .await;
}
