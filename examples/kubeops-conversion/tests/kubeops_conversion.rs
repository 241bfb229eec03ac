//! Nothing is lost between the three versions, and a live field wins over what was kept.

#![allow(clippy::unwrap_used, reason = "a test")]

use gateward::prelude::*;
use gateward::testing::{block_on, round_trips};
use gateward::{Context, Review};
use kubeops_conversion::webhooks;
use serde_json::{Value, json};

fn entity(version: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": format!("conversionwebhook.dev/{version}"),
        "kind": "TestEntity",
        "metadata": {
            "name": "sample", "namespace": "default", "uid": "1", "resourceVersion": "77", "finalizers": ["x.dev/f"],
            "labels": {"a": "b"}, "annotations": {"n": "1"},
        },
        "spec": spec,
    })
}

#[track_caller]
fn to(version: &str, object: &Value) -> Value {
    let converted = webhooks().convert(&object.to_string(), &format!("conversionwebhook.dev/{version}")).unwrap();
    serde_json::from_str(&converted.json).unwrap()
}

#[track_caller]
fn assert_survives(object: &Value) {
    let own = object["apiVersion"].as_str().unwrap().rsplit('/').next().unwrap();
    for via in ["v1", "v2", "v3"] {
        assert_eq!(to(own, &to(via, object)), *object, "by way of {via}");
    }
}

#[test]
fn the_first_space_parts_a_name() {
    for (name, first, last) in [
        ("Max Muster", "Max", "Muster"),
        ("Anna Maria Muster", "Anna", "Maria Muster"),
        ("A  B", "A", " B"),
        ("Max", "Max", ""),
    ] {
        let parted = json!({"firstname": first, "lastname": last});
        for version in ["v2", "v3"] {
            assert_eq!(to(version, &entity("v1", &json!({"name": name}))), entity(version, &parted));
        }
    }
}

#[test]
fn two_names_make_one_without_a_space_too_many() {
    for (first, last, name) in [("Jane", "Doe", "Jane Doe"), ("Max", "", "Max"), ("", "", "")] {
        let parted = json!({"firstname": first, "lastname": last});
        for version in ["v2", "v3"] {
            assert_eq!(to("v1", &entity(version, &parted)), entity("v1", &json!({"name": name})));
        }
    }
}

#[test]
fn every_name_of_v1_survives() {
    for name in ["Max Muster", "Anna Maria Muster", "Max", "Max ", " Max", "A  B", " ", "  ", "", "é ü"] {
        assert_survives(&entity("v1", &json!({"name": name})));
    }
    assert_survives(&entity("v1", &json!({})));
}

#[test]
fn every_pair_of_names_survives() {
    for first in ["", "Anna", "Anna Maria", " ", "Anna "] {
        for last in ["", "Muster", "von Muster", " ", " Muster"] {
            let spec = json!({"firstname": first, "lastname": last});
            assert_survives(&entity("v2", &spec));
            assert_survives(&entity("v3", &spec));
        }
    }
    for spec in [json!({}), json!({"firstname": "Anna"}), json!({"lastname": "Muster"})] {
        assert_survives(&entity("v3", &spec));
    }
}

#[test]
fn a_middle_name_survives_null_and_empty_too() {
    for middle in [json!(null), json!(""), json!("Maria")] {
        assert_survives(&entity("v3", &json!({"firstname": "Anna", "lastname": "Muster", "middleName": middle})));
    }
}

const CRD: &str = include_str!("../crd.yaml");

#[test]
fn every_object_of_every_version_comes_back_from_every_other() {
    round_trips(&webhooks(), CRD).cases(500).hold();
}

#[test]
fn fields_that_no_version_knows_come_back_and_never_come_alive() {
    round_trips(&webhooks(), CRD).cases(500).with_unknown_fields().hold();
}

#[test]
fn an_object_without_a_spec_converts() {
    let bare = json!({"apiVersion": "conversionwebhook.dev/v1", "kind": "TestEntity", "metadata": {"name": "sample"}});
    assert_eq!(to("v1", &to("v3", &bare))["metadata"], bare["metadata"]);
}

#[test]
fn a_name_edited_through_v1_wins_over_the_names_that_were_kept() {
    let spec = json!({"firstname": "Anna Maria", "lastname": "Muster", "middleName": "Lena"});
    let mut seen = to("v1", &entity("v3", &spec));
    assert_eq!(seen["spec"], json!({"name": "Anna Maria Muster"}));
    seen["spec"]["name"] = "Anna Meier".into();
    let spec = json!({"firstname": "Anna", "lastname": "Meier", "middleName": "Lena"});
    assert_eq!(to("v3", &seen), entity("v3", &spec));
}

#[test]
fn names_edited_through_v3_win_over_the_name_that_was_kept() {
    let mut stored = to("v3", &entity("v1", &json!({"name": "Max "})));
    stored["spec"]["lastname"] = "Muster".into();
    assert_eq!(to("v1", &stored), entity("v1", &json!({"name": "Max Muster"})));
}

#[test]
fn the_middle_name_survives_an_edit_through_v2() {
    let spec = |last: &str| json!({"firstname": "Anna", "lastname": last, "middleName": "Maria"});
    let mut seen = to("v2", &entity("v3", &spec("Muster")));
    seen["spec"]["lastname"] = "Meier".into();
    assert_eq!(to("v3", &seen), entity("v3", &spec("Meier")));
}

#[test]
fn an_annotation_that_can_not_be_read_is_dropped_with_a_note() {
    let mut object = entity("v1", &json!({"name": "Max Muster"}));
    object["metadata"]["annotations"]["conversionwebhook.dev/v3"] = "{".into();
    let converted = webhooks().convert(&object.to_string(), "conversionwebhook.dev/v3").unwrap();
    let noted: Vec<&str> = converted.issues.iter().map(|issue| issue.rule).collect();
    assert_eq!(noted, [STASH.id]);
    let after: Value = serde_json::from_str(&converted.json).unwrap();
    assert_eq!(after, entity("v3", &json!({"firstname": "Max", "lastname": "Muster"})));
}

#[test]
fn fields_that_no_type_knows_stay_in_place() {
    let mut object = entity("v1", &json!({"name": "Max Muster", "nick": "mm"}));
    object["status"] = json!({"phase": "New"});
    let stored = to("v3", &object);
    assert_eq!((&stored["spec"]["nick"], &stored["status"]["phase"]), (&json!("mm"), &json!("New")));
    assert_survives(&object);
}

#[test]
fn an_unknown_field_does_not_come_alive_as_one_of_another_version() {
    let object = entity("v1", &json!({"name": "Max Muster", "middleName": "Maria"}));
    assert_eq!(to("v3", &object)["spec"], json!({"firstname": "Max", "lastname": "Muster"}));
    assert_eq!(to("v1", &to("v3", &object)), object);
}

#[test]
fn a_name_that_is_no_text_is_left_out_of_a_view_that_says_so() {
    for name in [json!(null), json!(5)] {
        let object = entity("v1", &json!({"name": name}));
        let view = webhooks().convert(&object.to_string(), "conversionwebhook.dev/v3").unwrap();
        assert_eq!(view.left_out.iter().map(ToString::to_string).collect::<Vec<_>>(), ["spec.name"]);
        let view: Value = serde_json::from_str(&view.json).unwrap();
        assert_eq!(view["metadata"]["labels"]["conversionwebhook.dev/incomplete"], "true");
    }
}

/// The answer to a ConversionReview as the API server sends it.
fn review(version: &str, objects: &[Value]) -> Value {
    let desired = format!("conversionwebhook.dev/{version}");
    let review = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "ConversionReview",
        "request": {"uid": "7", "desiredAPIVersion": desired, "objects": objects},
    });
    let context = Context::new(std::time::SystemTime::UNIX_EPOCH, std::sync::Arc::new(()));
    let path = "/convert/conversionwebhook.dev/testentitys";
    assert_eq!(webhooks().route(path).map(Review::from), Some(Review::Convert));
    let answer = block_on(webhooks().handle(path, review.to_string().as_bytes(), &context));
    serde_json::from_slice::<Value>(&answer.body).unwrap()["response"].clone()
}

#[test]
fn a_mixed_batch_keeps_its_order() {
    let objects = [
        entity("v2", &json!({"firstname": "Jane", "lastname": "Doe"})),
        entity("v1", &json!({"name": "Max"})),
        entity("v3", &json!({"firstname": "Mary", "lastname": "Sue"})),
    ];
    let response = review("v1", &objects);
    assert_eq!(response["result"]["status"], "Success");
    let converted = response["convertedObjects"].as_array().unwrap();
    let names: Vec<&Value> = converted.iter().map(|object| &object["spec"]["name"]).collect();
    assert_eq!(names, ["Jane Doe", "Max", "Mary Sue"]);
}

#[test]
fn one_bad_object_spoils_the_batch() {
    let objects = [entity("v2", &json!({"firstname": "Jane", "lastname": "Doe"})), entity("v9", &json!({}))];
    let response = review("v1", &objects);
    assert_eq!(response["result"]["status"], "Failure");
    assert_eq!(response["convertedObjects"], json!([]));
    let message = response["result"]["message"].as_str().unwrap();
    for part in ["objects[1]", "conversionwebhook.dev/v9", "conversionwebhook.dev/v1", "default/sample"] {
        assert!(message.contains(part), "{part} is not in {message}");
    }
}
