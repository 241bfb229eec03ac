//! One case of the rule book, as its file states it.

use serde_json::Value;

/// A step into a document.
enum Step {
    Member(String),
    Item(usize),
}

/// What stands at a path of a case: `$.a['b.c'][0]`, with `~` before a path into the JSON that a text holds.
pub fn at(document: &Value, path: &str) -> Option<Value> {
    match path.split_once(" ~ ") {
        Some((text, inner)) => {
            let text = at(document, text)?;
            at(&serde_json::from_str(text.as_str()?).ok()?, inner)
        }
        None => steps(path).iter().try_fold(document, |value, step| into(value, step)).cloned(),
    }
}

fn into<'v>(value: &'v Value, step: &Step) -> Option<&'v Value> {
    match step {
        Step::Member(name) => value.get(name),
        Step::Item(index) => value.get(index),
    }
}

fn steps(path: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut rest = path.trim().trim_start_matches('$');
    while !rest.is_empty() {
        let (step, after) = first(rest);
        steps.push(step);
        rest = after;
    }
    steps
}

fn first(path: &str) -> (Step, &str) {
    if let Some(rest) = path.strip_prefix("['") {
        let (name, rest) = rest.split_once("']").unwrap();
        return (Step::Member(name.to_owned()), rest);
    }
    if let Some(rest) = path.strip_prefix('[') {
        let (index, rest) = rest.split_once(']').unwrap();
        return (Step::Item(index.parse().unwrap()), rest);
    }
    let path = path.trim_start_matches('.');
    let (name, rest) = path.split_at(path.find(['.', '[']).unwrap_or(path.len()));
    (Step::Member(name.to_owned()), rest)
}

/// Writes a value at a path of a case, or takes out what stands there.
pub fn edit(document: &mut Value, path: &str, value: Option<Value>) {
    let mut steps = steps(path);
    let last = steps.pop().unwrap();
    let parent = steps.iter().fold(document, |value, step| match step {
        Step::Member(name) => &mut value[name],
        Step::Item(index) => &mut value[index],
    });
    match (last, value) {
        (Step::Member(name), Some(value)) => parent[name] = value,
        (Step::Member(name), None) => drop(parent.as_object_mut().unwrap().remove(&name).unwrap()),
        (Step::Item(index), Some(value)) => parent[index] = value,
        (Step::Item(index), None) => drop(parent.as_array_mut().unwrap().remove(index)),
    }
}

/// Whether `found` says all that `expected` says, and no more.
pub fn says(found: Option<&Value>, expected: &Value) -> bool {
    gateward::testing::differences(expected, found.unwrap_or(&Value::Null)).is_empty()
}
