//! What the operator's own annotations have no room for.

use serde_json::{Value, json};

use super::{alpha, annotations, assert_returns, beta, kept, lifted, lowered, noted, with};

const PRESERVED: &str = "gateward.dev/preserved";

fn known(version: &str, losses: &Value) -> String {
    json!({"version": 1, "known": {version: losses}}).to_string()
}

#[test]
fn blocks_that_say_nothing_return() {
    for spec in [
        json!({"sla": {}}),
        json!({"workload": {}}),
        json!({"modelCache": {}}),
        json!({"features": {}}),
        json!({"overrides": {}}),
        json!({"workload": {"isl": 7}}),
        json!({"features": {"kvRouter": {}}}),
    ] {
        assert_returns(&beta(&spec));
    }
    assert_returns(&alpha(&json!({"deploymentOverrides": {}})));
}

#[test]
fn a_loss_is_made_good_only_while_the_live_field_is_the_same() {
    let spoke = lowered(&beta(&json!({"sla": {}})));
    assert_eq!(annotations(&spoke), [PRESERVED]);
    let mut edited = spoke.clone();
    edited["spec"]["profilingConfig"] = json!({"config": {"sla": {"ttft": 5}}});
    let back = lifted(&edited);
    assert_eq!(back["spec"]["sla"], json!({"ttft": 5}));
    assert_eq!(back["spec"].get("autoApply"), None);
    edited["spec"]["autoApply"] = false.into();
    assert_eq!(lifted(&edited)["spec"]["autoApply"], false);
}

#[test]
fn a_loss_that_the_other_version_would_see_is_not_made_good() {
    let forged = json!([
        {"path": ["spec", "model"], "reads": "m", "was": "forged"},
        {"path": ["spec", "sla"], "was": {}},
    ]);
    let object = with(alpha(&json!({"model": "m"})), PRESERVED, &known("v1beta1", &forged));
    let hub = lifted(&object);
    assert_eq!((&hub["spec"]["model"], &hub["spec"]["sla"]), (&json!("m"), &json!({})));
}

#[test]
fn damage_is_dropped_with_a_note() {
    for losses in [json!(5), json!({"spec": []}), json!([{"path": 1}])] {
        let (hub, notes) = noted(&with(alpha(&json!({"model": "m"})), PRESERVED, &known("v1beta1", &losses)), true);
        assert_eq!(hub["spec"], json!({"model": "m", "autoApply": false}));
        assert_eq!(notes, ["metadata.annotations[gateward.dev/preserved]"]);
        assert_eq!(annotations(&hub), [""; 0]);
    }
}

#[test]
fn places_that_are_not_there_are_left_alone() {
    let losses: Vec<Value> = [
        json!([]),
        json!([""]),
        json!(["spec"]),
        json!(["spec", "a", "b"]),
        json!(["spec", 0]),
        json!(["spec", "model", "x"]),
        json!(["spec", {"name": "model"}]),
        json!(["spec", "overrides", "profilingJob", 7]),
    ]
    .iter()
    .map(|path| json!({"path": path, "was": {"x": 1}}))
    .collect();
    let object = with(alpha(&json!({"model": "m"})), PRESERVED, &known("v1beta1", &losses.into()));
    assert_eq!(lifted(&object)["spec"], json!({"model": "m", "autoApply": false}));
}

#[test]
fn what_was_kept_of_the_own_version_is_out_of_date() {
    let losses = json!([{"path": ["spec", "sla"], "was": {}}]);
    let object = with(alpha(&json!({"model": "m"})), PRESERVED, &known("v1alpha1", &losses));
    assert_eq!(annotations(&lifted(&object)), [""; 0]);
}

#[test]
fn what_is_kept_of_a_further_version_stays() {
    let further =
        json!({"version": 1, "unknown": {"v2": [{"path": ["spec", "novel"], "value": 1}]}, "known": {"v2": 5}});
    let hub = lifted(&with(alpha(&json!({"model": "m"})), PRESERVED, &further.to_string()));
    assert_eq!(kept(&hub, PRESERVED), further);
}

#[test]
fn a_usual_request_needs_no_annotation_of_ours() {
    let usual = alpha(&json!({
        "model": "m", "backend": "vllm", "autoApply": true,
        "profilingConfig": {"profilerImage": "p:1", "config": {"sla": {"ttft": 1, "isl": 2}, "engine": {"x": 1}}},
    }));
    assert_eq!(annotations(&lifted(&usual)), ["nvidia.com/dgdr-spec"]);
    let usual = beta(&json!({
        "model": "m", "backend": "auto", "searchStrategy": "rapid", "autoApply": true,
        "sla": {"ttft": 1}, "workload": {"isl": 4000, "osl": 1000}, "hardware": {"totalGpus": 8},
    }));
    assert_eq!(annotations(&lowered(&usual)), ["nvidia.com/dgdr-spec"]);
}
