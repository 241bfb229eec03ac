//! What is left behind when a release ends. Kinds with small CRDs stand for the others.

use std::time::Duration;

use cluster_tests::objects::{adapter_v1alpha1, request, request_v1alpha1};
use cluster_tests::{Bed, Sandbox, Test, tests, until, version_stored};
use serde_json::{Value, json};

use crate::command::{Ended, NEWER, Person};
use crate::definition::{
    ADAPTERS, Converter, REQUESTS, as_released, change, converted_by, heron, installed, store_in, versions,
};

const PATIENCE: Duration = Duration::from_mins(2);

pub fn tests() -> Vec<Test> {
    tests![
        objects_are_stored_in_one_version_and_read_without_us,
        a_dry_run_changes_nothing_and_conversion_can_be_kept,
        what_can_not_be_stored_anew_keeps_its_conversion,
        run_late_it_mends_what_can_be_mended,
        installing_again_restores_conversion_and_versions,
        what_another_release_converts_is_left_alone,
        nobody_is_surprised,
    ]
}

fn otter() -> Value {
    adapter_v1alpha1("otter")
}

/// One that somebody has deleted, and that waits for somebody else.
fn stork() -> Value {
    let mut stork = adapter_v1alpha1("stork");
    stork["metadata"]["finalizers"] = json!(["zoo.org/asleep"]);
    stork
}

/// A release with adapters in both versions: otter and stork stored in the older one, and heron in the newer. Of otter
/// today's schema thinks nothing.
async fn release_with_a_past(sandbox: &Sandbox) {
    let bed = sandbox.bed();
    for (plural, kind) in [(ADAPTERS, otter()), (REQUESTS, request("marmot"))] {
        as_released(bed, plural).await;
        remove_all(sandbox, &kind, plural).await;
    }
    change(bed, ADAPTERS, |crd| store_in(crd, "v1alpha1")).await;
    store(sandbox, &otter(), "v1alpha1").await;
    store(sandbox, &stork(), "v1alpha1").await;
    sandbox.delete(&stork()).await;
    change(bed, ADAPTERS, |crd| {
        store_in(crd, "v1beta1");
        demand_replicas(crd, 5);
    })
    .await;
    store(sandbox, &heron(), "v1beta1").await;
    sandbox.accepts(&request_v1alpha1("marmot")).await;
}

/// Says how few replicas an adapter may ask for.
fn demand_replicas(crd: &mut Value, minimum: i32) {
    for version in crd["spec"]["versions"].as_array_mut().unwrap() {
        let replicas = version.pointer_mut("/schema/openAPIV3Schema/properties/spec/properties/replicas").unwrap();
        replicas["minimum"] = minimum.into();
    }
}

/// Removes all objects of a kind, which other tests have left, once they can be listed in both versions.
async fn remove_all(sandbox: &Sandbox, kind: &Value, plural: &str) {
    list(sandbox, plural, "v1alpha1").await;
    let client = sandbox.bed().client();
    for object in list(sandbox, plural, "v1beta1").await["items"].as_array().unwrap() {
        let here = sandbox.place(&with_name(kind, &object["metadata"]["name"]), "v1beta1");
        let here = here.replace(sandbox.namespace(), object["metadata"]["namespace"].as_str().unwrap());
        client.merge(&here, &json!({"metadata": {"finalizers": null}})).await.unwrap();
        client.delete(&here).await.unwrap();
    }
}

/// The API server needs a moment after each change of a CRD.
async fn list(sandbox: &Sandbox, plural: &str, version: &str) -> Value {
    let mut list = Value::Null;
    until(&format!("{plural} listed in {version}"), PATIENCE, async || {
        let answer = sandbox.bed().client().get(&format!("/apis/nvidia.com/{version}/{plural}")).await.unwrap();
        list = answer.body;
        answer.status == 200
    })
    .await;
    list
}

fn with_name(object: &Value, name: &Value) -> Value {
    let mut object = object.clone();
    object["metadata"]["name"] = name.clone();
    object
}

/// Creates an object, once the API server has heard in which version to store it.
async fn store(sandbox: &Sandbox, object: &Value, version: &str) {
    let name = object["metadata"]["name"].as_str().unwrap();
    let stored = async || {
        sandbox.accepts(object).await;
        let stored = version_stored(sandbox, ADAPTERS, name).await == version;
        if !stored {
            sandbox.delete(object).await;
        }
        stored
    };
    until(&format!("{name} stored in {version}"), PATIENCE, stored).await;
}

fn report<'a>(document: &'a Value, plural: &str) -> &'a Value {
    let name = format!("{plural}.nvidia.com");
    document["crds"].as_array().unwrap().iter().find(|report| report["name"] == name).unwrap()
}

fn state(ended: &Ended, plural: &str) -> Value {
    report(&ended.document(), plural)["state"].clone()
}

/// Waits until an object is read with a status.
async fn until_read(sandbox: &Sandbox, object: &Value, version: &str, status: u16) {
    let (place, client) = (sandbox.place(object, version), sandbox.bed().client());
    let read = async || client.get(&place).await.unwrap().status == status;
    until(&format!("{status} in {version}"), PATIENCE, read).await;
}

async fn ends_conversion_of(bed: &Bed, plural: &str) {
    let crd = installed(bed, plural).await;
    assert_eq!(crd["spec"]["conversion"], json!({"strategy": "None"}));
    assert_eq!(crd["status"]["storedVersions"], json!(["v1beta1"]));
    assert_eq!(versions(&crd, "served"), ["v1beta1"]);
}

async fn objects_are_stored_in_one_version_and_read_without_us(sandbox: Sandbox) {
    let (bed, admin) = (sandbox.bed(), Person::admin(sandbox.bed()));
    release_with_a_past(&sandbox).await;
    let before = sandbox.read(&otter(), "v1beta1").await;

    let ended = admin.uninstalls(&["--yes"]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    let document = ended.document();
    let adapters = report(&document, ADAPTERS);
    assert_eq!(adapters["objects"], json!({"found": 3, "rewritten": 2, "refused": []}));
    assert_eq!(adapters["noLongerServed"], json!(["v1alpha1"]));
    assert_eq!(report(&document, REQUESTS)["objects"]["found"], 0, "they were stored in one version before");
    for name in ["otter", "stork"] {
        assert_eq!(version_stored(&sandbox, ADAPTERS, name).await, "v1beta1");
    }
    ends_conversion_of(bed, ADAPTERS).await;
    ends_conversion_of(bed, REQUESTS).await;

    until_read(&sandbox, &otter(), "v1alpha1", 404).await;
    let mut after = sandbox.read(&otter(), "v1beta1").await;
    assert_ne!(after["metadata"]["resourceVersion"], before["metadata"]["resourceVersion"]);
    after["metadata"]["resourceVersion"] = before["metadata"]["resourceVersion"].clone();
    assert_eq!(after, before, "nothing else has changed");
    bed.client().delete(&sandbox.place(&otter(), "v1beta1")).await.unwrap().granted().unwrap();
    sandbox.delete(&heron()).await;
    assert_eq!(state(&admin.uninstalls(&["--yes"]).await, ADAPTERS), "nothingToDo");
}

async fn a_dry_run_changes_nothing_and_conversion_can_be_kept(sandbox: Sandbox) {
    let (bed, admin) = (sandbox.bed(), Person::admin(sandbox.bed()));
    release_with_a_past(&sandbox).await;
    let before = installed(bed, ADAPTERS).await;
    let ended = admin.uninstalls(&["--dry-run"]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(report(&ended.document(), ADAPTERS)["objects"]["found"], 3);
    assert!(ended.stderr.contains("nothing was changed"), "{ended:?}");
    assert_eq!(installed(bed, ADAPTERS).await, before);
    assert_eq!(version_stored(&sandbox, ADAPTERS, "otter").await, "v1alpha1");

    let ended = admin.uninstalls(&["--keep-conversion", "--yes"]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    let crd = installed(bed, ADAPTERS).await;
    assert_eq!(crd["status"]["storedVersions"], json!(["v1beta1"]));
    assert_eq!(crd["spec"], before["spec"]);
    assert_eq!(version_stored(&sandbox, ADAPTERS, "otter").await, "v1beta1");
}

/// Somebody else's policy lets nobody touch the status of otter.
async fn what_can_not_be_stored_anew_keeps_its_conversion(sandbox: Sandbox) {
    let (bed, admin) = (sandbox.bed(), Person::admin(sandbox.bed()));
    release_with_a_past(&sandbox).await;
    let name = sandbox.namespace();
    let resources = format!("{ADAPTERS}/status");
    let rule =
        json!({"apiGroups": ["nvidia.com"], "apiVersions": ["*"], "operations": ["UPDATE"], "resources": [resources]});
    let asleep = json!({"expression": "object.metadata.name != 'otter'", "message": "otter is asleep"});
    let policy = json!({"matchConstraints": {"resourceRules": [rule]}, "validations": [asleep]});
    let binding = json!({"policyName": name, "validationActions": ["Deny"]});
    let path = |plural: &str| format!("/apis/admissionregistration.k8s.io/v1/{plural}");
    let objects = [(path("validatingadmissionpolicies"), policy), (path("validatingadmissionpolicybindings"), binding)];
    for (path, spec) in &objects {
        let object = json!({"metadata": {"name": name}, "spec": spec});
        bed.client().post(path, &object).await.unwrap().granted().unwrap();
    }
    let status = format!("{}/status?dryRun=All", sandbox.place(&otter(), "v1beta1"));
    let denied = async || bed.client().merge(&status, &json!({})).await.unwrap().status.is_client_error();
    until("the policy at work", PATIENCE, denied).await;

    let ended = admin.uninstalls(&["--yes"]).await;
    assert_eq!(ended.code, 1, "{ended:?}");
    let document = ended.document();
    let adapters = report(&document, ADAPTERS);
    assert_eq!(adapters["state"], "remains");
    let refused = &adapters["objects"]["refused"][0];
    assert_eq!((&refused["name"], &refused["namespace"]), (&json!("otter"), &json!(name)));
    assert!(refused["why"].to_string().contains("otter is asleep"), "{refused}");
    assert_eq!(report(&document, REQUESTS)["state"], "done", "the others are done");
    assert_eq!(installed(bed, ADAPTERS).await["spec"]["conversion"]["strategy"], "Webhook");
    sandbox.read(&otter(), "v1alpha1").await;

    for (path, _) in &objects {
        bed.client().delete(&format!("{path}/{name}")).await.unwrap().granted().unwrap();
    }
    let allowed = async || bed.client().merge(&status, &json!({})).await.unwrap().status.is_success();
    until("the policy gone", PATIENCE, allowed).await;
    assert_eq!(admin.uninstalls(&["--yes"]).await.code, 0);
    ends_conversion_of(bed, ADAPTERS).await;
}

/// The release was gone before anybody thought of it.
async fn run_late_it_mends_what_can_be_mended(sandbox: Sandbox) {
    let (bed, admin) = (sandbox.bed(), Person::admin(sandbox.bed()));
    release_with_a_past(&sandbox).await;
    for plural in [ADAPTERS, REQUESTS] {
        converted_by(bed, plural, Converter::Gone).await;
    }
    // What it has converted before it knows by heart.
    bed.restart_api_server().await.unwrap();
    let marmot = request("marmot");
    until_read(&sandbox, &marmot, "v1alpha1", 500).await;
    sandbox.read(&marmot, "v1beta1").await;

    let ended = admin.uninstalls(&["--yes"]).await;
    assert_eq!(ended.code, 1, "{ended:?}");
    ends_conversion_of(bed, REQUESTS).await;
    until_read(&sandbox, &marmot, "v1alpha1", 404).await;
    sandbox.read(&marmot, "v1beta1").await;
    let document = ended.document();
    let adapters = report(&document, ADAPTERS);
    assert_eq!(adapters["state"], "remains");
    assert!(adapters["remains"].to_string().contains("conversion webhook"), "{adapters}");
    assert!(ended.stderr.contains("install it once more"), "{ended:?}");
    assert_eq!(installed(bed, ADAPTERS).await["spec"]["conversion"]["strategy"], "Webhook");
    sandbox.delete(&heron()).await;

    converted_by(bed, ADAPTERS, Converter::Local).await;
    until_read(&sandbox, &otter(), "v1beta1", 200).await;
    assert_eq!(admin.uninstalls(&["--yes"]).await.code, 0);
    ends_conversion_of(bed, ADAPTERS).await;
}

async fn installing_again_restores_conversion_and_versions(sandbox: Sandbox) {
    let (bed, admin) = (sandbox.bed(), Person::admin(sandbox.bed()));
    release_with_a_past(&sandbox).await;
    admin.uninstalls(&["--yes"]).await;
    admin.applies(NEWER).await.well();
    let adapters = installed(bed, ADAPTERS).await;
    assert_eq!(adapters["spec"]["conversion"]["strategy"], "Webhook");
    assert_eq!(versions(&adapters, "served"), ["v1alpha1", "v1beta1"]);
    converted_by(bed, ADAPTERS, Converter::Local).await;
    until_read(&sandbox, &otter(), "v1alpha1", 200).await;
    let read = sandbox.read(&otter(), "v1alpha1").await;
    assert_eq!(read["spec"], otter()["spec"]);
}

async fn what_another_release_converts_is_left_alone(sandbox: Sandbox) {
    let (bed, admin) = (sandbox.bed(), Person::admin(sandbox.bed()));
    admin.applies(NEWER).await.well();
    let before = installed(bed, ADAPTERS).await;
    let ended = admin.runs(&["uninstall", "--release", "brook", "-n", "river-system", "--yes"]).await;
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(ended.stdout.contains("converted by the Service river-system/river-"), "{ended:?}");
    assert_eq!(installed(bed, ADAPTERS).await, before);
}

async fn nobody_is_surprised(sandbox: Sandbox) {
    let ended = Person::admin(sandbox.bed()).uninstalls(&[]).await;
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("--dry-run"), "{ended:?}");
}
