//! Objects that no API server sends: each converts without a loss, or the error says which field stands in the way.

use gateward_core::conversion::ANNOTATION_LIMIT;
use gateward_core::{ConversionError, FieldPath};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::shop::{INCOMPLETE, INCOMPLETE_FIELDS, PRESERVED, api_version, convert, shop, try_convert, webhooks};

/// The text of a shop of v1.
fn text(spec: &str) -> String {
    whole(r#"{"name":"corner"}"#, spec)
}

fn whole(metadata: &str, spec: &str) -> String {
    format!(r#"{{"apiVersion":"shop.example.org/v1","kind":"Shop","metadata":{metadata},"spec":{spec}}}"#)
}

fn try_text(text: &str, version: &str) -> Result<String, ConversionError> {
    Ok(webhooks().convert(text, &api_version(version))?.json)
}

fn there_and_back(text: &str) -> String {
    let there = try_text(text, "v3").unwrap();
    try_text(&there, "v1").unwrap()
}

fn refusal(text: &str) -> ConversionError {
    try_text(text, "v3").unwrap_err()
}

/// What is demanded of a value that no type knows, where it stays in place and where it waits.
#[track_caller]
fn assert_survives(value: &str) {
    for spec in
        [format!(r#"{{"boxes":{{}},"x":{value}}}"#), format!(r#"{{"boxes":{{"a":{{"lamp":{{"x":{value}}}}}}}}}"#)]
    {
        let text = text(&spec);
        assert_eq!(there_and_back(&text), text);
    }
}

#[test]
fn an_unknown_number_comes_back_to_the_digit() {
    for number in
        ["1e400", "-0.0", "1.10", "1E5", "123456789012345678901234567890", "0.1000000000000000055511151231257827"]
    {
        assert_survives(number);
    }
}

#[test]
fn an_unknown_field_may_nest_as_deeply_as_an_answer_holds_it() {
    assert_survives(&format!("{}1{}", "[".repeat(9_990), "]".repeat(9_990)));
    assert_survives(&format!("{}1{}", r#"{"a":"#.repeat(9_990), "}".repeat(9_990)));
}

#[test]
fn unknown_text_comes_back_as_it_was_escaped() {
    for string in [r#""\u0000""#, r#""\ud83e\udda6""#, r#""\ud800""#, r#""\/""#, "\"\u{1f9a6}\u{7f}\""] {
        assert_survives(string);
    }
}

#[test]
fn a_name_may_hold_anything_or_nothing() {
    for name in ["a.b/c", "", "0", "[0]", "~1", "a\"b\\", "\u{1f9a6}"] {
        let object = shop("v1", json!({"boxes": {name: {"lamp": {name: 1}}}, name: {name: 2}}));
        assert_eq!(convert(&convert(&object, "v3"), "v1"), object, "{name}");
        assert_eq!(convert(&convert(&object, "v2"), "v1"), object, "{name}");
    }
}

#[test]
fn of_an_unknown_field_that_stands_there_twice_the_last_counts() {
    let there = try_text(&text(r#"{"boxes":{},"x":1,"x":2}"#), "v3").unwrap();
    assert_eq!(there, text(r#"{"boxes":[],"x":2}"#).replace("/v1", "/v3"));
}

#[test]
fn a_known_field_that_stands_there_twice_is_left_out_with_its_parent_and_metadata_that_does_is_an_error() {
    let converted = webhooks().convert(&text(r#"{"boxes":{},"boxes":{}}"#), &api_version("v3")).unwrap();
    assert_eq!(shown(&converted.left_out), ["spec"]);
    let error = refusal(&text("{}").replace(r#""metadata""#, r#""metadata":{},"metadata""#));
    assert!(error.to_string().contains("duplicate field `metadata`"), "{error}");
}

#[test]
fn what_is_of_another_type_is_left_out_of_a_marked_view() {
    for (spec, path) in [
        ("null", "spec"),
        ("5", "spec"),
        (r#""x""#, "spec"),
        (r#"{"boxes":null}"#, "spec.boxes"),
        (r#"{"boxes":[]}"#, "spec.boxes"),
        (r#"{"boxes":{"a":5}}"#, "spec.boxes.a"),
        ("[]", "spec"),
        (r#"{"boxes":{"a":[]}}"#, "spec.boxes.a"),
        (r#"{"boxes":{"a":{"lid":["red"]}}}"#, "spec.boxes.a.lid"),
        (r#"{"boxes":{"a":{"lid":{"color":1e400}}}}"#, "spec.boxes.a.lid.color"),
        (r#"{"owner":"\ud800"}"#, "spec.owner"),
    ] {
        let converted = webhooks().convert(&text(spec), &api_version("v3")).unwrap();
        assert_eq!(shown(&converted.left_out), [path], "{spec}");
        let view: Value = serde_json::from_str(&converted.json).unwrap();
        assert_eq!(view["metadata"]["labels"], json!({INCOMPLETE: "true"}), "{spec}");
        assert_eq!(view["metadata"]["annotations"], json!({INCOMPLETE_FIELDS: path}), "{spec}");
        let back = convert(&view, "v1");
        assert_eq!(back["metadata"], json!({"name": "corner"}), "conversion alone sets and removes the mark");
    }
}

#[test]
fn metadata_that_is_no_metadata_is_named() {
    for (metadata, path) in [
        ("null", "metadata"),
        ("[]", "metadata"),
        ("5", "metadata"),
        (r#"{"name":5}"#, "metadata.name"),
        (r#"{"annotations":null}"#, "metadata.annotations"),
        (r#"{"annotations":{"a":1}}"#, "metadata.annotations.a"),
        (r#"{"labels":[]}"#, "metadata"),
    ] {
        assert_eq!(refusal(&whole(metadata, r#"{"x":1}"#)).path.to_string(), path, "{metadata}");
    }
}

#[test]
fn metadata_that_nobody_models_passes_byte_for_byte() {
    let metadata = r#"{ "generation":1e400,"x":{"\ud800":[1.10]},"labels":null,"name":"corner" }"#;
    for unknown in ["", r#","x":1"#] {
        let there = try_text(&whole(metadata, &format!(r#"{{"boxes":{{}}{unknown}}}"#)), "v3").unwrap();
        assert_eq!(there, whole(metadata, &format!(r#"{{"boxes":[]{unknown}}}"#)).replace("/v1", "/v3"));
    }
}

fn shown(paths: &[FieldPath]) -> Vec<String> {
    paths.iter().map(ToString::to_string).collect()
}

#[test]
fn an_annotation_above_the_limit_passes_where_conversion_adds_nothing() {
    let mut object = shop("v1", json!({"boxes": {}}));
    object["metadata"]["annotations"] = json!({"huge": "x".repeat(4 * ANNOTATION_LIMIT)});
    assert_eq!(convert(&convert(&object, "v3"), "v1"), object);
    object["spec"]["boxes"]["a"] = json!({"lamp": {}});
    let converted = try_convert(&object, "v3").unwrap();
    assert_eq!(shown(&converted.left_out), ["metadata.annotations[shop.example.org/lamps]"]);
    let view: Value = serde_json::from_str(&converted.json).unwrap();
    assert_eq!(view["metadata"]["annotations"], object["metadata"]["annotations"], "there is no room for the paths");
    assert_eq!(view["metadata"]["labels"], json!({INCOMPLETE: "true"}));
}

#[test]
fn annotations_above_the_limit_are_carried_along_unread() {
    let mut object = shop("v1", json!({"boxes": {}}));
    let preserved = r#"{"version":1,"unknown":{"v3":[{"path":["spec","dust"],"value":1}]}}"#;
    object["metadata"]["annotations"] = json!({PRESERVED: preserved});
    assert_eq!(convert(&object, "v3")["spec"]["dust"], 1, "below the limit it is read");
    object["metadata"]["annotations"]["huge"] = "x".repeat(ANNOTATION_LIMIT).into();
    let converted = try_convert(&object, "v3").unwrap();
    let view: Value = serde_json::from_str(&converted.json).unwrap();
    assert_eq!(view["spec"], json!({"boxes": []}));
    assert_eq!(view["metadata"], object["metadata"]);
    let noted: Vec<String> = converted.issues.iter().map(|note| note.path.to_string()).collect();
    assert_eq!(noted, ["metadata.annotations"]);
}

/// A shop of v1 with so many boxes, each of this value.
fn boxes(count: usize, each: &str) -> String {
    let boxes: Vec<String> = (0..count).map(|number| format!(r#""b{number:03}":{each}"#)).collect();
    text(&format!(r#"{{"boxes":{{{}}},"owner":"otter"}}"#, boxes.join(",")))
}

#[test]
fn of_many_misfits_in_one_place_the_place_is_left_out_and_of_many_places_each_misfit() {
    let converted = webhooks().convert(&boxes(400, "5"), &api_version("v3")).unwrap();
    assert_eq!(shown(&converted.left_out), ["spec.boxes"]);
    let converted = webhooks().convert(&boxes(40, r#"{"lid":5,"lamp":5}"#), &api_version("v3")).unwrap();
    assert_eq!(converted.left_out.len(), 80);
    let there: Value = serde_json::from_str(&converted.json).unwrap();
    assert_eq!((there["spec"]["boxes"].as_array().unwrap().len(), &there["spec"]["owner"]), (40, &json!("otter")));
}

#[test]
fn as_many_unknown_fields_as_documented_are_carried_and_the_rest_is_left_out() {
    let object = |count: usize, bytes: usize| {
        let text = "x".repeat(bytes);
        let boxes: Map<String, Value> =
            (0..count / 2).map(|i| (format!("{i}"), json!({"dust": text, "lamp": {"watt": text}}))).collect();
        shop("v1", json!({"boxes": boxes}))
    };
    for (count, bytes) in [(64, 1), (1024, 64)] {
        let object = object(count, bytes);
        assert_eq!(convert(&convert(&object, "v3"), "v1"), object, "{count} fields");
    }
    for (count, bytes) in [(512, 1), (4096, 64)] {
        let converted = try_convert(&object(count, bytes), "v3").unwrap();
        assert_eq!(shown(&converted.left_out)[0], "spec", "{count} fields");
    }
    let converted = try_convert(&object(200_000, 1), "v3").unwrap();
    assert_eq!(shown(&converted.left_out)[0], "spec.boxes", "a list that would take far more memory than its text");
}

#[test]
fn as_many_fields_as_documented_come_back_and_find_their_items_in_one_pass() {
    let boxes: Map<String, Value> = (0..3_000).map(|i| (format!("{i}"), json!({}))).collect();
    let kept = |i: usize| json!({"path": ["spec", "boxes", {"name": format!("{i}")}, "x"], "value": format!("{i}")});
    let kept = json!({"version": 1, "unknown": {"v3": (0..3_000).map(kept).collect::<Vec<_>>()}});
    let mut object = shop("v1", json!({"boxes": boxes}));
    object["metadata"]["annotations"] = json!({PRESERVED: kept.to_string()});
    let there = convert(&object, "v3");
    let boxes = there["spec"]["boxes"].as_array().unwrap();
    let back: Vec<&Value> = boxes.iter().filter(|each| !each["x"].is_null()).collect();
    assert_eq!(back.len(), 1024);
    assert!(back.iter().all(|each| each["x"] == each["name"]));
}

fn with_kept(object: &Value, version: &str, kept: &Value) -> Value {
    let mut object = object.clone();
    let text = json!({"version": 1, "unknown": {version: kept}}).to_string();
    object["metadata"]["annotations"] = json!({PRESERVED: text});
    object
}

#[test]
fn a_path_of_thousands_of_steps_brings_nothing_back() {
    let path: Vec<&str> = std::iter::repeat_n("x", 8000).chain(["y"]).collect();
    for hollow in [0, 8000, usize::MAX] {
        let object =
            with_kept(&shop("v1", json!({"boxes": {}})), "v3", &json!([{"path": path, "hollow": hollow, "value": 1}]));
        assert_eq!(convert(&object, "v3"), shop("v3", json!({"boxes": []})));
    }
}

#[test]
fn a_field_that_the_type_knows_never_comes_alive() {
    for (path, value) in [
        (json!(["spec", "owner"]), json!("mallory")),
        (json!(["spec", "owner"]), json!(5)),
        (json!(["spec", "boxes", {"name": "a"}, "shelf"]), json!(7)),
        (json!(["spec", "boxes", {"name": "a"}, "shelf"]), json!("no number")),
        (json!(["spec", "boxes", {"name": "a"}, "cover"]), json!({"color": "red"})),
        (json!(["spec", "boxes", {"name": "a"}, "cover", "x"]), json!(1)),
        (json!(["spec", "boxes", 0, "goods", "x"]), json!(1)),
        (json!(["status", "phase"]), json!("Ready")),
        (json!(["metadata", "finalizers"]), json!(["x"])),
        (json!(["kind"]), json!("Other")),
    ] {
        let kept = json!([{"path": path, "hollow": 1, "value": value}]);
        let object = with_kept(&shop("v1", json!({"boxes": {"a": {"goods": {}}}})), "v3", &kept);
        let expected = shop("v3", json!({"boxes": [{"name": "a", "goods": {}}]}));
        assert_eq!(convert(&object, "v3"), expected, "{path}");
    }
}

#[test]
fn one_field_that_may_not_come_back_takes_no_other_with_it() {
    let kept = json!([
        {"path": ["spec", "novel"], "value": 1},
        {"path": ["spec", "boxes", {"name": "a"}, "cover", "x"], "hollow": 1, "value": 1},
    ]);
    let object = with_kept(&shop("v1", json!({"boxes": {"a": {}}})), "v3", &kept);
    assert_eq!(convert(&object, "v3"), shop("v3", json!({"boxes": [{"name": "a"}], "novel": 1})));
}

#[test]
fn many_fields_that_may_not_come_back_take_no_others_with_them() {
    let names = || (0..20).map(|number| format!("box-{number:02}"));
    let at = |name: &str, field: &[&str]| -> Value {
        let steps = field.iter().map(|step| json!(step));
        [json!("spec"), json!("boxes"), json!({"name": name})].into_iter().chain(steps).collect()
    };
    let kept: Vec<Value> = names()
        .flat_map(|name| {
            let forged = json!({"path": at(&name, &["cover", "x"]), "hollow": 1, "value": 1});
            [forged, json!({"path": at(&name, &["novel"]), "value": 1})]
        })
        .collect();
    let boxes: Map<String, Value> = names().map(|name| (name, json!({}))).collect();
    let object = with_kept(&shop("v1", json!({"boxes": boxes})), "v3", &json!(kept));
    let expected: Vec<Value> = names().map(|name| json!({"name": name, "novel": 1})).collect();
    assert_eq!(convert(&object, "v3"), shop("v3", json!({"boxes": expected})));
}

const NAMES: &[&str] =
    &["boxes", "name", "lid", "cover", "lamp", "color", "owner", "goods", "shelf", "count", "annotations", "x"];

fn members(members: Vec<(&str, Value)>) -> Value {
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 48, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((prop::sample::select(NAMES), inner), 0..5).prop_map(members),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_object_converts_and_comes_back_or_the_error_names_a_field(
        version in prop::sample::select(&["v1", "v2", "v3"][..]),
        through in prop::sample::select(&["v1", "v2", "v3"][..]),
        spec in any_json(),
        annotations in prop::option::of(any_json()),
    ) {
        let mut object = shop(version, spec);
        if let Some(annotations) = annotations {
            object["metadata"]["annotations"] = annotations;
        }
        match try_convert(&object, through) {
            Ok(there) => {
                let there: Value = serde_json::from_str(&there.json).unwrap();
                prop_assert_eq!(&there["metadata"]["name"], "corner");
                prop_assert!(try_convert(&there, version).is_ok());
            }
            Err(error) => prop_assert!(!error.path.is_root(), "{}", error),
        }
    }
}
