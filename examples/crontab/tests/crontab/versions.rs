//! The CRDs of the types, and the way from one version to another.

use crate::objects::{old_tab, tab, with};
use crontab::cron_policy::CronPolicy;
use crontab::cron_tab::{v1, v2};
use crontab::webhooks;
use gateward::testing::round_trips;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt;
use kube::core::crd::{MergeError, merge_crds};
use serde_json::Value;

fn crontabs() -> Result<CustomResourceDefinition, MergeError> {
    merge_crds(vec![v1::CronTab::crd(), v2::CronTab::crd()], "v2")
}

/// Compares a CRD with its file; with `UPDATE_CRDS=1` it is written.
#[track_caller]
fn assert_written(file: &str, crd: &CustomResourceDefinition) {
    let path = format!("{}/crds/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = serde_saphyr::to_string(crd).expect("a CRD is YAML");
    if std::env::var_os("UPDATE_CRDS").is_some() {
        std::fs::write(&path, &text).expect("the directory is there");
    }
    let written = std::fs::read_to_string(&path).expect("the file is there");
    assert!(written == text, "{file} is stale: `UPDATE_CRDS=1 cargo test -p crontab crds_are` writes it");
}

#[test]
fn crds_are_those_of_the_types() {
    assert_written("crontabs.yaml", &crontabs().unwrap());
    assert_written("cronpolicies.yaml", &CronPolicy::crd());
}

#[test]
fn no_object_loses_a_field_on_its_way_through_another_version() {
    let crd = serde_json::to_string(&crontabs().unwrap()).unwrap();
    round_trips(&webhooks(), &crd).hold();
}

fn converted(object: &Value, version: &str) -> Value {
    let converted = webhooks().convert(&object.to_string(), &format!("stable.example.com/{version}")).unwrap();
    serde_json::from_str(&converted.json).unwrap()
}

#[test]
fn the_schedule_moves() {
    assert_eq!(converted(&old_tab(), "v2"), tab());
    assert_eq!(converted(&tab(), "v1"), old_tab());
}

#[test]
fn the_time_zone_waits_in_v1() {
    let zoned = with(tab(), "/spec/timeZone", "Europe/Berlin");
    let mut old = converted(&zoned, "v1");
    assert!(old["metadata"]["annotations"]["stable.example.com/preserved"].is_string());
    assert_eq!(converted(&old, "v2"), zoned);

    old["spec"]["replicas"] = 5.into();
    assert_eq!(converted(&old, "v2"), with(zoned, "/spec/replicas", 5));
}
