//! What conversion notes beside the request that it makes, and what only a conversion without schemas carries along.
//! The requests themselves are the cases of the integration suite.

use serde_json::{Value, json};

use super::{alpha, annotations, assert_returns, beta, configured, kept_spec, lifted, lowered, noted};
use crate::testing::annotated;

const SPEC: &str = "nvidia.com/dgdr-spec";
const STATUS: &str = "nvidia.com/dgdr-status";
const PRESERVED: &str = "gateward.dev/preserved";

#[test]
fn whole_numbers_stay_whole() {
    let text = lifted(&configured(&json!({"sla": {"ttft": 400}})))["spec"].to_string();
    assert!(text.contains("\"ttft\":400}"), "{text}");
    let text = lowered(&beta(&json!({"sla": {"ttft": 400.0, "itl": 0.5}})))["spec"].to_string();
    assert!(text.contains("\"itl\":0.5") && text.contains("\"ttft\":400}"), "{text}");
}

#[test]
fn a_bare_spec_of_old_is_read_and_unknown_members_are_ignored() {
    for kept in [
        json!({"searchStrategy": "thorough"}),
        json!({"version": 9, "spec": {"searchStrategy": "thorough", "novel": 1}, "more": 1, "rawJSON": null}),
    ] {
        let (hub, notes) = noted(&annotated(alpha(&json!({})), SPEC, &kept.to_string()), true);
        assert_eq!((&hub["spec"]["searchStrategy"], notes.len()), (&json!("thorough"), 0), "{kept}");
        assert_eq!(annotations(&hub), [""; 0]);
    }
}

#[test]
fn an_unreadable_annotation_is_dropped_with_a_note() {
    let damaged = [
        "{",
        "[]",
        "5",
        "null",
        r#"{"spec": []}"#,
        r#"{"spec": {"hardware": 5}}"#,
        r#"{"version": "1", "spec": {}}"#,
        r#"{"spec": {}, "rawJSON": {}}"#,
        r#"{"spec": {}, "rawJSON": [{"nil": 1}]}"#,
        r#"{"searchStrategy": 5}"#,
    ];
    for text in damaged {
        let (hub, notes) = noted(&annotated(alpha(&json!({"model": "m"})), SPEC, text), true);
        assert_eq!(hub["spec"], json!({"model": "m", "autoApply": false}), "{text}");
        assert_eq!(annotations(&hub), [""; 0], "{text}");
        assert_eq!(notes, ["metadata.annotations[nvidia.com/dgdr-spec]"], "{text}");
    }
    let (_, notes) =
        noted(&annotated(beta(&json!({"model": "m"})), SPEC, r#"{"spec": {"profilingConfig": 5}}"#), false);
    assert_eq!(notes, ["metadata.annotations[nvidia.com/dgdr-spec]"]);
}

#[test]
fn an_empty_annotation_is_taken_away_in_silence() {
    let (hub, notes) = noted(&annotated(alpha(&json!({})), SPEC, ""), true);
    assert_eq!((annotations(&hub), notes.len()), (vec![], 0));
}

#[test]
fn retired_annotations_are_taken_away_unread_in_both_directions() {
    let retired = [
        "enable-gpu-discovery",
        "output-pvc",
        "config-map-ref",
        "deployment-overrides",
        "profiling-config",
        "status-backend",
        "profiling-results",
        "deployment-status",
        "profiling-job-name",
    ];
    for (object, up) in [(alpha(&json!({"autoApply": true})), true), (beta(&json!({"autoApply": true})), false)] {
        let object =
            retired.iter().fold(object, |object, name| annotated(object, &format!("nvidia.com/dgdr-{name}"), "true"));
        let (found, _) = noted(&annotated(object, "nvidia.com/dgdr-other", "stays"), up);
        assert_eq!(annotations(&found), ["nvidia.com/dgdr-other"]);
        assert_eq!(found["spec"], json!({"autoApply": true}));
    }
}

#[test]
fn an_unreadable_status_is_dropped_with_a_note() {
    for text in ["{", "[]", "5", r#"{"phase": 5}"#, r#"{"deployment": []}"#] {
        let in_status = |mut object: Value, status: Value| {
            object["status"] = status;
            object
        };
        let status = json!({"state": "Ready"});
        let (there, notes) =
            noted(&annotated(in_status(alpha(&json!({"model": "m"})), status.clone()), STATUS, text), true);
        assert_eq!((&there["status"], annotations(&there).len()), (&json!({"phase": "Ready"}), 0), "{text}");
        assert!(text.contains("deployment") || notes == ["metadata.annotations[nvidia.com/dgdr-status]"], "{text}");
        let (there, _) =
            noted(&annotated(in_status(beta(&json!({"model": "m"})), json!({"phase": "Ready"})), STATUS, text), false);
        assert_eq!(there["status"], status, "{text}");
    }
}

#[test]
fn damage_is_dropped_with_a_note() {
    for losses in [json!(5), json!({"spec": []}), json!([{"path": 1}])] {
        let kept = json!({"version": 1, "known": {"v1beta1": losses}}).to_string();
        let (hub, notes) = noted(&annotated(alpha(&json!({"model": "m"})), PRESERVED, &kept), true);
        assert_eq!(hub["spec"], json!({"model": "m", "autoApply": false}));
        assert_eq!(notes, ["metadata.annotations[gateward.dev/preserved]"]);
        assert_eq!(annotations(&hub), [""; 0]);
    }
}

#[test]
fn a_job_of_an_odd_shape_is_carried_along() {
    for job in [
        json!("odd"),
        json!([]),
        json!({}),
        json!({"template": 5}),
        json!({"template": {"spec": []}}),
        json!({"template": {"spec": {"containers": {}, "tolerations": {"a": 1}, "nodeSelector": {"a": 1}}}}),
        json!({"template": {"spec": {"containers": ["x", {"name": 5}, {"name": "profiler", "resources": [1]}]}}}),
    ] {
        assert_returns(&beta(&json!({"autoApply": true, "overrides": {"profilingJob": job}})));
    }
}

#[test]
fn a_configuration_that_is_no_map_is_carried_along() {
    for config in [json!("not-an-object"), json!([1]), json!(5), json!(false)] {
        let object = configured(&config);
        assert_eq!(kept_spec(&lifted(&object))["profilingConfig"]["config"], config);
        assert_returns(&object);
        let mut edited = lifted(&object);
        edited["spec"]["sla"] = json!({"ttft": 7});
        assert_eq!(&lowered(&edited)["spec"]["profilingConfig"]["config"], &json!({"sla": {"ttft": 7}}));
    }
    assert_eq!(&lowered(&lifted(&configured(&json!(null))))["spec"]["profilingConfig"]["config"], &json!(null));
}

#[test]
fn what_nests_too_deeply_to_be_read_is_carried_along() {
    let deep = |depth: usize| format!("{{\"a\":{}1{}}}", "[".repeat(depth), "]".repeat(depth));
    for depth in [90, 94, 95, 96, 97, 130, 5000] {
        let config = deep(depth);
        let text = format!(r#"{{"spec":{{"profilingConfig":{{"config":{config}}}}}}}"#);
        assert!(text_there_and_back(&text, true).contains(&config), "{depth}");
        let text = format!(r#"{{"spec":{{"features":{{"planner":{config}}},"overrides":{{"dgd":{config}}}}}}}"#);
        assert!(text_there_and_back(&text, false).contains(&format!("\"planner\":{config}")), "{depth}");
    }
}

fn text_there_and_back(text: &str, from_spoke: bool) -> String {
    use gateward::{Convert, Issues};

    use super::DeploymentRequestConversion as Conversion;
    let mut issues = Issues::new();
    if from_spoke {
        let hub = Conversion.to_hub_with_round_trip(&serde_json::from_str(text).unwrap(), &mut issues).unwrap().0;
        serde_json::to_string(&Conversion.from_hub_with_round_trip(&hub, &mut issues).unwrap().0.spec).unwrap()
    } else {
        let spoke = Conversion.from_hub_with_round_trip(&serde_json::from_str(text).unwrap(), &mut issues).unwrap().0;
        serde_json::to_string(&Conversion.to_hub_with_round_trip(&spoke, &mut issues).unwrap().0.spec).unwrap()
    }
}
