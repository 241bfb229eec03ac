//! The example `crontab` by a bundle of OLM: installed, upgraded, removed.

use std::time::Duration;

use cluster_tests::{Inventory, Sandbox, Test, tests, until};
use olm_model::{CrdRefusal, OperatorGroup, replaces};
use serde_json::{Value, json};

use crate::bundles;
use crate::crontab::{is_judged, keeps_its_promises, tab};
use crate::olm::{Installed, Olm};

pub fn tests() -> Vec<Test> {
    tests![a_bundle_is_installed_upgraded_and_removed]
}

async fn a_bundle_is_installed_upgraded_and_removed(sandbox: Sandbox) {
    let bed = sandbox.bed();
    let before = Inventory::of(bed).await.unwrap();
    let olm = Olm::in_namespace(&sandbox, "crontab-system").await;
    let installed = olm.install(bundles::crontab(bed, "1.0.0", &[])).await;
    is_judged(&sandbox).await;
    keeps_its_promises(&sandbox).await;
    the_group_decides_which_namespaces_are_judged(&olm, &installed, &sandbox).await;

    let stored = sandbox.accepts(&tab("otter")).await;
    let new = bundles::crontab(bed, "1.1.0", &["--replaces", "crontab.v1.0.0"]);
    let crd = new.crds.iter().find(|crd| crd["spec"]["names"]["kind"] == "CronTab").unwrap();
    an_upgrade_that_would_lose_objects_is_stopped(&olm, crd).await;
    let installed = olm.upgrade(installed, new).await;
    only_the_new_csv_has_configurations(&olm, &installed).await;
    is_judged(&sandbox).await;
    keeps_its_promises_beside(&sandbox, &stored).await;

    let bundle = installed.bundle.clone();
    olm.remove(installed, None).await;
    assert!(olm.configurations().await.is_empty());
    // Nobody judges, and nobody has to answer for an object to be read.
    let read = sandbox.read(&stored, "v2").await;
    assert_eq!(read["spec"], stored["spec"]);
    sandbox.read(&stored, "v1").await;
    sandbox.delete(&stored).await;
    olm.forget(&bundle);
    before.is_restored(bed).await;
}

/// A bundle carries no `namespaceSelector`: OLM writes that of the `OperatorGroup`. It installs what converts for no
/// group but one of all namespaces; the API server makes no difference.
async fn the_group_decides_which_namespaces_are_judged(olm: &Olm<'_>, installed: &Installed, sandbox: &Sandbox) {
    for configuration in olm.configurations().await {
        assert_eq!(configuration["webhooks"][0]["namespaceSelector"], json!({}), "{configuration}");
    }
    let other = sandbox.beside("other").await.unwrap();
    let mut broken = tab("otter");
    broken["spec"]["schedule"] = "daily".into();
    other.rejects(&broken, &["spec.schedule"]).await;

    let one = OperatorGroup {
        uid: "b1f7".to_owned(),
        target_namespaces: vec![sandbox.namespace().to_owned()],
        ..OperatorGroup::default()
    };
    olm.follow(installed, &one).await;
    until("the other namespace is not judged", Duration::from_mins(1), async || {
        other.dry().create(&broken).await.status.is_success()
    })
    .await;
    sandbox.rejects(&broken, &["spec.schedule"]).await;
    olm.follow(installed, &OperatorGroup::default()).await;
    until("all namespaces are judged", Duration::from_mins(1), async || {
        !other.dry().create(&broken).await.status.is_success()
    })
    .await;
    let place = format!("/api/v1/namespaces/{}", other.namespace());
    other.client().delete(&place).await.unwrap().granted().unwrap();
}

/// What OLM asks before it replaces a CRD. Each object that is there fits the one of the upgrade.
async fn an_upgrade_that_would_lose_objects_is_stopped(olm: &Olm<'_>, new: &Value) {
    let live = olm.live(new).await;
    let objects = olm.objects_of(&live).await;
    assert_eq!((objects.len(), replaces(&live, new, &objects)), (2, Ok(())), "one object, in two versions");
    let stored = live["status"]["storedVersions"][0].as_str().unwrap();
    let mut without = new.clone();
    without["spec"]["versions"].as_array_mut().unwrap().retain(|version| version["name"] != stored);
    assert_eq!(replaces(&live, &without, &objects), Err(CrdRefusal::StoredVersion(stored.to_owned())));
    let mut narrower = new.clone();
    for version in narrower["spec"]["versions"].as_array_mut().unwrap() {
        version["schema"]["openAPIV3Schema"]["properties"]["spec"]["required"] = json!(["novel"]);
    }
    assert_eq!(replaces(&live, &narrower, &objects), Err(CrdRefusal::Object("otter".to_owned())));
}

async fn only_the_new_csv_has_configurations(olm: &Olm<'_>, installed: &Installed) {
    let configurations = olm.configurations().await;
    let owners = configurations.iter().map(|it| &it["metadata"]["labels"]["olm.owner"]);
    assert_eq!(owners.collect::<Vec<_>>(), [&json!("crontab.v1.1.0"); 6]);
    assert_eq!(installed.bundle.csv.webhooks.len(), 6 + 1, "and one that converts");
}

/// What was stored before is read in both versions; what comes is judged.
async fn keeps_its_promises_beside(sandbox: &Sandbox, stored: &Value) {
    assert_eq!(sandbox.read(stored, "v2").await["spec"], stored["spec"]);
    assert_eq!(sandbox.read(stored, "v1").await["spec"]["cronSpec"], stored["spec"]["schedule"]);
    let mut broken = stored.clone();
    broken["spec"]["schedule"] = "daily".into();
    assert!(!sandbox.replace(&broken).await.status.is_success());
}
