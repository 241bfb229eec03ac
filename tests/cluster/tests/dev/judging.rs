//! What a cluster that leads here does, and what is left of it.

use cluster_tests::{Sandbox, Test, refused, tests};
use serde_json::json;

use crate::laptop::{Laptop, PATIENCE, USUAL};
use crate::snapshot::{change_crd, crd, names, snapshot};
use crate::world::World;

pub fn tests() -> Vec<Test> {
    tests![
        a_laptop_judges_and_converts_and_leaves_the_cluster_as_it_was,
        a_crd_with_objects_stays_and_what_others_changed_too,
    ]
}

async fn a_laptop_judges_and_converts_and_leaves_the_cluster_as_it_was(sandbox: Sandbox) {
    let (bed, world) = (sandbox.bed(), World::BROOK);
    bed.install_crds(&[world.otters()]).await.unwrap();
    change_crd(
        bed,
        world,
        "otters",
        &json!({"metadata": {"annotations": {"brook.example.org/converted-by": "zoo/it"}}}),
    )
    .await;
    let before = snapshot(bed, world).await;
    assert_eq!(names(&before), ["otters.brook.example.org"]);

    let running = Laptop::of(&sandbox, world).serves(&USUAL).await;
    let origin = running.origin();
    let during = snapshot(bed, world).await;
    let mut made = names(&during);
    made.sort_unstable();
    let expected = [
        "brook-dev",
        "brook-dev-mutating",
        "brook-dev-validating",
        "lodges.brook.example.org",
        "otters.brook.example.org",
    ];
    assert_eq!(made, expected);
    let config = crd(bed, world, "otters").await["spec"]["conversion"]["webhook"]["clientConfig"].take();
    assert_eq!(config["url"], format!("{origin}/convert"));
    for (_, configuration) in during.iter().filter(|((_, name), _)| name.starts_with("brook-dev-")) {
        assert_eq!(configuration["webhooks"][0]["failurePolicy"], "Ignore", "{configuration}");
    }

    // The API server hears of configurations a moment after they were written.
    let long = world.otter("v2", "long", &json!({"length": 900}));
    let is_judged = async || !sandbox.dry().create(&long).await.status.is_success();
    cluster_tests::until("otters are judged", PATIENCE, is_judged).await;
    let message = refused(sandbox.create(&long).await).message;
    assert!(message.contains("no otter is that long"), "{message}");
    refused(sandbox.create(&world.otter("v1", "long", &json!({"size": 900}))).await);
    let otter = world.otter("v1", "ollie", &json!({"size": 90}));
    sandbox.converts_to(&otter, "v2", &[("/spec/length", json!(90))]).await;
    let is_defaulted = async || sandbox.dry().create(&world.lodge("burrow")).await.body["spec"]["rooms"] == 3;
    cluster_tests::until("lodges are furnished", PATIENCE, is_defaulted).await;

    let printed = running.interrupted().await.well();
    assert!(printed.contains("CustomResourceDefinition otters.brook.example.org: as before\n"), "{printed}");
    assert!(printed.contains("CustomResourceDefinition lodges.brook.example.org: deleted\n"), "{printed}");
    assert_eq!(snapshot(bed, world).await, before);
    sandbox.accepts(&long).await;
}

async fn a_crd_with_objects_stays_and_what_others_changed_too(sandbox: Sandbox) {
    let (bed, world) = (sandbox.bed(), World::CREEK);
    bed.install_crds(&[world.otters()]).await.unwrap();
    let running = Laptop::of(&sandbox, world).serves(&USUAL).await;
    sandbox.accepts(&world.lodge("burrow")).await;
    let service = json!({"namespace": "zoo", "name": "converter", "path": "/convert"});
    let config = json!({"url": null, "service": service, "caBundle": null});
    change_crd(bed, world, "otters", &json!({"spec": {"conversion": {"webhook": {"clientConfig": config}}}})).await;

    running.gets("TERM");
    let printed = running.ends().await.well();
    assert!(printed.contains("lodges.creek.example.org: there are objects of it, so it stays"), "{printed}");
    assert!(printed.contains("otters.creek.example.org: somebody else has changed it meanwhile"), "{printed}");
    let after = snapshot(bed, world).await;
    assert_eq!(names(&after), ["lodges.creek.example.org", "otters.creek.example.org"]);
    assert!(after.values().all(|crd| crd["metadata"].get("annotations").is_none()), "{after:?}");
    let otters = crd(bed, world, "otters").await;
    assert_eq!(otters["spec"]["conversion"]["webhook"]["clientConfig"]["service"]["name"], "converter");
    assert_eq!(crd(bed, world, "lodges").await["spec"]["conversion"], json!({"strategy": "None"}));
}
