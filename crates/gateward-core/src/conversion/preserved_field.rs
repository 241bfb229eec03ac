//! Fields that wait in an annotation until the object is of their version again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::conversion::step::{MAX_FIELDS, MAX_STEPS, Step, is_protected, steps};
use crate::conversion::tree::Tree;
use crate::conversion::unknown::Unknown;

/// Fields by the version that they wait for.
pub(crate) type PreservedFields = BTreeMap<String, Vec<PreservedField>>;

/// A field that waits.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PreservedField {
    /// The way to the field, its own name last.
    pub path: Vec<Step>,
    /// How many of the last objects on the way hold nothing else, so that the types leave them out.
    #[serde(rename = "hollow", default, skip_serializing_if = "is_zero")]
    empty_parents: usize,
    /// What it holds.
    value: Box<RawValue>,
}

// The signature is serde's.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl PreservedField {
    /// The fields of `document`, of which the types write back `known`.
    pub fn all(fields: Vec<Unknown<'_>>, document: &mut Tree<'_>, known: &mut Tree<'_>) -> Vec<Self> {
        fields.into_iter().take(MAX_FIELDS).map(|field| Self::of(field, document, known)).collect()
    }

    fn of(field: Unknown<'_>, document: &mut Tree<'_>, known: &mut Tree<'_>) -> Self {
        let there = (0..=field.parent.len()).rev().find(|&length| known.find(&field.parent[..length]).is_some());
        let empty_parents = field.parent.len() - there.unwrap_or_default();
        let mut path = steps(document, &field.parent);
        path.push(Step::Member(field.name));
        Self { path, empty_parents, value: field.value.to_owned() }
    }

    /// Puts the field back, where its place exists and is free. Returns whether the result changed.
    pub fn restore<'a>(&'a self, result: &mut Tree<'a>) -> bool {
        let Some((Step::Member(name), way)) = self.path.split_last() else { return false };
        if self.path.len() > MAX_STEPS || self.path.first().is_some_and(is_protected) {
            return false;
        }
        let (there, empty) = way.split_at(way.len().saturating_sub(self.empty_parents));
        let node = there.iter().try_fold(result, |node, step| step.find(node));
        let node = node.and_then(|node| empty.iter().try_fold(node, |node, step| step.find_or_make(node)));
        let Some(parent) = node.and_then(Tree::members).filter(|members| !members.contains_key(name.as_str())) else {
            return false;
        };
        parent.insert(name.into(), Tree::Text(&self.value));
        true
    }
}
