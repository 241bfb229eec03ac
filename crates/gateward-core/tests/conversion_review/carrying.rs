//! What a conversion carries over beside its own business.

use gateward_core::conversion::ANNOTATION_LIMIT;
use serde_json::{Value, json};

use crate::shop::{INCOMPLETE, INCOMPLETE_FIELDS, PRESERVED, convert, convert_text, shop, try_convert};

#[test]
fn metadata_comes_back_member_by_member_as_it_was() {
    let mut object = shop("v1", json!({"boxes": {}}));
    object["metadata"] = json!({"name": "corner", "uid": "x", "managedFields": [{"manager": "m", "time": null}],
        "generation": 4, "labels": {"a": "b"}, "annotations": {"n": "1"}, "finalizers": ["x.dev/f"]});
    let hub = convert(&object, "v3");
    assert_eq!(hub["metadata"], object["metadata"]);
    assert_eq!(hub["apiVersion"], "shop.example.org/v3");
    assert_eq!(convert(&hub, "v1"), object);
}

#[test]
fn empty_metadata_stays_and_missing_metadata_becomes_empty() {
    for metadata in [json!({"metadata": {}}), json!({})] {
        let mut object = json!({"apiVersion": "shop.example.org/v1", "kind": "Shop", "spec": {"boxes": {}}});
        object.as_object_mut().unwrap().extend(metadata.as_object().unwrap().clone());
        assert_eq!(convert(&object, "v3")["metadata"], json!({}), "{object}");
    }
}

#[test]
fn a_label_that_the_types_do_not_model_survives_an_edit_of_the_annotations() {
    let mut object = shop("v1", json!({"boxes": {"a": {"lamp": {"color": "red"}}}}));
    object["metadata"]["labels"] = json!({"team": "reef"});
    let hub = convert(&object, "v3");
    assert_eq!(hub["metadata"]["labels"], json!({"team": "reef"}));
    assert_eq!(hub["metadata"]["annotations"], json!({"shop.example.org/lamps": r#"{"a":{"color":"red"}}"#}));
    assert_eq!(convert(&hub, "v1"), object);
}

#[test]
fn unknown_fields_stay_where_their_parent_has_a_counterpart() {
    let object = json!({"apiVersion": "shop.example.org/v1", "kind": "Shop", "metadata": {"name": "corner"}, "at": 1,
        "spec": {"open": true, "boxes": {"b": {"dust": [1], "lid": {"color": "red", "rust": {"x": 1}}}, "a": {}}},
        "status": {"visitors": 5}});
    let hub = convert(&object, "v3");
    let boxes = json!([{"name": "a"}, {"name": "b", "dust": [1], "cover": {"color": "red", "rust": {"x": 1}}}]);
    assert_eq!(hub["spec"], json!({"open": true, "boxes": boxes}));
    assert_eq!((&hub["at"], &hub["status"]), (&json!(1), &json!({"visitors": 5})));
    assert_eq!(hub["metadata"], json!({"name": "corner"}));
    assert_eq!(convert(&hub, "v1"), object);
}

#[test]
fn unknown_fields_stay_in_their_place_where_the_result_is_shorter_than_the_source() {
    let fields: serde_json::Map<String, Value> = (0..100).map(|n| (format!("f{n}"), json!(n))).collect();
    let object = shop("v1", json!({"boxes": {"a": fields.clone()}}));
    let spacious = object.to_string().replace(':', &format!(":{}", " ".repeat(40)));
    let hub: Value = serde_json::from_str(&convert_text(&spacious, "v3").unwrap().json).unwrap();
    assert_eq!(hub["spec"]["boxes"][0]["f99"], json!(99));
    assert_eq!(hub["metadata"].get("annotations"), None);
}

#[test]
fn an_unknown_field_without_a_place_waits_in_the_annotation() {
    let object = shop("v1", json!({"boxes": {"a": {"lamp": {"color": "red", "watt": 5}}}}));
    let hub = convert(&object, "v3");
    assert_eq!(hub["spec"]["boxes"], json!([{"name": "a"}]));
    assert!(hub["metadata"]["annotations"][PRESERVED].as_str().unwrap().contains("watt"));
    assert_eq!(convert(&hub, "v1"), object);
}

#[test]
fn an_unknown_field_in_an_object_that_is_empty_otherwise_comes_back() {
    let object = shop("v1", json!({"boxes": {"a": {"lid": {"rust": 1}, "lamp": {"watt": 5}}}, "till": {"cash": 1}}));
    assert_eq!(convert(&convert(&object, "v3"), "v1"), object);
    assert_eq!(convert(&convert(&object, "v2"), "v1"), object);
}

#[test]
fn a_name_that_the_other_version_knows_never_comes_alive() {
    let object = shop("v1", json!({"boxes": {"a": {"cover": {"color": "red"}, "shelf": 3, "name": 5}}}));
    let hub = convert(&object, "v3");
    assert_eq!(hub["spec"]["boxes"], json!([{"name": "a"}]));
    assert_eq!(convert(&hub, "v1"), object);
}

#[test]
fn what_waits_finds_its_item_by_name_after_the_list_was_reordered() {
    let object = shop("v3", json!({"boxes": [{"name": "b", "lamp": {"watt": 5}}, {"name": "a"}]}));
    let mut old = convert(&object, "v1");
    assert_eq!(old["spec"]["boxes"], json!({"a": {}, "b": {}}));
    old["spec"]["boxes"]["0"] = json!({});
    let boxes = json!([{"name": "0"}, {"name": "a"}, {"name": "b", "lamp": {"watt": 5}}]);
    assert_eq!(convert(&old, "v3")["spec"]["boxes"], boxes);
}

#[test]
fn what_waits_never_wins_over_a_live_field_and_goes_with_its_parent() {
    let object = shop("v1", json!({"boxes": {"a": {"lamp": {"color": "red", "watt": 5}}, "b": {"cover": 1}}}));
    let mut hub = convert(&object, "v3");
    hub["spec"]["boxes"] = json!([{"name": "b"}]);
    assert_eq!(convert(&hub, "v1")["spec"]["boxes"], json!({"b": {"cover": 1}}));
    hub["spec"]["boxes"] = json!([{"name": "c"}]);
    let old = convert(&hub, "v1");
    assert_eq!(old["spec"]["boxes"], json!({"c": {}}));
    assert_eq!(old["metadata"], json!({"name": "corner"}));
}

#[test]
fn what_waits_for_one_version_survives_another() {
    let object = shop("v1", json!({"boxes": {"a": {"lamp": {"watt": 5}}}, "extra": 1}));
    let counted = convert(&object, "v2");
    assert_eq!(counted["spec"], json!({"count": 1, "extra": 1}));
    assert_eq!(convert(&counted, "v1"), object);
}

#[test]
fn a_damaged_annotation_is_noted_and_dropped() {
    let mut hub = shop("v3", json!({"boxes": [{"name": "a"}]}));
    for damage in ["{", "[]", r#"{"unknown":{"v1":5}}"#, "null", r#"{"unknown":{"v1":[{"path":[],"value":1}]}}"#] {
        hub["metadata"]["annotations"] = json!({PRESERVED: damage, "shop.example.org/lamps": damage});
        let converted = try_convert(&hub, "v1").unwrap();
        let old: Value = serde_json::from_str(&converted.json).unwrap();
        assert_eq!(old["spec"]["boxes"], json!({"a": {}}), "{damage}");
        assert_eq!(old["metadata"], json!({"name": "corner"}), "{damage}");
    }
    hub["metadata"]["annotations"] = json!({PRESERVED: "{"});
    let rules: Vec<_> = try_convert(&hub, "v1").unwrap().issues.iter().map(|issue| issue.rule).collect();
    assert_eq!(rules, ["STASH"]);
}

#[test]
fn an_annotation_in_a_form_of_a_later_release_is_noted_and_dropped() {
    let kept = |version: u32| json!({"version": version, "unknown": {"v1": [{"path": ["spec", "x"], "value": 1}]}});
    let mut hub = shop("v3", json!({"boxes": []}));
    for (version, spec, notes) in [(1, json!({"boxes": {}, "x": 1}), 0), (2, json!({"boxes": {}}), 1)] {
        hub["metadata"]["annotations"] = json!({PRESERVED: kept(version).to_string()});
        assert_eq!(convert(&hub, "v1"), shop("v1", spec));
        assert_eq!(try_convert(&hub, "v1").unwrap().issues.iter().count(), notes);
    }
}

#[test]
fn raw_subtrees_go_through_whole() {
    let deep = format!("{}1{}", "[".repeat(500), "]".repeat(500));
    let text = format!(
        r#"{{"apiVersion":"shop.example.org/v1","kind":"Shop","metadata":{{}},"spec":{{"boxes":{{"a":{{"goods":{{"x":{deep}}}}}}}}}}}"#
    );
    let hub = crate::shop::webhooks().convert(&text, "shop.example.org/v3").unwrap();
    assert!(hub.json.contains(&deep));
}

#[test]
fn what_would_exceed_the_limit_of_annotations_is_left_out_of_a_marked_view() {
    let color = "x".repeat(ANNOTATION_LIMIT);
    let object = shop("v1", json!({"boxes": {"a": {"lamp": {"color": color}}}}));
    let converted = try_convert(&object, "v3").unwrap();
    let left_out: Vec<String> = converted.left_out.iter().map(ToString::to_string).collect();
    // What no annotation holds doesn't come back, so core would keep it too.
    let annotations = [PRESERVED, "shop.example.org/lamps"];
    assert_eq!(left_out, annotations.map(|key| format!("metadata.annotations[{key}]")));
    let view: Value = serde_json::from_str(&converted.json).unwrap();
    assert_eq!(view["metadata"]["labels"], json!({INCOMPLETE: "true"}));
    assert_eq!(view["metadata"]["annotations"], json!({INCOMPLETE_FIELDS: left_out.join(", ")}));
    let overhead = r#"shop.example.org/lamps{"a":{"color":""}}"#.len();
    let object = shop("v1", json!({"boxes": {"a": {"lamp": {"color": "x".repeat(ANNOTATION_LIMIT - overhead)}}}}));
    assert_eq!(convert(&convert(&object, "v3"), "v1"), object);
}
