//! ConversionReviews: all or nothing, in order, and errors that say which object.

use gateward_core::testing::TestRequest;
use gateward_core::{Outcome, Review, Severity, Webhooks};
use serde_json::{Value, json};

use crate::shop::{answer, review, shop, try_convert, webhooks};

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
    assert_eq!(record.outcome, Outcome::Converted { objects: 2, incomplete: 0 });
    assert_eq!((record.review, record.kind.to_string().as_str()), (Some(Review::Convert), "shop.example.org/v3 Shop"));
}

#[test]
fn a_test_converts_an_object_by_one_call() {
    let webhooks = webhooks();
    let old = TestRequest::of(&webhooks).convert(&shop("v3", json!({"boxes": [{"name": "a"}]})), "v1");
    assert_eq!((&old["apiVersion"], &old["spec"]["boxes"]), (&json!("shop.example.org/v1"), &json!({"a": {}})));
}

#[test]
#[should_panic(expected = "expected to be converted to v9")]
fn a_test_of_an_object_that_can_not_be_converted_fails() {
    let _ = TestRequest::of(&webhooks()).convert(&shop("v3", json!({"boxes": []})), "v9");
}

#[test]
fn views_that_lack_something_are_counted() {
    let objects = [json!({"boxes": {"a": 5}}), json!({"boxes": {}}), json!(5)].map(|spec| shop("v1", spec));
    let (_, record) = review(&objects, "v3");
    assert_eq!(record.outcome, Outcome::Converted { objects: 3, incomplete: 2 });
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
    let error = webhooks().convert(&shop("v1", json!({})).to_string(), "other.example.org/v3").unwrap_err();
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
fn between_two_spokes_a_path_is_that_of_the_version_which_was_sent() {
    let with = |color: &str| shop("v1", json!({"boxes": {"a": {}, "b": {"lid": {"color": color}, "x": 1}}}));
    let error = try_convert(&with("none"), "v2").unwrap_err();
    assert_eq!(error.path.to_string(), "spec.boxes[b].lid.color");
    let noted = try_convert(&with("dark"), "v2").unwrap().issues;
    let noted: Vec<_> = noted.iter().map(|issue| (issue.rule, issue.path.to_string())).collect();
    assert_eq!(noted, [("UNKNOWN", "spec.boxes.b.x".to_owned()), ("STASH", "spec.boxes[b].lid.color".to_owned())]);
}

#[test]
fn conversion_is_served_where_it_is_declared_and_nowhere_else() {
    let review_at = |webhooks: &Webhooks, path| webhooks.route(path).map(Review::from);
    assert_eq!(review_at(&webhooks(), "/convert"), Some(Review::Convert));
    assert!(webhooks().paths().any(|served| served == ("/convert", Review::Convert)));
    assert_eq!(review_at(&Webhooks::new(), "/convert"), None);
}

#[test]
fn ten_thousand_objects_are_answered_in_order_and_in_one_pass() {
    let object = |index: usize| {
        let mut object = shop("v1", json!({"boxes": {"a": {"lid": {"color": format!("{index}")}}}}));
        object["metadata"]["name"] = format!("shop-{index}").into();
        object
    };
    let objects: Vec<Value> = (0..10_000).map(object).collect();
    let (answer, record) = review(&objects, "v3");
    assert_eq!(record.outcome, Outcome::Converted { objects: 10_000, incomplete: 0 });
    for (index, converted) in answer["response"]["convertedObjects"].as_array().unwrap().iter().enumerate() {
        assert_eq!(converted["metadata"]["name"], format!("shop-{index}"));
        assert_eq!(converted["spec"]["boxes"][0]["cover"]["color"], format!("{index}"));
    }
}

#[test]
fn the_last_of_ten_thousand_objects_fails_them_all() {
    let mut objects = vec![shop("v1", json!({"boxes": {}})); 10_000];
    objects[9_999]["spec"]["owner"] = "nobody".into();
    assert!(message(&objects, "v3").starts_with("objects[9999] (Shop corner): spec.owner: "));
}

#[test]
fn an_object_of_the_desired_version_passes_byte_for_byte() {
    let same = r#"{ "kind":"Shop", "spec":[1.10,-0.0,1e400,{"a":1,"a":2}],"apiVersion":"shop.example.org/v3","x":"\ud800\/" }"#;
    let body = format!(
        r#"{{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{{"uid":"u","desiredAPIVersion":"shop.example.org/v3","objects":[{same},{same}]}}}}"#
    );
    let answer = String::from_utf8(answer(body.as_bytes()).body).unwrap();
    assert!(answer.contains(&format!("[{same},{same}]")), "{answer}");
}

#[test]
fn a_desired_version_of_another_group_fails_all() {
    for desired in ["other.example.org/v3", "v3"] {
        let request = json!({"uid": "u", "desiredAPIVersion": desired, "objects": [shop("v1", json!({}))]});
        let review = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "request": request});
        let answer: Value = serde_json::from_slice(&answer(review.to_string().as_bytes()).body).unwrap();
        let text = answer["response"]["result"]["message"].as_str().unwrap();
        let expected = format!(
            "objects[0] (Shop corner): apiVersion: Shop can't be converted from shop.example.org/v1 to {desired}: the \
             groups differ"
        );
        assert_eq!(text, expected);
    }
}

#[test]
fn bytes_that_are_no_review_are_an_http_error() {
    for body in [&b""[..], b"{", b"\xff", b"[]", b"null", b"{\"kind\":\"ConversionReview\",\"kind\":\"x\"}"] {
        assert_eq!(answer(body).status, 400, "{}", String::from_utf8_lossy(body));
    }
}
