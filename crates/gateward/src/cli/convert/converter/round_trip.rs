//! There and back: which fields are not what they were.

use std::collections::BTreeSet;
use std::fmt;

use gateward_core::json::patch::same_value;
use gateward_core::{ConversionError, FieldPath, GroupVersionKind, Segment, Webhooks};
use serde_json::{Map, Value};

use super::remark::Remark;
use super::{left_out, unreadable};

/// A field that a round trip changes.
#[derive(Debug)]
pub(crate) struct Change {
    pub(super) remark: Remark,
    pub(super) via: String,
    pub(super) difference: ChangeKind,
}

/// How a field differs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ChangeKind {
    /// It is gone.
    Lost { path: FieldPath, before: Value },
    /// It was not there before.
    Added { path: FieldPath, after: Value },
    /// It holds something else.
    Changed { path: FieldPath, before: Value, after: Value },
}

impl ChangeKind {
    pub(super) fn path(&self) -> &FieldPath {
        let (Self::Lost { path, .. } | Self::Added { path, .. } | Self::Changed { path, .. }) = self;
        path
    }

    /// What happens on the way to `via` and back, as a sentence without its subject.
    pub(super) fn said(&self, via: &str) -> String {
        let what = match self {
            Self::Lost { .. } => "is lost".to_owned(),
            Self::Added { after, .. } => {
                shown(after).map_or_else(|| "appears".to_owned(), |after| format!("appears as {after}"))
            }
            Self::Changed { before, after, .. } => match (shown(before), shown(after)) {
                (Some(before), Some(after)) => format!("{before} becomes {after}"),
                _ => "changes".to_owned(),
            },
        };
        format!("{what} on the way to {via} and back")
    }
}

impl Change {
    /// The same for scripts.
    pub(crate) fn json(&self) -> Value {
        let (change, before, after) = match &self.difference {
            ChangeKind::Lost { before, .. } => ("lost", Some(before), None),
            ChangeKind::Added { after, .. } => ("added", None, Some(after)),
            ChangeKind::Changed { before, after, .. } => ("changed", Some(before), Some(after)),
        };
        let mut json = self.remark.json();
        json["via"] = self.via.clone().into();
        json["change"] = change.into();
        for (name, value) in [("before", before), ("after", after)] {
            if let Some(value) = value {
                json[name] = value.clone();
            }
        }
        json
    }
}

/// One line for people.
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.remark.fmt(f)
    }
}

/// Scalars that fit on a line.
fn shown(value: &Value) -> Option<String> {
    let scalar = !(value.is_object() || value.is_array());
    Some(value.to_string()).filter(|text| scalar && text.chars().count() <= 60)
}

/// Takes an object to version `via` and back.
pub(super) fn of(
    webhooks: &Webhooks,
    object: &str,
    gvk: &GroupVersionKind,
    via: &str,
) -> Result<Vec<ChangeKind>, ConversionError> {
    let there = GroupVersionKind { version: via.to_owned(), ..gvk.clone() }.api_version();
    let converted = webhooks.convert(object, &there)?;
    if !converted.left_out.is_empty() {
        return Err(left_out(&converted));
    }
    let back = webhooks.convert(&converted.json, &gvk.api_version())?.json;
    let read = |json: &str| serde_json::from_str::<Value>(json).map_err(|error| unreadable(&error));
    let (mut before, after) = (read(object)?, read(&back)?);
    // In the API an object always has metadata, so it is no change that they appear.
    if let Value::Object(members) = &mut before {
        members.entry("metadata").or_insert_with(|| Map::new().into());
    }
    let mut differences = Vec::new();
    compare(&FieldPath::root(), &before, &after, &mut differences);
    Ok(differences)
}

/// A member that is null counts as absent, as the API server and every typed reading have it.
fn compare(path: &FieldPath, before: &Value, after: &Value, differences: &mut Vec<ChangeKind>) {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => compare_members(path, before, after, differences),
        (Value::Array(before), Value::Array(after)) => {
            for index in 0..before.len().max(after.len()) {
                one(path.index(index), before.get(index), after.get(index), differences);
            }
        }
        _ if same_value(before, after) => {}
        _ => {
            let (path, before, after) = (path.clone(), before.clone(), after.clone());
            differences.push(ChangeKind::Changed { path, before, after });
        }
    }
}

fn compare_members(
    path: &FieldPath,
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    differences: &mut Vec<ChangeKind>,
) {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    for name in names {
        one(path.child(step(name)), present(before, name), present(after, name), differences);
    }
}

fn present<'v>(members: &'v Map<String, Value>, name: &str) -> Option<&'v Value> {
    members.get(name).filter(|value| !value.is_null())
}

fn one(path: FieldPath, before: Option<&Value>, after: Option<&Value>, differences: &mut Vec<ChangeKind>) {
    match (before, after) {
        (Some(before), Some(after)) => compare(&path, before, after, differences),
        (Some(before), None) => differences.push(ChangeKind::Lost { path, before: before.clone() }),
        (None, Some(after)) => differences.push(ChangeKind::Added { path, after: after.clone() }),
        (None, None) => {}
    }
}

/// A name that could not stand in a path as it is becomes a key in brackets.
fn step(name: &str) -> Segment {
    let plain = !name.is_empty() && name.chars().all(|each| each.is_ascii_alphanumeric() || "_-".contains(each));
    if plain { Segment::Field(name.to_owned().into()) } else { Segment::Key(name.to_owned().into()) }
}
