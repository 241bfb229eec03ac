//! Lists: items are matched by their `name`, or else by their value, so that an item in front doesn't rewrite those
//! behind it and what the type doesn't know stays with its item.

use std::collections::HashMap;

use serde_json::Value;

use super::{Patch, PatchOperation, same_value};

pub(super) fn walk(before: &[Value], after: &[Value], raw: &[Value], path: &str, patch: &mut Patch) {
    let origins = origins(before, after);
    if !in_order(&origins) {
        let value = Value::Array(rebuilt(before, after, raw, &origins));
        patch.0.push(PatchOperation::Replace { path: path.to_owned(), value });
        return;
    }
    let mut kept = vec![false; before.len()];
    origins.iter().flatten().for_each(|index| kept[*index] = true);
    for index in (0..before.len()).rev().filter(|index| !kept[*index]) {
        patch.0.push(PatchOperation::Remove { path: format!("{path}/{index}") });
    }
    for (index, (wanted, origin)) in after.iter().zip(&origins).enumerate() {
        let path = format!("{path}/{index}");
        match origin {
            Some(was) => super::walk(&before[*was], wanted, &raw[*was], &path, patch),
            None => patch.0.push(PatchOperation::Add { path, value: wanted.clone() }),
        }
    }
}

/// For each item of `after`, the item of `before` that it was.
fn origins(before: &[Value], after: &[Value]) -> Vec<Option<usize>> {
    if let (Some(was), Some(is)) = (names(before), names(after)) {
        let positions: HashMap<&str, usize> = was.into_iter().zip(0..).collect();
        return is.into_iter().map(|name| positions.get(name).copied()).collect();
    }
    if before.len() == after.len() {
        return (0..before.len()).map(Some).collect();
    }
    by_value(before, after)
}

/// The items' names, if each has one of its own.
fn names(items: &[Value]) -> Option<Vec<&str>> {
    let names: Vec<&str> = items.iter().map(|item| item.get("name")?.as_str()).collect::<Option<_>>()?;
    let mut sorted = names.clone();
    sorted.sort_unstable();
    sorted.dedup();
    (sorted.len() == names.len()).then_some(names)
}

/// Equal items in order; the rest is new.
fn by_value(before: &[Value], after: &[Value]) -> Vec<Option<usize>> {
    let mut next = 0;
    let mut find = |wanted: &Value| {
        let offset = before[next..].iter().position(|item| same_value(item, wanted))?;
        next += offset + 1;
        Some(next - 1)
    };
    after.iter().map(&mut find).collect()
}

fn in_order(origins: &[Option<usize>]) -> bool {
    origins.iter().flatten().is_sorted()
}

/// The whole list anew, each item with what the raw one has beyond the type.
fn rebuilt(before: &[Value], after: &[Value], raw: &[Value], origins: &[Option<usize>]) -> Vec<Value> {
    let patched = |(wanted, origin): (&Value, &Option<usize>)| {
        let Some(was) = *origin else { return wanted.clone() };
        let mut item = raw[was].clone();
        match super::diff(&before[was], wanted, &item).apply(&mut item) {
            Ok(()) => item,
            Err(_) => wanted.clone(),
        }
    };
    after.iter().zip(origins).map(patched).collect()
}
