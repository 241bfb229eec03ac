//! Lists: items are matched by their `name`, or else by their value, so that an item in front doesn't rewrite those
//! behind it and what the type doesn't know stays with its item.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::Value;
use serde_json::value::RawValue;

use super::operation::{Patch, PatchOperation};
use crate::json::meaning;
use crate::json::members::member_at;

/// What compares two items: before, after and raw, at a path.
type Walk = fn(&str, &str, &str, &str, &mut Patch) -> serde_json::Result<()>;

pub(super) fn walk(
    before: &[&RawValue],
    after: &[&RawValue],
    raw: &[&RawValue],
    path: &str,
    patch: &mut Patch,
    deeper: Walk,
) -> serde_json::Result<()> {
    let origins = origins(before, after);
    if !in_order(&origins) {
        let value = Value::Array(rebuilt(before, after, raw, &origins, deeper)?);
        patch.0.push(PatchOperation::Replace { path: path.to_owned(), value });
        return Ok(());
    }
    let mut kept = vec![false; before.len()];
    origins.iter().flatten().for_each(|index| kept[*index] = true);
    for index in (0..before.len()).rev().filter(|index| !kept[*index]) {
        patch.0.push(PatchOperation::Remove { path: format!("{path}/{index}") });
    }
    for (index, (wanted, origin)) in after.iter().zip(&origins).enumerate() {
        let path = format!("{path}/{index}");
        match origin {
            Some(was) => deeper(before[*was].get(), wanted.get(), raw[*was].get(), &path, patch)?,
            None => patch.0.push(PatchOperation::Add { path, value: serde_json::from_str(wanted.get())? }),
        }
    }
    Ok(())
}

/// For each item of `after`, the item of `before` that it was.
fn origins(before: &[&RawValue], after: &[&RawValue]) -> Vec<Option<usize>> {
    if let (Some(was), Some(is)) = (names(before), names(after)) {
        let positions: HashMap<Cow<'_, str>, usize> = was.into_iter().zip(0..).collect();
        return is.into_iter().map(|name| positions.get(&name).copied()).collect();
    }
    let meanings = |items: &[&RawValue]| items.iter().map(|item| meaning::of(item.get())).collect::<Vec<_>>();
    let mut origins = by_value(&meanings(before), &meanings(after));
    if before.len() == after.len() {
        keep_places(&mut origins);
    }
    origins
}

/// In a list of the same length as before, an item that is equal to none is a changed one, if its place is free.
fn keep_places(origins: &mut [Option<usize>]) {
    let mut free = vec![true; origins.len()];
    origins.iter().flatten().for_each(|&index| free[index] = false);
    for (index, origin) in origins.iter_mut().enumerate().filter(|(index, _)| free[*index]) {
        origin.get_or_insert(index);
    }
}

/// The items' names, if each has one of its own.
fn names<'a>(items: &[&'a RawValue]) -> Option<Vec<Cow<'a, str>>> {
    #[derive(serde::Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

    let name = |item: &&'a RawValue| serde_json::from_str::<Text<'a>>(member_at(item.get(), "name")?).ok();
    let names: Vec<Cow<'a, str>> = items.iter().map(|item| Some(name(item)?.0)).collect::<Option<_>>()?;
    let mut sorted: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    sorted.sort_unstable();
    sorted.dedup();
    (sorted.len() == names.len()).then_some(names)
}

/// Beyond this many comparisons, items are taken as new rather than looked for.
const MOST_COMPARISONS: usize = 1 << 20;

/// Equal items at both ends, then each other item by an equal one that is left, the nearest below first.
fn by_value(before: &[u128], after: &[u128]) -> Vec<Option<usize>> {
    let shorter = before.len().min(after.len());
    let head = before.iter().zip(after).take_while(|(was, is)| was == is).count();
    let ends = before.iter().rev().zip(after.iter().rev()).take(shorter - head);
    let tail = ends.take_while(|(was, is)| was == is).count();
    let (was, is) = (&before[head..before.len() - tail], &after[head..after.len() - tail]);
    let middle = if was.len().saturating_mul(is.len()) > MOST_COMPARISONS {
        vec![None; is.len()]
    } else {
        each_by_an_equal_one(was, is)
    };
    let middle = middle.into_iter().map(|origin| origin.map(|index| index + head));
    let tail = (before.len() - tail..before.len()).map(Some);
    (0..head).map(Some).chain(middle).chain(tail).collect()
}

fn each_by_an_equal_one(before: &[u128], after: &[u128]) -> Vec<Option<usize>> {
    let mut left: Vec<Option<&u128>> = before.iter().map(Some).collect();
    let mut next = 0;
    let mut find = |wanted: &u128| {
        let order = (next..left.len()).chain(0..next);
        let found = order.into_iter().find(|&index| left[index] == Some(wanted))?;
        left[found] = None;
        next = found + 1;
        Some(found)
    };
    after.iter().map(&mut find).collect()
}

fn in_order(origins: &[Option<usize>]) -> bool {
    origins.iter().flatten().is_sorted()
}

/// The whole list anew, each item with what the raw one has beyond the type.
fn rebuilt(
    before: &[&RawValue],
    after: &[&RawValue],
    raw: &[&RawValue],
    origins: &[Option<usize>],
    deeper: Walk,
) -> serde_json::Result<Vec<Value>> {
    let patched = |(wanted, origin): (&&RawValue, &Option<usize>)| {
        let Some(was) = *origin else { return serde_json::from_str(wanted.get()) };
        let mut item = serde_json::from_str(raw[was].get())?;
        let mut patch = Patch::default();
        deeper(before[was].get(), wanted.get(), raw[was].get(), "", &mut patch)?;
        match patch.apply(&mut item) {
            Ok(()) => Ok(item),
            Err(_) => serde_json::from_str(wanted.get()),
        }
    };
    after.iter().zip(origins).map(patched).collect()
}
