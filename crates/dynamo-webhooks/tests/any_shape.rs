//! No shape of an object leaves a request without an answer: every node of large objects is replaced by each JSON type
//! in turn, in the new object and in the stored one.

#![allow(clippy::panic, clippy::expect_used, reason = "assertions of tests")]

mod support;

use std::collections::BTreeMap;

use gateward::testing::block_on;
use gateward::{GroupVersionKind, Review, ReviewResponse, Webhooks};
use serde_json::{Value, json};
use support::{Ask, Case, FILES, folder, ordinary_user};

/// How many objects of each kind and version are taken apart, the largest first.
const OBJECTS: usize = 3;

#[test]
fn every_shape_of_an_object_gets_an_answer() {
    let webhooks = dynamo_webhooks::webhooks();
    let cases: Vec<Case> = FILES.iter().flat_map(|file| Case::ours(&folder(), file)).collect();
    for case in largest(&cases) {
        for (pointer, shape) in shapes(&case.object) {
            let mut other = case.object.clone();
            *other.pointer_mut(&pointer).expect("the pointer is one of the object") = shape;
            let about = || format!("{} with another {pointer}", case.id);
            assert_answered(&webhooks, case, "CREATE", &Value::Null, &other, about);
            assert_answered(&webhooks, case, "UPDATE", &case.object, &other, about);
            assert_answered(&webhooks, case, "UPDATE", &other, &case.object, about);
        }
    }
}

fn largest(cases: &[Case]) -> impl Iterator<Item = &Case> {
    let mut by_kind: BTreeMap<GroupVersionKind, Vec<&Case>> = BTreeMap::new();
    for case in cases.iter().filter(|case| case.object.is_object()) {
        by_kind.entry(case.gvk()).or_default().push(case);
    }
    by_kind.into_values().flat_map(|mut cases| {
        cases.sort_by_key(|case| std::cmp::Reverse(case.object.to_string().len()));
        cases.into_iter().take(OBJECTS)
    })
}

/// Every node below the root's identity, with each value that stands for a JSON type.
fn shapes(object: &Value) -> Vec<(String, Value)> {
    let mut pointers = Vec::new();
    collect(object, "", &mut pointers);
    pointers.retain(|pointer| !matches!(pointer.as_str(), "" | "/apiVersion" | "/kind"));
    let values =
        [json!(null), json!(true), json!(-5), json!(1e300), json!(""), json!("x"), json!([]), json!([[{}]]), json!({})];
    let each = |pointer: String| values.clone().map(|value| (pointer.clone(), value));
    pointers.into_iter().flat_map(each).collect()
}

fn collect(node: &Value, pointer: &str, pointers: &mut Vec<String>) {
    pointers.push(pointer.to_owned());
    match node {
        Value::Object(members) => {
            for (name, member) in members {
                collect(member, &format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1")), pointers);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                collect(item, &format!("{pointer}/{index}"), pointers);
            }
        }
        _ => {}
    }
}

/// A verdict, or, where the stored object is at fault, which isn't the user's, the word that the request can't be read.
fn assert_answered(
    webhooks: &Webhooks,
    case: &Case,
    operation: &str,
    old: &Value,
    object: &Value,
    about: impl Fn() -> String,
) {
    let ask = |review: Review, object: &Value| {
        let ask = Ask { uid: "shape", gvk: case.gvk(), operation, old, object, user: ordinary_user() };
        let path = webhooks.path_of(review, &case.gvk())?;
        let answer = block_on(webhooks.handle(&path, &ask.body(webhooks), &case.context()));
        assert!(matches!(answer.status, 200 | 400), "{operation} of {}: {}", about(), answer.status);
        assert!(answer.status == 200 || operation == "UPDATE", "CREATE of {}: {}", about(), answer.status);
        Some(answer)
    };
    if let Some(judged) = ask(Review::Validate, object) {
        assert_in_the_users_words(case, &judged, &about);
    }
    if let Some(patched) = ask(Review::Mutate, object).and_then(|answer| patched(&answer, object)) {
        let again = ask(Review::Mutate, &patched).expect("the same webhook answers");
        assert!(again.decision.patch.is_empty(), "{operation} of {}: defaults of defaults", about());
    }
}

/// The object with its defaults, where there are some.
fn patched(answer: &ReviewResponse, object: &Value) -> Option<Value> {
    let mut object = object.clone();
    answer.decision.patch.apply(&mut object).expect("a patch fits its object");
    (!answer.decision.patch.is_empty()).then_some(object)
}

/// No finding about a v1alpha1 graph stands at a field that only v1beta1 has.
fn assert_in_the_users_words(case: &Case, answer: &ReviewResponse, about: impl Fn() -> String) {
    if case.version() == "v1alpha1" {
        for issue in &answer.decision.issues {
            let path = issue.path.to_string();
            let foreign = path.starts_with("spec.components") || path.starts_with("spec.podTemplate");
            assert!(!foreign, "{}: {path}", about());
        }
    }
}
