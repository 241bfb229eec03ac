//! CRDs as the chart's init step installs and upgrades them.

use std::time::Duration;

use base64::Engine;
use cluster_tests::{Conversion, Sandbox, Test, crds, tests, until};
use serde_json::json;

use crate::account::Account;
use crate::command::{NAMESPACE, NEWER, OLDER, Person, SERVICE};
use crate::definition::{
    ADAPTERS, ALL, GRAPHS, REQUESTS, VERSION, heron, installed, place, remove, remove_all, store_in, versions,
};

pub fn tests() -> Vec<Test> {
    tests![
        a_replica_may_install_them,
        a_stanza_is_written_with_the_bundle_of_the_ca_and_not_without,
        the_bundle_stays_with_its_owner,
        a_newer_release_is_left_alone,
        several_at_once_do_no_harm,
        an_api_server_that_restarts_is_waited_for,
        one_that_is_being_deleted_is_waited_for,
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
    let reported = replica.applies(OLDER).await.well();
    assert_eq!(reported.matches(": created").count(), ALL.len(), "{reported}");

    let graphs = installed(bed, GRAPHS).await;
    assert_eq!(graphs["metadata"]["annotations"][VERSION], OLDER);
    assert_eq!(versions(&graphs, "storage"), ["v1beta1"]);
    let manager = &graphs["metadata"]["managedFields"][0];
    assert_eq!((&manager["manager"], &manager["operation"]), (&json!("dynamo-crd-apply"), &json!("Apply")));

    let reported = replica.applies(OLDER).await.well();
    assert_eq!(reported.matches(": unchanged").count(), ALL.len(), "{reported}");
}

async fn a_stanza_is_written_with_the_bundle_of_the_ca_and_not_without(sandbox: Sandbox) {
    let (bed, admin) = (sandbox.bed(), Person::admin(sandbox.bed()));
    remove_all(bed).await;
    // A replica of another namespace, which may not read the Secret: there is no CA for it.
    let replica = Account::of_a_replica(&sandbox, "stranger").await.kubeconfig();
    let reported = Person::of(bed, &replica).applies(OLDER).await.well();
    assert_eq!(reported.matches("its conversion is left as it is until there is a CA").count(), 4, "{reported}");
    assert_eq!(installed(bed, GRAPHS).await["spec"]["conversion"], json!({"strategy": "None"}));

    admin.applies(OLDER).await.well();
    let service = json!({"name": SERVICE, "namespace": NAMESPACE, "path": "/convert", "port": 443});
    let ca = std::fs::read_to_string(bed.folder().join("ca.crt")).unwrap();
    let config = installed(bed, GRAPHS).await["spec"]["conversion"]["webhook"]["clientConfig"].take();
    let bundle = base64::engine::general_purpose::STANDARD.decode(config["caBundle"].as_str().unwrap()).unwrap();
    assert_eq!(config["service"], service);
    assert_eq!(String::from_utf8(bundle).unwrap().trim(), ca.trim());
}

async fn the_bundle_stays_with_its_owner(sandbox: Sandbox) {
    let (bed, admin) = (sandbox.bed(), Person::admin(sandbox.bed()));
    admin.applies(OLDER).await.well();
    inject(&sandbox, ADAPTERS).await;
    let reported = admin.applies(NEWER).await.well();
    assert_eq!(reported.matches(": changed\n").count(), ALL.len(), "{reported}");
    let adapters = installed(bed, ADAPTERS).await;
    assert_eq!(adapters["metadata"]["annotations"][VERSION], NEWER);
    assert!(adapters.pointer("/spec/conversion/webhook/clientConfig/caBundle").is_some());
}

/// Writes a bundle, as the certificate controller does.
async fn inject(sandbox: &Sandbox, plural: &str) {
    let ca = std::fs::read(sandbox.bed().folder().join("ca.crt")).unwrap();
    let bundle = base64::engine::general_purpose::STANDARD.encode(ca);
    let patch = json!({"spec": {"conversion": {"webhook": {"clientConfig": {"caBundle": bundle}}}}});
    let path = format!("{}?fieldManager=gateward", place(plural));
    sandbox.bed().client().merge(&path, &patch).await.unwrap().granted().unwrap();
}

async fn a_newer_release_is_left_alone(sandbox: Sandbox) {
    let (bed, admin) = (sandbox.bed(), Person::admin(sandbox.bed()));
    admin.applies(NEWER).await.well();
    let before = installed(bed, GRAPHS).await;
    let reported = admin.applies(OLDER).await.well();
    let sentence = "left as it is: release 0.2.0 has installed it, which is newer than 0.1.0";
    assert_eq!(reported.matches(sentence).count(), ALL.len(), "{reported}");
    assert_eq!(installed(bed, GRAPHS).await["metadata"], before["metadata"]);
}

async fn several_at_once_do_no_harm(sandbox: Sandbox) {
    let (bed, admin) = (sandbox.bed(), Person::admin(sandbox.bed()));
    for plural in [ADAPTERS, REQUESTS] {
        remove(bed, plural).await;
    }
    let ended = tokio::join!(admin.applies(NEWER), admin.applies(OLDER), admin.applies(NEWER));
    for ended in [ended.0, ended.1, ended.2] {
        ended.well();
    }
    // Whichever was first where there was nothing, the next one to come makes it right.
    admin.applies(NEWER).await.well();
    for plural in ALL {
        assert_eq!(installed(bed, plural).await["metadata"]["annotations"][VERSION], NEWER, "{plural}");
    }
}

async fn an_api_server_that_restarts_is_waited_for(sandbox: Sandbox) {
    let (bed, admin) = (sandbox.bed(), Person::admin(sandbox.bed()));
    let (restarted, applied) = tokio::join!(bed.restart_api_server(), admin.applies(NEWER));
    restarted.unwrap();
    applied.well();
}

async fn one_that_is_being_deleted_is_waited_for(sandbox: Sandbox) {
    let (bed, admin) = (sandbox.bed(), Person::admin(sandbox.bed()));
    admin.applies(NEWER).await.well();
    let mut heron = heron();
    heron["metadata"]["finalizers"] = json!(["zoo.org/asleep"]);
    sandbox.accepts(&heron).await;
    bed.client().delete(&place(ADAPTERS)).await.unwrap().granted().unwrap();
    let name = format!("{ADAPTERS}.nvidia.com");
    let leaving = installed(bed, ADAPTERS).await["metadata"]["uid"].clone();

    let audit = bed.audit().unwrap();
    let wake = async {
        let seen = async || audit.of("admin").unwrap().iter().any(|event| event.verb == "get" && event.name == name);
        until("the CRD seen", Duration::from_mins(1), seen).await;
        let awake = json!({"metadata": {"finalizers": null}});
        bed.client().merge(&sandbox.place(&heron, "v1beta1"), &awake).await.unwrap().granted().unwrap();
    };
    let (ended, ()) = tokio::join!(admin.applies(NEWER), wake);
    assert!(ended.stderr.contains("trying again: it is being deleted"), "{ended:?}");
    assert!(ended.well().contains(&format!("{name}: created\n")));
    assert_ne!(installed(bed, ADAPTERS).await["metadata"]["uid"], leaving);
}

/// An installation of the time before there was a second version that objects are stored in.
async fn storage_changes_only_where_objects_can_be_converted(sandbox: Sandbox) {
    let (bed, admin) = (sandbox.bed(), Person::admin(sandbox.bed()));
    let mut old = crds(bed.programs(), Conversion::None).unwrap();
    old.retain(|crd| crd["spec"]["names"]["plural"] == ADAPTERS);
    store_in(&mut old[0], "v1alpha1");
    remove(bed, ADAPTERS).await;
    bed.install_crds(&old).await.unwrap();

    let reported = admin.applies(NEWER).await.well();
    assert!(reported.contains("objects go on being stored in v1alpha1 until they can be converted"), "{reported}");
    let adapters = installed(bed, ADAPTERS).await;
    assert_eq!(versions(&adapters, "storage"), ["v1alpha1"]);
    assert_eq!(adapters["spec"]["conversion"]["strategy"], "Webhook");

    inject(&sandbox, ADAPTERS).await;
    admin.applies(NEWER).await.well();
    assert_eq!(versions(&installed(bed, ADAPTERS).await, "storage"), ["v1beta1"]);
}

async fn what_is_no_version_is_refused(sandbox: Sandbox) {
    let ended = Person::admin(sandbox.bed()).applies("latest").await;
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("semantic version"), "{ended:?}");
}
