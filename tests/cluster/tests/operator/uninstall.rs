//! What is left behind when a release ends.

use std::time::Duration;

use cluster_tests::objects::{graph, graph_v1alpha1, request_v1alpha1};
use cluster_tests::{Bed, Sandbox, Test, Webhooks, tests, until};
use serde_json::{Value, json};

use crate::command::{Ended, Person};
use crate::definition::{
    GRAPHS, change, convert_by_local_server, installed, name_no_service, remove_objects, store_in, versions,
};
use crate::store::version_stored;

const REQUESTS: &str = "dynamographdeploymentrequests";

pub fn tests() -> Vec<Test> {
    tests![
        objects_are_stored_in_one_version_and_read_without_us,
        a_dry_run_changes_nothing_and_conversion_can_be_kept,
        what_can_not_be_stored_anew_keeps_its_conversion,
        run_late_it_mends_what_can_be_mended,
        what_another_release_converts_is_left_alone,
        nobody_is_surprised,
    ]
}

/// The webhooks of a release with graphs in both versions: otter stored in the older one, and heron in the newer.
async fn release_with_a_past(sandbox: &Sandbox) -> Webhooks {
    let bed = sandbox.bed();
    name_no_service(bed).await;
    let webhooks = Webhooks::install(bed).await.unwrap();
    until_converted(bed).await;
    for plural in [GRAPHS, REQUESTS] {
        remove_objects(bed, plural).await;
    }
    change(bed, GRAPHS, |crd| store_in(crd, "v1alpha1")).await;
    until("otter stored in v1alpha1", Duration::from_secs(20), async || {
        sandbox.accepts(&graph_v1alpha1("otter")).await;
        let stored = version_stored(GRAPHS, sandbox.namespace(), "otter").await == "v1alpha1";
        if !stored {
            sandbox.delete(&graph_v1alpha1("otter")).await;
        }
        stored
    })
    .await;
    change(bed, GRAPHS, |crd| store_in(crd, "v1beta1")).await;
    until("heron stored in v1beta1", Duration::from_secs(20), async || {
        sandbox.accepts(&graph("heron")).await;
        let stored = version_stored(GRAPHS, sandbox.namespace(), "heron").await == "v1beta1";
        if !stored {
            sandbox.delete(&graph("heron")).await;
        }
        stored
    })
    .await;
    webhooks
}

/// Objects of both kinds can be listed, whatever version they are stored in.
async fn until_converted(bed: &Bed) {
    for plural in [GRAPHS, REQUESTS] {
        let list = format!("/apis/nvidia.com/v1beta1/{plural}");
        let listed = async || bed.client().get(&list).await.unwrap().status == 200;
        until(&format!("{plural} listed"), Duration::from_secs(20), listed).await;
    }
}

fn report<'a>(document: &'a Value, plural: &str) -> &'a Value {
    let name = format!("{plural}.nvidia.com");
    document["crds"].as_array().unwrap().iter().find(|report| report["name"] == name).unwrap()
}

fn state(ended: &Ended, plural: &str) -> Value {
    report(&ended.document(), plural)["state"].clone()
}

/// Waits until only one version is served.
async fn until_unserved(sandbox: &Sandbox, object: &Value, version: &str) {
    let (place, client) = (sandbox.place(object, version), sandbox.bed().client());
    let gone = async || client.get(&place).await.unwrap().status == 404;
    until(&format!("{version} unserved"), Duration::from_secs(10), gone).await;
}

async fn objects_are_stored_in_one_version_and_read_without_us(sandbox: Sandbox) {
    let (bed, admin) = (sandbox.bed(), Person::admin(sandbox.bed()));
    let mut webhooks = release_with_a_past(&sandbox).await;
    sandbox.accepts(&request_v1alpha1("marmot")).await;
    let before = sandbox.read(&graph("otter"), "v1beta1").await;

    let ended = admin.uninstalls(&["--yes"]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    let document = ended.document();
    let graphs = report(&document, GRAPHS);
    assert_eq!(graphs["objects"], json!({"found": 2, "rewritten": 1, "refused": []}));
    assert_eq!(graphs["noLongerServed"], json!(["v1alpha1"]));
    assert_eq!(report(&document, REQUESTS)["objects"]["found"], 0, "they were stored in one version before");
    assert_eq!(version_stored(GRAPHS, sandbox.namespace(), "otter").await, "v1beta1");

    webhooks.kill();
    for plural in [GRAPHS, REQUESTS] {
        let crd = installed(bed, plural).await;
        assert_eq!(crd["spec"]["conversion"], json!({"strategy": "None"}));
        assert_eq!(crd["status"]["storedVersions"], json!(["v1beta1"]));
        assert_eq!(versions(&crd, "served"), ["v1beta1"]);
    }
    until_unserved(&sandbox, &graph("otter"), "v1alpha1").await;
    let mut after = sandbox.read(&graph("otter"), "v1beta1").await;
    assert_ne!(after["metadata"]["resourceVersion"], before["metadata"]["resourceVersion"]);
    after["metadata"]["resourceVersion"] = before["metadata"]["resourceVersion"].clone();
    assert_eq!(after, before, "nothing else has changed");
    sandbox.delete(&graph("otter")).await;
    sandbox.delete(&graph("heron")).await;
    assert_eq!(state(&admin.uninstalls(&["--yes"]).await, GRAPHS), "nothingToDo");

    installing_again_restores_both(&sandbox, webhooks).await;
}

async fn installing_again_restores_both(sandbox: &Sandbox, mut webhooks: Webhooks) {
    let bed = sandbox.bed();
    Person::admin(bed).applies("1.0.0").await.well();
    let requests = installed(bed, REQUESTS).await;
    assert_eq!(requests["spec"]["conversion"]["strategy"], "Webhook");
    assert_eq!(versions(&requests, "served").len(), 2);
    convert_by_local_server(bed).await;
    webhooks.restart(bed).await.unwrap();
    let place = sandbox.place(&request_v1alpha1("marmot"), "v1alpha1");
    let read = async || bed.client().get(&place).await.unwrap().status == 200;
    until("marmot read in v1alpha1", Duration::from_secs(10), read).await;
    sandbox.accepts(&graph_v1alpha1("lynx")).await;
}

async fn a_dry_run_changes_nothing_and_conversion_can_be_kept(sandbox: Sandbox) {
    let (bed, admin) = (sandbox.bed(), Person::admin(sandbox.bed()));
    let _webhooks = release_with_a_past(&sandbox).await;
    let before = installed(bed, GRAPHS).await;
    let ended = admin.uninstalls(&["--dry-run"]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(report(&ended.document(), GRAPHS)["objects"]["found"], 2);
    assert_eq!(installed(bed, GRAPHS).await, before);
    assert_eq!(version_stored(GRAPHS, sandbox.namespace(), "otter").await, "v1alpha1");

    let ended = admin.uninstalls(&["--keep-conversion", "--yes"]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    let crd = installed(bed, GRAPHS).await;
    assert_eq!(crd["status"]["storedVersions"], json!(["v1beta1"]));
    assert_eq!(crd["spec"]["conversion"]["strategy"], "Webhook");
    assert_eq!(versions(&crd, "served").len(), 2);
    sandbox.read(&graph("otter"), "v1alpha1").await;
}

/// Somebody else's policy lets nobody touch the status of otter.
async fn what_can_not_be_stored_anew_keeps_its_conversion(sandbox: Sandbox) {
    let (bed, admin) = (sandbox.bed(), Person::admin(sandbox.bed()));
    let _webhooks = release_with_a_past(&sandbox).await;
    let name = sandbox.namespace();
    let rule = json!({
        "apiGroups": ["nvidia.com"], "apiVersions": ["*"], "operations": ["UPDATE"],
        "resources": ["dynamographdeployments/status"],
    });
    let policy = json!({
        "metadata": {"name": name},
        "spec": {
            "matchConstraints": {"resourceRules": [rule]},
            "validations": [{"expression": "object.metadata.name != 'otter'", "message": "otter is asleep"}],
        },
    });
    let binding = json!({"metadata": {"name": name}, "spec": {"policyName": name, "validationActions": ["Deny"]}});
    let path = |plural: &str| format!("/apis/admissionregistration.k8s.io/v1/{plural}");
    let (policies, bindings) = (path("validatingadmissionpolicies"), path("validatingadmissionpolicybindings"));
    bed.client().post(&policies, &policy).await.unwrap().granted().unwrap();
    bed.client().post(&bindings, &binding).await.unwrap().granted().unwrap();
    let status = format!("{}/status?dryRun=All", sandbox.place(&graph("otter"), "v1beta1"));
    let denied = async || bed.client().merge(&status, &json!({})).await.unwrap().status.is_client_error();
    until("the policy at work", Duration::from_secs(30), denied).await;

    let ended = admin.uninstalls(&["--yes"]).await;
    assert_eq!(ended.code, 1, "{ended:?}");
    let document = ended.document();
    let graphs = report(&document, GRAPHS);
    assert_eq!(graphs["state"], "remains");
    let refused = &graphs["objects"]["refused"][0];
    assert_eq!((&refused["name"], &refused["namespace"]), (&json!("otter"), &json!(name)));
    assert!(refused["why"].to_string().contains("otter is asleep"), "{refused}");
    assert_eq!(report(&document, REQUESTS)["state"], "done", "the others are done");
    let crd = installed(bed, GRAPHS).await;
    assert_eq!(crd["spec"]["conversion"]["strategy"], "Webhook");
    sandbox.read(&graph("otter"), "v1alpha1").await;

    bed.client().delete(&format!("{bindings}/{name}")).await.unwrap().granted().unwrap();
    bed.client().delete(&format!("{policies}/{name}")).await.unwrap().granted().unwrap();
    let allowed = async || bed.client().merge(&status, &json!({})).await.unwrap().status.is_success();
    until("the policy gone", Duration::from_secs(30), allowed).await;
    assert_eq!(admin.uninstalls(&["--yes"]).await.code, 0);
}

/// The release was gone before anybody thought of it.
async fn run_late_it_mends_what_can_be_mended(sandbox: Sandbox) {
    let (bed, admin) = (sandbox.bed(), Person::admin(sandbox.bed()));
    let mut webhooks = release_with_a_past(&sandbox).await;
    sandbox.accepts(&request_v1alpha1("marmot")).await;
    webhooks.kill();
    // What it has converted before it knows by heart.
    bed.restart_api_server().await.unwrap();
    let marmot = request_v1alpha1("marmot");
    sandbox.read(&marmot, "v1beta1").await;
    let unreadable = bed.client().get(&sandbox.place(&marmot, "v1alpha1")).await.unwrap();
    assert_eq!(unreadable.status, 500);

    let ended = admin.uninstalls(&["--yes"]).await;
    assert_eq!(ended.code, 1, "{ended:?}");
    assert_eq!(state(&ended, REQUESTS), "done");
    until_unserved(&sandbox, &marmot, "v1alpha1").await;
    sandbox.read(&marmot, "v1beta1").await;
    let document = ended.document();
    let graphs = report(&document, GRAPHS);
    assert_eq!(graphs["state"], "remains");
    assert!(graphs["remains"].to_string().contains("conversion webhook"), "{graphs}");
    assert!(ended.stderr.contains("install it once more"), "{ended:?}");
    assert_eq!(installed(bed, GRAPHS).await["spec"]["conversion"]["strategy"], "Webhook");

    webhooks.restart(bed).await.unwrap();
    let readable = async || bed.client().get(&sandbox.place(&graph("otter"), "v1beta1")).await.unwrap().status == 200;
    until("otter converted", Duration::from_secs(10), readable).await;
    assert_eq!(admin.uninstalls(&["--yes"]).await.code, 0);
    webhooks.kill();
    sandbox.read(&graph("otter"), "v1beta1").await;
}

async fn what_another_release_converts_is_left_alone(sandbox: Sandbox) {
    let (bed, admin) = (sandbox.bed(), Person::admin(sandbox.bed()));
    admin.applies("1.0.0").await.well();
    let before = installed(bed, GRAPHS).await;
    let other = ["uninstall", "--release", "brook", "-n", "river-system", "--yes"];
    let ended = admin.runs(&other).await;
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(ended.stdout.contains("converted by the Service river-system/river-"), "{ended:?}");
    assert_eq!(installed(bed, GRAPHS).await, before);
    assert_eq!(admin.uninstalls(&["--yes"]).await.code, 0);
}

async fn nobody_is_surprised(sandbox: Sandbox) {
    let ended = Person::admin(sandbox.bed()).uninstalls(&[]).await;
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("--dry-run"), "{ended:?}");
}
