//! The known cases of requests.

use gateward_core::FieldPath;
use serde_json::Value;

use super::super::super::tests::parse;
use super::{kept, lifted, lowered};

const CASES: &str = include_str!("../../../../tests/cases/dynamo-conversion.jsonl");

/// A conversion must never fail: a configuration that is no map is carried along unread.
const DIFFERENT: [&str; 1] = ["conv-dgdr-14"];

#[test]
fn cases_agree() {
    let cases = CASES.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).filter(is_ours);
    let (mut checked, mut failed) = (0, Vec::new());
    for case in cases {
        checked += 1;
        failed.extend(disagreements(&case, &converted(&case)));
    }
    assert!(checked > 0 && failed.is_empty(), "{}", failed.join("\n"));
}

fn is_ours(case: &Value) -> bool {
    case["kind"] == "DynamoGraphDeploymentRequest"
        && case["era"].as_str().is_some_and(|era| era.contains('N'))
        && ["from", "to"].iter().all(|end| case[end] != "v1beta2")
        && !DIFFERENT.map(Value::from).contains(&case["id"])
}

fn converted(case: &Value) -> Value {
    let mut object = case["input"].clone();
    for version in [&case["via"], &case["to"]] {
        object = match version.as_str() {
            Some("v1beta1") if object["apiVersion"] == "nvidia.com/v1alpha1" => lifted(&object),
            Some("v1alpha1") if object["apiVersion"] == "nvidia.com/v1beta1" => lowered(&object),
            _ => object,
        };
    }
    object
}

fn disagreements(case: &Value, object: &Value) -> Vec<String> {
    let id = &case["id"];
    let expected = case["expect_contains"].as_object().cloned().unwrap_or_default();
    let wrong = expected.iter().filter_map(|(path, value)| {
        let found = at(object, path);
        (!same(&found, value)).then(|| format!("{id}: {path} is {found}, not {value}"))
    });
    let absent = case["expect_absent"].as_array().cloned().unwrap_or_default();
    let present = absent.iter().filter_map(Value::as_str).map(|path| (path, at(object, path)));
    let present = present.filter(|(_, found)| !found.is_null()).map(|(path, found)| format!("{id}: {path} is {found}"));
    wrong.chain(present).collect()
}

fn same(one: &Value, other: &Value) -> bool {
    gateward_core::json::patch::same_value(one, other)
}

/// A path into an annotation is `PATH ~ PATH`.
fn at(object: &Value, path: &str) -> Value {
    if let Some((annotation, inside)) = path.split_once(" ~ ") {
        let key = annotation.trim_start_matches("$.metadata.annotations['").trim_end_matches("']");
        return at(&kept(object, key), inside);
    }
    if path.starts_with("$.metadata.annotations[") {
        let key = path.trim_start_matches("$.metadata.annotations['").trim_end_matches("']");
        return object["metadata"]["annotations"][key].clone();
    }
    let path: FieldPath = parse(path.trim_start_matches("$."));
    path.find(object).cloned().unwrap_or_default()
}
