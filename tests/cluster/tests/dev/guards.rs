//! Clusters that are left alone until a person says otherwise.

use cluster_tests::{Sandbox, Test, tests};
use serde_json::json;

use crate::laptop::{Laptop, USUAL};
use crate::snapshot::snapshot;
use crate::world::World;

pub fn tests() -> Vec<Test> {
    // The nodes are everybody's.
    let alone = tests![a_cluster_that_may_be_one_of_many_people_is_left_alone].into_iter().map(Test::alone);
    let others =
        tests![a_cluster_that_does_not_reach_the_laptop_is_left_alone, an_api_server_of_a_public_address_is_not_asked,];
    alone.chain(others).collect()
}

async fn a_cluster_that_may_be_one_of_many_people_is_left_alone(sandbox: Sandbox) {
    let (bed, world) = (sandbox.bed(), World::DELTA);
    let mut laptop = Laptop::of(&sandbox, world);
    let before = snapshot(bed, world).await;

    let said = laptop.runs(&["--address", ":0"]).await.refused();
    assert!(said.contains("name its context with --context") && said.contains("there are: bed"), "{said}");
    let said = laptop.runs(&["--context", "prod"]).await.refused();
    assert!(said.contains("prod"), "{said}");

    let nodes: Vec<String> = (1..=6).map(|number| format!("delta-{number}")).collect();
    for node in &nodes {
        bed.client().post("/api/v1/nodes", &json!({"metadata": {"name": node}})).await.unwrap().granted().unwrap();
    }
    let said = laptop.runs(&USUAL).await.refused();
    assert!(said.contains("the cluster has 6 nodes, more than the 5 that are allowed"), "{said}");
    assert!(said.contains("--allow-nodes 6"), "{said}");
    assert_eq!(snapshot(bed, world).await, before);

    let running = laptop.serves(&[&USUAL[..], &["--allow-nodes", "6"]].concat()).await;
    running.interrupted().await.well();
    assert_eq!(snapshot(bed, world).await, before);
    for node in &nodes {
        bed.client().delete(&format!("/api/v1/nodes/{node}")).await.unwrap().granted().unwrap();
    }
}

async fn a_cluster_that_does_not_reach_the_laptop_is_left_alone(sandbox: Sandbox) {
    let (bed, world) = (sandbox.bed(), World::ESTUARY);
    let (mut laptop, before) = Laptop::beside_otters(&sandbox, world).await;
    // Nobody listens there.
    let elsewhere = ["--context", "bed", "--address", "127.0.0.1:1", "--listen", "127.0.0.1:0"];
    let said = laptop.runs(&elsewhere).await.refused();
    assert!(said.contains("the API server doesn't reach https://127.0.0.1:1: "), "{said}");
    assert!(said.contains("connection refused") && said.contains("--address"), "{said}");
    assert_eq!(snapshot(bed, world).await, before);
}

async fn an_api_server_of_a_public_address_is_not_asked(sandbox: Sandbox) {
    let mut laptop = Laptop::of(&sandbox, World::ESTUARY);
    // An address for documentation: nobody is there.
    let far = laptop.kubeconfig_of("https://203.0.113.7:6443");
    let arguments = [&USUAL[..], &["--kubeconfig", far.to_str().unwrap()]].concat();
    let said = laptop.runs(&arguments).await.refused();
    assert!(said.contains("203.0.113.7") && said.contains("--allow-public-api-server"), "{said}");
}
