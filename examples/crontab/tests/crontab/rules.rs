//! The rules that need nothing but the object.

use crate::objects::{old_tab, policy, tab, with};
use crontab::cron_policy::MAX_REPLICAS;
use crontab::cron_tab::rules::{CronTabs, IMAGE, NAME, POLICY_STAYS, REPLICAS, SCHEDULE};
use crontab::cron_tab::v2;
use crontab::pod::{IMAGES, images};
use crontab::webhooks;
use gateward::testing::{TestRequest, accepted, rejected};
use k8s_openapi::api::core::v1::Pod;
use serde_json::{Value, json};

fn typed(object: Value) -> v2::CronTab {
    serde_json::from_value(object).expect("a CronTab of v2")
}

#[test]
fn a_good_cron_tab_passes() {
    accepted(CronTabs, &typed(tab()));
}

#[test]
fn a_schedule_has_five_fields() {
    for schedule in ["", "daily", "0 4 * *", "0 4 * * * *"] {
        let findings = rejected(CronTabs, &typed(with(tab(), "/spec/schedule", schedule)));
        findings.only(&[&SCHEDULE]).by(&SCHEDULE).at("spec.schedule").saying("five fields");
    }
}

#[test]
fn replicas_are_from_none_to_ten() {
    for replicas in [-1, 11] {
        let findings = rejected(CronTabs, &typed(with(tab(), "/spec/replicas", replicas)));
        findings.only(&[&REPLICAS]).by(&REPLICAS).at("spec.replicas").saying("from 0 to 10");
    }
    for replicas in [0, 10] {
        accepted(CronTabs, &typed(with(tab(), "/spec/replicas", replicas)));
    }
}

#[test]
fn an_image_comes_from_the_registry() {
    let findings = rejected(CronTabs, &typed(with(tab(), "/spec/image", "docker.io/backup:1")));
    findings.only(&[&IMAGE]).by(&IMAGE).at("spec.image").saying("registry.example.com/");
}

#[test]
fn a_name_has_at_most_52_characters() {
    accepted(CronTabs, &typed(with(tab(), "/metadata/name", "n".repeat(52))));
    let findings = rejected(CronTabs, &typed(with(tab(), "/metadata/name", "n".repeat(53))));
    findings.only(&[&NAME]).by(&NAME).at("metadata.name").saying("52");
}

#[test]
fn the_policy_never_changes() {
    let stored = with(tab(), "/spec/policy", "small");
    let findings = TestRequest::of(&webhooks()).update(&stored, &tab());
    findings.only(&[&POLICY_STAYS]).by(&POLICY_STAYS).at("spec.policy").saying("never changes");
}

#[test]
fn five_findings_come_at_once() {
    let stored = with(with(tab(), "/metadata/name", "n".repeat(53)), "/spec/policy", "small");
    let mut changed = with(stored.clone(), "/spec", json!({"schedule": "daily", "image": "backup", "replicas": 11}));
    changed["metadata"]["generation"] = 2.into();
    let findings = TestRequest::of(&webhooks()).update(&stored, &changed);
    findings.only(&[&SCHEDULE, &REPLICAS, &IMAGE, &NAME, &POLICY_STAYS]);
    assert_eq!(findings.paths(), ["spec.schedule", "spec.replicas", "spec.image", "metadata.name", "spec.policy"]);
}

#[test]
fn findings_stand_in_the_fields_of_the_users_version() {
    let findings = TestRequest::of(&webhooks()).create(&with(old_tab(), "/spec/cronSpec", "daily"));
    findings.only(&[&SCHEDULE]).by(&SCHEDULE).at("spec.cronSpec");
}

#[test]
fn replicas_default_to_one_in_both_versions() {
    let webhooks = webhooks();
    for mut object in [tab(), old_tab()] {
        assert_eq!(TestRequest::of(&webhooks).default(&object).patched(), object);
        object["spec"].as_object_mut().expect("a spec").remove("replicas");
        let expected = with(object.clone(), "/spec/replicas", 1);
        assert_eq!(TestRequest::of(&webhooks).default(&object).patched(), expected);
    }
}

#[test]
fn a_policy_allows_one_to_ten_replicas() {
    let webhooks = webhooks();
    TestRequest::of(&webhooks).create(&policy()).assert_allowed();
    for most in [0, 11] {
        let findings = TestRequest::of(&webhooks).create(&with(policy(), "/spec/maxReplicas", most));
        findings.only(&[&MAX_REPLICAS]).by(&MAX_REPLICAS).at("spec.maxReplicas").saying("from 1 to 10");
    }
}

fn pod(containers: &Value) -> Pod {
    serde_json::from_value(json!({"metadata": {"name": "nightly-1"}, "spec": containers})).expect("a Pod")
}

#[test]
fn images_of_pods_come_from_one_registry() {
    let ours = json!([{"name": "a", "image": "registry.example.com/a"}, {"name": "image-of-the-cluster"}]);
    accepted(images, &pod(&json!({"containers": ours})));
    let theirs = json!([{"name": "a", "image": "registry.example.com/a"}, {"name": "b", "image": "docker.io/b"}]);
    let all = json!({"containers": theirs, "initContainers": theirs, "ephemeralContainers": theirs});
    let findings = rejected(images, &pod(&all));
    findings.only(&[&IMAGES; 3]);
    assert_eq!(
        findings.paths(),
        ["spec.containers[1].image", "spec.initContainers[1].image", "spec.ephemeralContainers[1].image"]
    );
}
