//! The known cases of conversion, in both directions and there and back.

use serde_json::{Value, json};

use super::{convert, parse};

const CASES: &str = include_str!("../../../tests/cases/dynamo-conversion.jsonl");

/// Where the book loses a field that is kept here.
const KEPT_ON_PURPOSE: [&str; 1] = ["conv-rt-03"];

#[test]
fn cases_of_graphs_components_and_adapters_agree() {
    let cases: Vec<Value> = CASES.lines().map(|line| serde_json::from_str(line).unwrap()).filter(is_ours).collect();
    let failed: Vec<String> = cases.iter().flat_map(disagreements).collect();
    assert!(!cases.is_empty() && failed.is_empty(), "{}", failed.join("\n"));
}

fn is_ours(case: &Value) -> bool {
    let id = case["id"].as_str().unwrap();
    case["kind"] != "DynamoGraphDeploymentRequest" && !KEPT_ON_PURPOSE.contains(&id)
}

fn disagreements(case: &Value) -> Vec<String> {
    let id = &case["id"];
    let Some(converted) = answer(case) else {
        return if case["expect_error"] == true { Vec::new() } else { vec![format!("{id}: an error")] };
    };
    if case["expect_error"] == true {
        return vec![format!("{id}: no error")];
    }
    let expected = case["expect_contains"].as_object().cloned().unwrap_or_default();
    let wrong = expected.iter().filter_map(|(path, value)| {
        let found = at(&converted, path);
        (found.clone().unwrap_or_default() != *value).then(|| format!("{id}: {path} is {found:?}, not {value}"))
    });
    let absent = case["expect_absent"].as_array().cloned().unwrap_or_default();
    let present = absent.iter().filter_map(Value::as_str).filter_map(|path| Some((path, at(&converted, path)?)));
    let present = present.map(|(path, found)| format!("{id}: {path} is {found}"));
    wrong.chain(present).collect()
}

/// The object after all its conversions; `None` where one failed.
fn answer(case: &Value) -> Option<Value> {
    let mut object = case["input"].clone();
    for version in [&case["via"], &case["to"]].into_iter().filter_map(Value::as_str) {
        object = convert(&object, version).ok()?.0;
    }
    Some(object)
}

/// A path may lead into an annotation: ` ~ ` stands between the way to it and the way on in the JSON that it holds.
fn at(object: &Value, path: &str) -> Option<Value> {
    let (outer, inner) = path.split_once(" ~ ").map_or((path, None), |(outer, inner)| (outer, Some(inner)));
    let found = find(object, outer)?;
    let Some(inner) = inner else { return Some(found) };
    let held: Value = serde_json::from_str(found.as_str()?).unwrap_or(json!(null));
    find(&held, inner)
}

fn find(object: &Value, path: &str) -> Option<Value> {
    let plain = path.trim_start_matches('$').trim_start_matches('.').replace("['", "[").replace("']", "]");
    parse(&plain).find(object).cloned()
}
