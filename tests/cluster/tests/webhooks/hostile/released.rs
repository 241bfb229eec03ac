//! What v1alpha1 alone lets be written can be released: a controller that speaks v1beta1 changes such an object, writes
//! its status and takes its finalizer off.

use cluster_tests::objects::{component, graph, graph_v1alpha1, object, request, request_v1alpha1, service};
use cluster_tests::{Sandbox, Test, refused, tests};
use serde_json::{Value, json};

use crate::hostile::tenant::{Tenant, VERSIONS, beside_a_neighbour, held};

pub fn tests() -> Vec<Test> {
    tests![
        h5_what_v1beta1_refuses_in_a_new_object_is_changed_and_let_go_in_both_versions,
        h5_what_an_object_gets_while_it_goes_away_does_not_hold_it,
        h5_an_update_through_v1beta1_brings_nothing_that_v1beta1_refuses,
        h1_a_write_of_a_request_leaves_what_is_kept_of_its_status,
    ]
}

/// A worker with the configuration of an endpoint picker.
fn picking() -> Value {
    let mut worker = service("worker");
    worker["eppConfig"] = json!({"config": {"plugins": [{"type": "queue-scorer"}]}});
    worker
}

fn with_service(key: &str, service: Value) -> Value {
    let mut graph = graph_v1alpha1("otter");
    graph["spec"]["services"][key] = service;
    graph
}

fn without_model(config: Value) -> Value {
    let mut request = request_v1alpha1("otter");
    request["spec"]["model"] = "".into();
    request["spec"]["profilingConfig"]["config"] = config;
    request
}

async fn is_changed_in_both_versions(tenant: &Tenant, otter: &Value) {
    for version in VERSIONS {
        let place = tenant.own.place(otter, version);
        let changes = [
            (place.clone(), json!({"metadata": {"labels": {"seen-in": version}}})),
            (format!("{place}/status"), json!({"status": {"conditions": []}})),
        ];
        for (place, change) in changes {
            let answer = tenant.own.client().merge(&place, &change).await.unwrap();
            answer.granted().unwrap_or_else(|why| panic!("{place}: {why}"));
        }
    }
}

async fn h5_what_v1beta1_refuses_in_a_new_object_is_changed_and_let_go_in_both_versions(sandbox: Sandbox) {
    beside_a_neighbour(&sandbox, async |tenant| {
        for written in [
            with_service("Worker", picking()),
            with_service("", service("worker")),
            object("v1alpha1", "DynamoComponentDeployment", "otter", &picking()),
            without_model(json!({})),
            without_model(json!({"planner": {"mode": "disagg"}})),
        ] {
            for version in VERSIONS {
                let otter = tenant.own.accepts(&held(written.clone())).await;
                is_changed_in_both_versions(tenant, &otter).await;
                tenant.removes(&otter, version).await;
            }
        }
    })
    .await;
}

async fn h5_what_an_object_gets_while_it_goes_away_does_not_hold_it(sandbox: Sandbox) {
    beside_a_neighbour(&sandbox, async |tenant| {
        let both_sources =
            json!({"configMapRef": {"name": "c", "key": "k"}, "config": {"plugins": [{"type": "queue-scorer"}]}});
        let picker = json!({"componentType": "epp", "eppConfig": {"config": {"plugins": [{"type": "queue-scorer"}]}}});
        for late in [
            json!({"Worker": {"eppConfig": picker["eppConfig"]}}),
            json!({"Worker": {"eppConfig": both_sources}}),
            json!({"": {"componentType": "worker"}}),
            json!({"one": picker, "other": picker}),
            json!({"worker": {"componentType": "worker"}, "Worker": {"eppConfig": picker["eppConfig"]}}),
        ] {
            let otter = tenant.own.accepts(&held(graph_v1alpha1("otter"))).await;
            let (client, place) = (tenant.own.client(), tenant.own.place(&otter, "v1alpha1"));
            client.delete(&place).await.unwrap().granted().unwrap();
            client.merge(&place, &json!({"spec": {"services": late}})).await.unwrap().granted().unwrap();
            is_changed_in_both_versions(tenant, &otter).await;
            tenant.lets_go(&otter, "v1beta1").await.granted().unwrap_or_else(|why| panic!("{late}: {why}"));
            assert_eq!(client.get(&place).await.unwrap().status, 404);
        }
    })
    .await;
}

async fn h5_an_update_through_v1beta1_brings_nothing_that_v1beta1_refuses(sandbox: Sandbox) {
    let otter = sandbox.accepts(&graph("otter")).await;
    let place = sandbox.place(&otter, "v1beta1");
    let mut picking = component("one", "worker");
    picking["eppConfig"] = json!({"config": {"plugins": [{"type": "queue-scorer"}]}});
    for (added, why) in [
        (vec![component("one", "epp"), component("other", "epp")], "at most one component may have type epp"),
        (vec![component("Decode", "decode")], "component names must differ in more than the case of letters"),
        (vec![picking], "eppConfig may only be set when type is epp"),
    ] {
        let mut components = otter["spec"]["components"].as_array().unwrap().clone();
        components.extend(added);
        let answer = sandbox.client().merge(&place, &json!({"spec": {"components": components}})).await.unwrap();
        let refusal = refused(answer);
        assert!(refusal.message.contains(why), "{}", refusal.message);
    }
}

/// A user who may write a request but not its status has no other way to that status than the annotation.
async fn h1_a_write_of_a_request_leaves_what_is_kept_of_its_status(sandbox: Sandbox) {
    beside_a_neighbour(&sandbox, async |tenant| {
        let otter = tenant.own.accepts(&request("otter")).await;
        let place = tenant.own.place(&otter, "v1beta1");
        let status = json!({"phase": "Deployed", "dgdName": "g", "deploymentInfo": {"replicas": 2}});
        let written = json!({"status": status});
        tenant.own.client().merge(&format!("{place}/status"), &written).await.unwrap().granted().unwrap();
        let before = tenant.reads(&otter).await.map(|read| read["status"].clone());
        assert_eq!(before[0], status);
        let forged = r#"{"phase":"Ready","backend":"forged","deploymentInfo":{"replicas":99}}"#;
        for (kept, version) in
            [Value::Null, forged.into()].iter().flat_map(|kept| VERSIONS.map(|version| (kept, version)))
        {
            let change = json!({"metadata": {"annotations": {"nvidia.com/dgdr-status": kept}}});
            let place = tenant.own.place(&otter, version);
            tenant.own.client().merge(&place, &change).await.unwrap().granted().unwrap();
            let after = tenant.reads(&otter).await.map(|read| read["status"].clone());
            assert_eq!(after, before, "{kept} in {version}");
        }
    })
    .await;
}
