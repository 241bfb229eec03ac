//! Schemas judge as the API server's own checks do, and no schema or object makes them panic.

#![allow(clippy::unwrap_used, reason = "tests")]

use gateward_lint::schema::{Schema, SchemaFault, SchemaFinding, WriteKind};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

struct Judged {
    causes: Vec<String>,
    unknown: Vec<String>,
    defaulted: Value,
}

fn judge(case: &Value) -> Judged {
    let whole = case["whole"] == true;
    let schema =
        if whole { case["schema"].clone() } else { json!({"type": "object", "properties": {"spec": case["schema"]}}) };
    let mut object = if whole {
        case["object"].clone()
    } else {
        json!({"apiVersion": "a/v1", "kind": "K", "metadata": {"name": "x"}, "spec": case["object"]})
    };
    let schema = Schema::compile(&schema).unwrap();
    schema.apply_defaults(&mut object);
    let (unknown, causes): (Vec<_>, Vec<_>) =
        schema.validate(&object).into_iter().partition(|finding| finding.fault == SchemaFault::UnknownField);
    let line = |finding: &SchemaFinding| format!("{}: {finding}", finding.api_path());
    Judged {
        causes: causes.iter().map(line).collect(),
        unknown: unknown.iter().map(|finding| finding.api_path().to_string()).collect(),
        defaulted: object.get("spec").cloned().unwrap_or_default(),
    }
}

fn sorted(value: &Value) -> Vec<String> {
    let mut texts: Vec<String> =
        value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
    texts.sort();
    texts
}

#[test]
fn agrees_with_the_recorded_api_server() {
    for line in include_str!("data/apiserver-schema.jsonl").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let mut judged = judge(&case);
        judged.causes.sort();
        judged.unknown.sort();
        if case["undecodable"] == true {
            assert!(!judged.causes.is_empty(), "{line}");
            continue;
        }
        if case["known"] == true {
            assert_eq!(judged.causes.is_empty(), sorted(&case["causes"]).is_empty(), "{line}");
        } else {
            assert_eq!(judged.causes, sorted(&case["causes"]), "{line}");
        }
        assert_eq!(judged.unknown, sorted(&case["unknown"]), "{line}");
        if let Some(defaulted) = case.get("defaulted") {
            assert_eq!(&judged.defaulted, defaulted, "{line}");
        }
    }
}

#[test]
fn a_node_of_the_wrong_type_has_one_finding() {
    let judged = judge(&json!({"schema": {"type": "string", "enum": ["a", "b"]}, "object": 5}));
    assert_eq!(judged.causes, [r#"spec: Invalid value: "integer": spec in body must be of type string: "integer""#]);
    let int_or_string = json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]});
    let judged = judge(&json!({"schema": int_or_string, "object": true}));
    assert_eq!(
        judged.causes,
        [r#"spec: Invalid value: "boolean": spec in body must be of type integer,string: "boolean""#]
    );
}

#[test]
fn alternatives_say_what_failed_at_their_own_node() {
    let one = json!({"properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "type": "object",
        "oneOf": [{"required": ["a"]}, {"required": ["b"]}]});
    let judged = judge(&json!({"schema": one, "object": {"a": "", "b": ""}}));
    let expected =
        r#"spec: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found 2 valid alternatives"#;
    assert_eq!(judged.causes, [expected]);
}

#[test]
fn alternatives_never_call_a_member_unknown() {
    let deep = json!({"type": "object", "properties": {"a": {"type": "object", "properties": {
        "b": {"type": "object", "properties": {"c": {"type": "integer"}, "d": {"type": "integer"}}},
    }}}, "allOf": [{"properties": {"a": {"properties": {"b": {"properties": {"c": {"minimum": 1}}}}}}}]});
    let judged = judge(&json!({"schema": deep, "object": {"a": {"b": {"c": 0, "d": 1}}}}));
    assert_eq!(judged.causes.len(), 1);
    assert!(judged.unknown.is_empty());
}

#[test]
fn a_hostile_object_gets_a_bounded_answer() {
    let schema = Schema::compile(&json!({"type": "object", "properties": {
        "spec": {"type": "array", "items": {"type": "object", "required": ["a", "b", "c"]}},
    }}))
    .unwrap();
    let items: Vec<Value> = (0..100_000).map(|number| json!({number.to_string(): number})).collect();
    assert!(schema.validate(&json!({"spec": items})).len() < 1000);
    let long = "x".repeat(1_000_000);
    let findings = schema.validate(&json!({"spec": [{long.clone(): long}], "apiVersion": {}}));
    assert!(findings.iter().all(|finding| finding.to_string().len() < 2_100_000));
}

#[test]
fn a_schema_nested_too_deep_is_an_error() {
    let deep = (0..1_000).fold(json!({}), |inner, _| json!({"items": inner}));
    assert!(Schema::compile(&deep).is_err());
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-3..4_i64).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-d]{0,3}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map("[a-d]", inner, 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// One member of a schema; most are well-formed.
fn keyword(inner: BoxedStrategy<Value>) -> impl Strategy<Value = (String, Value)> {
    let named = |name: &'static str, value: BoxedStrategy<Value>| value.prop_map(move |value| (name.to_owned(), value));
    let kind = prop::sample::select(vec!["object", "array", "string", "integer", "number", "boolean"]);
    let properties = prop::collection::btree_map("[a-d]", inner.clone(), 0..4);
    let names = prop::collection::vec("[a-d]", 0..3).prop_map(|names| json!(names)).boxed();
    let schemas = prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from).boxed();
    let number = prop_oneof![(-3..4_i64).prop_map(Value::from), any::<f64>().prop_map(Value::from)].boxed();
    let flag = any::<bool>().prop_map(Value::from).boxed();
    prop_oneof![
        4 => named("type", kind.prop_map(Value::from).boxed()),
        4 => named("properties", properties.prop_map(|map| json!(map)).boxed()),
        2 => named("items", inner.clone()),
        2 => named("additionalProperties", prop_oneof![inner.clone(), flag.clone()].boxed()),
        1 => named("required", names.clone()),
        1 => named("x-kubernetes-list-map-keys", names),
        1 => named("x-kubernetes-list-type", prop::sample::select(vec!["set", "map"]).prop_map(Value::from).boxed()),
        1 => prop::sample::select(vec!["allOf", "anyOf", "oneOf"])
            .prop_flat_map(move |name| schemas.clone().prop_map(move |value| (name.to_owned(), value))),
        1 => named("not", inner),
        1 => prop::sample::select(vec!["minimum", "maximum", "multipleOf", "minLength", "maxItems", "maxProperties"])
            .prop_flat_map(move |name| number.clone().prop_map(move |value| (name.to_owned(), value))),
        1 => prop::sample::select(vec![
            "nullable", "uniqueItems", "exclusiveMinimum", "x-kubernetes-int-or-string",
            "x-kubernetes-embedded-resource", "x-kubernetes-preserve-unknown-fields",
        ]).prop_flat_map(move |name| flag.clone().prop_map(move |value| (name.to_owned(), value))),
        1 => named("default", any_json().boxed()),
        1 => named("enum", prop::collection::vec(any_json(), 0..3).prop_map(Value::from).boxed()),
        1 => named("pattern", "[a-c\\[\\]^$\\\\dw*&-]{0,6}".prop_map(Value::from).boxed()),
        1 => ("[a-z]{1,8}", any_json()),
    ]
}

fn any_schema() -> impl Strategy<Value = Value> {
    Just(json!({})).prop_recursive(4, 60, 6, |inner| {
        prop::collection::vec(keyword(inner), 0..6)
            .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>()))
    })
}

proptest! {
    #[test]
    fn nothing_makes_a_schema_panic(schema in any_schema(), object in any_json()) {
        if let Ok(schema) = Schema::compile(&schema) {
            let mut defaulted = object.clone();
            schema.apply_defaults(&mut defaulted);
            for object in [&object, &defaulted] {
                for finding in schema.validate(object) {
                    prop_assert!(!finding.to_string().is_empty());
                }
                schema.cel_rules_on(object, WriteKind::Update);
            }
        }
    }

    #[test]
    fn defaulting_again_changes_nothing(schema in any_schema(), object in any_json()) {
        // A default may hold nulls that its own schema refuses; the API server admits no such CRD.
        prop_assume!(!schema.to_string().contains("null"));
        if let Ok(schema) = Schema::compile(&schema) {
            let mut once = object;
            schema.apply_defaults(&mut once);
            let mut twice = once.clone();
            schema.apply_defaults(&mut twice);
            prop_assert_eq!(once, twice);
        }
    }

    #[test]
    fn anything_may_be_a_schema(schema in any_json(), object in any_json()) {
        if let Ok(schema) = Schema::compile(&schema) {
            schema.validate(&object);
        }
    }
}
