//! ConversionReviews: all or nothing, in order, and errors that say which object.

use gateward_core::{Outcome, Review, Severity};
use serde_json::{Value, json};

use crate::shop::{registry, review, shop, try_convert};

fn message(objects: &[Value], version: &str) -> String {
    let (answer, record) = review(objects, version);
    let response = &answer["response"];
    assert_eq!((&response["result"]["status"], &response["convertedObjects"]), (&json!("Failure"), &json!([])));
    assert!(matches!(record.outcome, Outcome::NotConverted { .. }));
    response["result"]["message"].as_str().unwrap().to_owned()
}

#[test]
fn objects_are_answered_in_order_and_same_versions_pass_unchanged() {
    let same = shop("v3", json!({"boxes": 5, "odd": true}));
    let (answer, record) = review(&[shop("v1", json!({"boxes": {"a": {}}})), same.clone()], "v3");
    assert_eq!(answer["response"]["uid"], "u-1");
    assert_eq!(answer["response"]["result"], json!({"status": "Success"}));
    assert_eq!(answer["response"]["convertedObjects"], json!([shop("v3", json!({"boxes": [{"name": "a"}]})), same]));
    assert_eq!(record.outcome, Outcome::Converted { objects: 2 });
    assert_eq!((record.review, record.kind.to_string().as_str()), (Some(Review::Convert), "shop.example.org/v3 Shop"));
}

#[test]
fn no_objects_are_a_success() {
    assert_eq!(review(&[], "v3").0["response"]["convertedObjects"], json!([]));
}

#[test]
fn one_bad_object_fails_all_and_is_named() {
    let mut bad = shop("v1", json!({"boxes": {}, "owner": "nobody"}));
    bad["metadata"]["namespace"] = "tidepool".into();
    let text = message(&[shop("v1", json!({"boxes": {}})), bad], "v3");
    assert_eq!(text, "objects[1] (Shop tidepool/corner): spec.owner: a shop has an owner");
    let text = message(&[shop("v1", json!({"boxes": {"a": {"lid": {"color": 5}}}}))], "v3");
    assert!(text.starts_with("objects[0] (Shop corner): spec.boxes.a.lid.color: "), "{text}");
}

#[test]
fn the_kind_is_checked_and_not_only_the_version() {
    let with = |name: &str, value: Value| {
        let mut object = shop("v1", json!({}));
        object[name] = value;
        object
    };
    assert!(message(&[with("kind", json!("Stall"))], "v3").contains("objects[0] (Stall corner): kind: Stall"));
    assert!(message(&[with("kind", json!("Stall"))], "v1").contains("no such kind"));
    assert!(message(&[with("kind", json!(""))], "v3").contains("the object has no kind"));
    assert!(message(&[with("apiVersion", json!(""))], "v3").contains("the object has no apiVersion"));
    assert!(
        message(&[with("apiVersion", json!("a.example.org/v1"))], "v3").contains("no such kind of \"a.example.org\"")
    );
    assert!(message(&[json!([])], "v3").contains("objects[0]"));
}

#[test]
fn versions_that_nobody_declared_are_named_with_those_that_are() {
    let text = message(&[shop("v9", json!({}))], "v1");
    for part in ["shop.example.org/v9", "shop.example.org/v1", "v1 and v2 and v3"] {
        assert!(text.contains(part), "{text}");
    }
    assert!(message(&[shop("v1", json!({}))], "v9").contains("shop.example.org/v9"));
    let error = registry().convert(&shop("v1", json!({})).to_string(), "other.example.org/v3").unwrap_err();
    assert!(error.message.contains("the groups differ"), "{error}");
}

#[test]
fn what_conversion_gave_up_is_on_record_and_stops_nothing() {
    let mut object = shop("v1", json!({"boxes": {}, "extra": 1}));
    object["metadata"]["annotations"] = json!({"shop.example.org/lamps": "{"});
    let (answer, record) = review(&[object.clone()], "v3");
    assert_eq!(answer["response"]["result"]["status"], "Success");
    let found: Vec<_> = record.issues.iter().map(|issue| (issue.rule, issue.path.to_string())).collect();
    let stash = "metadata.annotations[shop.example.org/lamps]".to_owned();
    assert_eq!(found, [("STASH", stash), ("UNKNOWN", "spec.extra".to_owned())]);
    assert!(record.issues.iter().all(|issue| issue.severity == Severity::Note));
    assert!(!try_convert(&object, "v3").unwrap().issues.has_errors());
}

#[test]
fn conversion_is_served_where_it_is_declared_and_nowhere_else() {
    assert_eq!(registry().route("/convert"), Some(Review::Convert));
    assert!(registry().paths().any(|served| served == ("/convert", Review::Convert)));
    let elsewhere = registry().convert_at("/convert/shops");
    assert_eq!((elsewhere.route("/convert"), elsewhere.route("/convert/shops")), (None, Some(Review::Convert)));
    assert_eq!(gateward_core::Registry::new().route("/convert"), None);
}
