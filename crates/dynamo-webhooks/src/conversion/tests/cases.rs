//! The known cases of conversion, as far as they speak of the spec in this direction.

use serde_json::{Value, json};

use super::{component_object, graph_object, parse};

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/cases/dynamo-conversion.jsonl");

/// What needs the annotation that the other version's remainder is kept in.
const NEEDS_THE_STASH: [&str; 1] = ["conv-dgd-21"];

#[test]
fn cases_of_v1alpha1_to_v1beta1_agree() {
    let Ok(cases) = std::fs::read_to_string(CASES) else { return eprintln!("skipped: there is no {CASES}") };
    let mut failed = Vec::new();
    let mut checked = 0;
    for case in cases.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).filter(is_lift) {
        checked += 1;
        let lifted = lift(&case["kind"], case["input"].clone());
        failed.extend(disagreements(&case, &lifted));
    }
    assert!(checked > 0 && failed.is_empty(), "{}", failed.join("\n"));
}

fn is_lift(case: &Value) -> bool {
    case["from"] == "v1alpha1"
        && case["to"] == "v1beta1"
        && ["DynamoGraphDeployment", "DynamoComponentDeployment"].map(Value::from).contains(&case["kind"])
        && !NEEDS_THE_STASH.map(Value::from).contains(&case["id"])
}

fn lift(kind: &Value, input: Value) -> Value {
    if kind == "DynamoGraphDeployment" { graph_object(input).hub } else { component_object(input).hub }
}

fn disagreements(case: &Value, hub: &Value) -> Vec<String> {
    let id = &case["id"];
    let expected = case["expect_contains"].as_object().cloned().unwrap_or_default();
    let wrong = expected.iter().filter(|(path, _)| !path.contains(" ~ ")).filter_map(|(path, value)| {
        let found = at(hub, path);
        (found != *value).then(|| format!("{id}: {path} is {found}, not {value}"))
    });
    let absent = case["expect_absent"].as_array().cloned().unwrap_or_default();
    let present = absent.iter().filter_map(Value::as_str).map(|path| (path, at(hub, path)));
    let present = present.filter(|(_, found)| !found.is_null()).map(|(path, found)| format!("{id}: {path} is {found}"));
    wrong.chain(present).collect()
}

fn at(hub: &Value, path: &str) -> Value {
    let plain = path.trim_start_matches("$.").replace("['", "[").replace("']", "]");
    parse(&plain).find(hub).cloned().unwrap_or(json!(null))
}
