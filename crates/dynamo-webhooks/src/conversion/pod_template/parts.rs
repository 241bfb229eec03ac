//! The parts of a pod as the texts that they are.

use std::borrow::Cow;
use std::collections::BTreeMap;

use gateward::conversion::raw_parts::{RawMember, items, member_at, members};
use serde_json::value::RawValue;

/// The parts of an object, to be written in the order of their names.
pub(super) type Parts<'a> = BTreeMap<Cow<'a, str>, Cow<'a, RawValue>>;

/// Whether all are objects, each with a name of its own.
pub(super) fn are_named_once<'a>(objects: impl Iterator<Item = Option<&'a RawValue>>) -> bool {
    let names: Option<Vec<&str>> = objects.map(|object| object.and_then(name_of)).collect();
    names.is_some_and(are_distinct)
}

/// The name of an object that has one, without an escape in it.
pub(super) fn name_of(object: &RawValue) -> Option<&str> {
    let object = object.get();
    let name = object.starts_with('{').then(|| member_at(object, "name"))??;
    let name = name.strip_prefix('"')?.strip_suffix('"')?;
    (!name.is_empty() && !name.contains('\\')).then_some(name)
}

/// The members of an object that has some, none of them empty.
pub(super) fn parts(object: &RawValue) -> Option<Vec<RawMember<'_>>> {
    let is_empty = |part: &str| {
        let mut bytes = part.bytes().filter(|byte| !byte.is_ascii_whitespace());
        let ends = (bytes.next(), bytes.next(), bytes.next());
        part == "null" || matches!(ends, (Some(b'['), Some(b']'), _) | (Some(b'{'), Some(b'}'), _)) || part == "\"\""
    };
    members(object.get()).filter(|parts| !parts.is_empty() && !parts.iter().any(|(_, part)| is_empty(part.get())))
}

/// Whether a part that isn't empty is surely no zero value either.
pub(super) fn says_something(part: &RawValue) -> bool {
    part.get().starts_with(['"', '['])
}

pub(super) fn removed<'a>(members: &mut Vec<RawMember<'a>>, name: &str) -> Option<&'a RawValue> {
    let place = members.iter().position(|(own, _)| own == name)?;
    Some(members.remove(place).1)
}

pub(super) fn borrowed<'a>(members: &[RawMember<'a>]) -> Parts<'a> {
    members.iter().map(|(name, part)| (name.clone(), Cow::Borrowed(*part))).collect()
}

/// Whether a main container says something, and nothing twice. Its resources and mounts are looked at elsewhere.
pub(super) fn is_plain_main(main: &[RawMember<'_>]) -> bool {
    main.iter().any(|(name, part)| name != "name" && says_something(part))
        && main.iter().all(|(name, part)| match &**name {
            "name" => part.get().starts_with('"'),
            "env" => items(part.get()).is_some_and(|items| are_named_once(items.into_iter().map(Some))),
            "envFrom" => items(part.get()).is_some_and(|items| items.iter().all(|item| item.get().starts_with('{'))),
            "livenessProbe" | "readinessProbe" => parts(part).is_some(),
            _ => true,
        })
}

/// Containers of which each has a name of its own, none of them one of these.
pub(super) fn containers<'a>(list: &'a RawValue, reserved: &[&str]) -> Option<Vec<&'a RawValue>> {
    let containers = items(list.get())?;
    let is_free = |container: &&RawValue| name_of(container).is_some_and(|name| !reserved.contains(&name));
    (containers.iter().all(is_free) && are_named_once(containers.iter().copied().map(Some))).then_some(containers)
}

pub(super) fn are_distinct<T: Ord>(mut all: Vec<T>) -> bool {
    all.sort_unstable();
    all.is_sorted_by(|one, next| one < next)
}
