//! CRDs as the chart's init step installs and upgrades them.

use cluster_tests::{Conversion, Sandbox, Test, crds, tests};
use serde_json::{Value, json};

use crate::account::Account;
use crate::command::{NAMESPACE, Person, SERVICE};
use crate::definition::{GRAPHS, VERSION, installed, place, plurals, remove, remove_all, store_in, versions};

pub fn tests() -> Vec<Test> {
    tests![
        a_replica_may_install_them,
        the_bundle_stays_with_its_owner,
        a_newer_release_is_left_alone,
        several_at_once_do_no_harm,
        an_api_server_that_restarts_is_waited_for,
        storage_changes_only_where_objects_can_be_converted,
        what_is_no_version_is_refused,
    ]
}

/// With the rights of the chart's `ClusterRole` and no others.
async fn a_replica_may_install_them(sandbox: Sandbox) {
    let bed = sandbox.bed();
    remove_all(bed).await;
    let replica = Account::of_a_replica(&sandbox, "replica").await.kubeconfig();
    let replica = Person::of(bed, &replica);
    let told = replica.applies("0.1.0").await.well();
    assert_eq!(told.matches(": created\n").count(), plurals().count(), "{told}");

    let graphs = installed(bed, GRAPHS).await;
    assert_eq!(graphs["metadata"]["annotations"][VERSION], "0.1.0");
    let service = json!({"name": SERVICE, "namespace": NAMESPACE, "path": "/convert", "port": 443});
    assert_eq!(graphs["spec"]["conversion"]["webhook"]["clientConfig"], json!({"service": service}));
    assert_eq!(versions(&graphs, "storage"), ["v1beta1"]);
    let manager = &graphs["metadata"]["managedFields"][0];
    assert_eq!((&manager["manager"], &manager["operation"]), (&json!("dynamo-crd-apply"), &json!("Apply")));

    let told = replica.applies("0.1.0").await.well();
    assert_eq!(told.matches(": unchanged\n").count(), plurals().count(), "{told}");
}

async fn the_bundle_stays_with_its_owner(sandbox: Sandbox) {
    let (bed, admin) = (sandbox.bed(), Person::admin(sandbox.bed()));
    admin.applies("0.1.0").await.well();
    inject(&sandbox, GRAPHS).await;
    let told = admin.applies("0.2.0").await.well();
    assert!(told.contains("dynamographdeployments.nvidia.com: changed\n"), "{told}");
    let graphs = installed(bed, GRAPHS).await;
    assert_eq!(graphs["metadata"]["annotations"][VERSION], "0.2.0");
    assert!(graphs.pointer("/spec/conversion/webhook/clientConfig/caBundle").is_some());
}

/// Writes a bundle, as the keeper of certificates does.
async fn inject(sandbox: &Sandbox, plural: &str) {
    use base64::Engine;
    let authority = std::fs::read(sandbox.bed().folder().join("ca.crt")).unwrap();
    let bundle = base64::engine::general_purpose::STANDARD.encode(authority);
    let patch = json!({"spec": {"conversion": {"webhook": {"clientConfig": {"caBundle": bundle}}}}});
    let path = format!("{}?fieldManager=gateward", place(plural));
    sandbox.bed().client().merge(&path, &patch).await.unwrap().granted().unwrap();
}

async fn a_newer_release_is_left_alone(sandbox: Sandbox) {
    let (bed, admin) = (sandbox.bed(), Person::admin(sandbox.bed()));
    admin.applies("9.0.0").await.well();
    let before = installed(bed, GRAPHS).await;
    let told = admin.applies("0.1.0").await.well();
    let sentence = "left as it is: release 9.0.0 has installed it, which is newer than 0.1.0";
    assert_eq!(told.matches(sentence).count(), plurals().count(), "{told}");
    assert_eq!(installed(bed, GRAPHS).await["metadata"], before["metadata"]);
}

async fn several_at_once_do_no_harm(sandbox: Sandbox) {
    let (bed, admin) = (sandbox.bed(), Person::admin(sandbox.bed()));
    remove_all(bed).await;
    let (first, second) = tokio::join!(admin.applies("0.1.0"), admin.applies("0.1.0"));
    for ended in [first, second] {
        ended.well();
    }
    let marks = marks(&sandbox).await;
    assert!(marks.iter().all(|mark| mark == "0.1.0"), "{marks:?}");
}

async fn marks(sandbox: &Sandbox) -> Vec<Value> {
    let mut marks = Vec::new();
    for plural in plurals() {
        marks.push(installed(sandbox.bed(), plural).await["metadata"]["annotations"][VERSION].clone());
    }
    marks
}

async fn an_api_server_that_restarts_is_waited_for(sandbox: Sandbox) {
    let (bed, admin) = (sandbox.bed(), Person::admin(sandbox.bed()));
    let (restarted, applied) = tokio::join!(bed.restart_api_server(), admin.applies("0.1.0"));
    restarted.unwrap();
    applied.well();
}

/// An installation of the time before there was a second version that objects are stored in.
async fn storage_changes_only_where_objects_can_be_converted(sandbox: Sandbox) {
    let (bed, admin) = (sandbox.bed(), Person::admin(sandbox.bed()));
    remove(bed, GRAPHS).await;
    let mut old = crds(bed.programs(), Conversion::None).unwrap();
    old.retain(|crd| crd["spec"]["names"]["plural"] == GRAPHS);
    store_in(&mut old[0], "v1alpha1");
    bed.install_crds(&old).await.unwrap();

    let told = admin.applies("1.0.0").await.well();
    assert!(told.contains("objects go on being stored in v1alpha1 until they can be converted"), "{told}");
    let graphs = installed(bed, GRAPHS).await;
    assert_eq!(versions(&graphs, "storage"), ["v1alpha1"]);
    assert_eq!(graphs["spec"]["conversion"]["strategy"], "Webhook");

    inject(&sandbox, GRAPHS).await;
    admin.applies("1.0.0").await.well();
    let graphs = installed(bed, GRAPHS).await;
    assert_eq!(versions(&graphs, "storage"), ["v1beta1"]);
}

async fn what_is_no_version_is_refused(sandbox: Sandbox) {
    let ended = Person::admin(sandbox.bed()).applies("latest").await;
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("semantic version"), "{ended:?}");
}
