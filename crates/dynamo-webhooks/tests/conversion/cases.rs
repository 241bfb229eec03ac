//! The cases of the rule book in `tests/cases/`, and our own in `tests/conversion/cases/`: one JSON object a line.
//!
//! Our own say more: `via` may be a list, `edit` changes the object after the first conversion (`value` is written at
//! `path`, without one it is taken out), what `expect_present` lists is there even where it is empty, what
//! `expect_absent` lists isn't there at all, and what `expect_exactly` lists is there with all that is empty in it.

use std::path::Path;

use gateward::json::patch::same_value;
use serde_json::Value;

use crate::case::{at, edit, says};
use crate::kinds::convert;

/// Cases that fix what upstream does and we don't, with the passage that says so.
const DEVIATIONS: [(&str, &str); 3] = [
    (
        "conv-dgd-38",
        "a status stash that can't be read is dropped with a note, it fails nothing (section 8, last paragraph)",
    ),
    ("conv-dgdr-14", "a profiling configuration that is no object fails nothing; the schema admits none"),
    ("conv-rt-03", "a bare prefill or decode comes back as it was written (the loss of section 2.8, row 1, is kept)"),
];

fn of_file(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let line = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    text.lines().map(line).collect()
}

fn of_the_book() -> Vec<Value> {
    of_file(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/dynamo-conversion.jsonl"))
}

fn our_own() -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conversion/cases");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files
        .filter(|file| file.extension().is_some_and(|found| found == "jsonl"))
        .flat_map(|file| of_file(&file))
        .collect()
}

fn text<'c>(case: &'c Value, member: &str) -> &'c str {
    case[member].as_str().unwrap_or_default()
}

/// Why a case is not for us.
fn skipped(case: &Value) -> Option<String> {
    if !text(case, "era").contains('N') {
        return Some(format!("it holds in era {} only", text(case, "era")));
    }
    if ["from", "to", "via"].iter().any(|member| text(case, member) == "v1beta2") {
        return Some("v1beta2 is not served".to_owned());
    }
    let deviation = DEVIATIONS.iter().find(|(id, _)| *id == text(case, "id"))?;
    Some(format!("a deviation: {}", deviation.1))
}

#[test]
fn the_cases_of_the_rule_book_hold() {
    all_hold(&of_the_book(), contradictions);
}

#[test]
fn our_own_cases_hold() {
    let cases = our_own();
    let mut ids: Vec<_> = cases.iter().map(|case| text(case, "id")).collect();
    ids.sort_unstable();
    let twice = ids.windows(2).find(|pair| pair[0] == pair[1]);
    assert_eq!(twice, None, "two cases have the same id");
    all_hold(&cases, |case, found| contradictions(case, found).into_iter().chain(presences(case, found)).collect());
}

fn all_hold(cases: &[Value], judge: impl Fn(&Value, &Value) -> Vec<String>) {
    let mut failed = Vec::new();
    for case in cases {
        match skipped(case) {
            Some(reason) => println!("{} skipped: {reason}", text(case, "id")),
            None => failed.extend(
                faults(case, &judge)
                    .into_iter()
                    .map(|fault| format!("{} ({}): {fault}", text(case, "id"), case["note"])),
            ),
        }
    }
    assert!(failed.is_empty(), "{} faults:\n{}", failed.len(), failed.join("\n"));
}

/// What a case demands of members that say nothing, too.
fn presences(case: &Value, found: &Value) -> Vec<String> {
    let listed = |member: &str| case[member].as_array().into_iter().flatten().filter_map(Value::as_str);
    let missing = listed("expect_present").filter(|path| at(found, path).is_none());
    let empty = listed("expect_absent").filter(|path| at(found, path).is_some());
    let missing = missing.map(|path| format!("{path} should be there\n    in {found}"));
    let exact = case["expect_exactly"].as_object().into_iter().flatten();
    let other = exact.filter(|(path, value)| !at(found, path).is_some_and(|there| same_value(&there, value)));
    let other = other.map(|(path, value)| format!("{path} should be exactly {value}\n    in {found}"));
    let empty = empty.map(|path| format!("{path} should not be there\n    in {found}"));
    missing.chain(empty).chain(other).collect()
}

/// Through which versions an object goes.
fn way(case: &Value) -> Vec<&str> {
    let via = &case["via"];
    let between = via.as_str().into_iter().chain(via.as_array().into_iter().flatten().filter_map(Value::as_str));
    between.chain(case["to"].as_str()).collect()
}

fn converted(case: &Value) -> Result<Value, String> {
    let way = way(case);
    let mut object = convert(&case["input"], way[0])?;
    for change in case["edit"].as_array().into_iter().flatten() {
        edit(&mut object, change["path"].as_str().unwrap(), change.get("value").cloned());
    }
    way[1..].iter().try_fold(object, |object, version| convert(&object, version))
}

fn faults(case: &Value, judge: impl Fn(&Value, &Value) -> Vec<String>) -> Vec<String> {
    match (converted(case), case["expect_error"] == true) {
        (Err(_), true) => Vec::new(),
        (Ok(_), true) => vec!["it should have failed".to_owned()],
        (Err(error), false) => vec![error],
        (Ok(found), false) => judge(case, &found),
    }
}

fn contradictions(case: &Value, found: &Value) -> Vec<String> {
    let expected = case["expect_contains"].as_object().into_iter().flatten();
    let wrong = expected.filter_map(|(path, expected)| {
        let there = at(found, path);
        (!says(there.as_ref(), expected)).then(|| format!("{path} should be {expected}, is {there:?}\n    in {found}"))
    });
    let absent = case["expect_absent"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let present = absent.filter_map(|path| {
        let there = at(found, path);
        (!says(there.as_ref(), &Value::Null)).then(|| format!("{path} should be absent, is {there:?}\n    in {found}"))
    });
    wrong.chain(present).collect()
}

#[test]
fn a_status_stash_that_can_not_be_read_fails_nothing() {
    for (kind, key) in
        [("DynamoGraphDeployment", "nvidia.com/dgd-status"), ("DynamoComponentDeployment", "nvidia.com/dcd-status")]
    {
        for version in ["v1alpha1", "v1beta1"] {
            let object = serde_json::json!({
                "apiVersion": format!("nvidia.com/{version}"), "kind": kind,
                "metadata": {"name": "otter", "namespace": "tidepool", "annotations": {key: "{broken"}},
                "spec": {}, "status": {"state": "pending"},
            });
            let other = if version == "v1alpha1" { "v1beta1" } else { "v1alpha1" };
            let found = convert(&object, other).unwrap();
            assert!(says(at(&found, &format!("$.metadata.annotations['{key}']")).as_ref(), &Value::Null), "{found}");
        }
    }
}

#[test]
fn a_profiling_configuration_that_is_no_object_fails_nothing_and_goes_because_no_schema_admits_it() {
    let request = serde_json::json!({
        "apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeploymentRequest",
        "metadata": {"name": "otter-req", "namespace": "tidepool"},
        "spec": {"model": "acme/otter-7b", "backend": "vllm",
            "profilingConfig": {"profilerImage": "r/prof:1", "config": "not-an-object"}},
    });
    let back = convert(&convert(&request, "v1beta1").unwrap(), "v1alpha1").unwrap();
    let config = |request: &Value| request["spec"]["profilingConfig"].get("config").cloned();
    assert_eq!(config(&back), None, "{back}");
    assert_eq!(back["spec"]["profilingConfig"]["profilerImage"], request["spec"]["profilingConfig"]["profilerImage"]);
}
