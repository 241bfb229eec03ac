//! Fields that wait in an annotation until the object is of their version again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::conversion::tree::Tree;
use crate::conversion::unknown::Unknown;
use crate::field::Segment;

/// Fields by the version that they wait for.
pub(crate) type Waiting = BTreeMap<String, Vec<Kept>>;

/// How many fields of an object are put back at most, and how many are kept.
pub(crate) const MAX_FIELDS: usize = 1024;

/// How many steps a path may have. The types nest less deeply, and a tree is written and dropped by recursion.
const MAX_STEPS: usize = 64;

/// Members that no annotation of ours changes.
const PROTECTED: [&str; 4] = ["apiVersion", "kind", "metadata", "status"];

/// A field that waits.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Kept {
    /// The way to the field, its own name last.
    path: Vec<Step>,
    /// How many of the last objects on the way hold nothing else, so that the types leave them out.
    #[serde(default, skip_serializing_if = "is_zero")]
    hollow: usize,
    /// What it holds.
    value: Box<RawValue>,
}

// The signature is serde's.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// One step of a kept path. Items of lists are known by their names where they have any: lists are reordered.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Step {
    Member(String),
    Named { name: String },
    Index(usize),
}

impl Kept {
    /// The fields of `document`, of which the types write back `known`.
    pub fn all(fields: Vec<Unknown<'_>>, document: &mut Tree<'_>, known: &mut Tree<'_>) -> Vec<Self> {
        fields.into_iter().take(MAX_FIELDS).map(|field| Self::of(field, document, known)).collect()
    }

    fn of(field: Unknown<'_>, document: &mut Tree<'_>, known: &mut Tree<'_>) -> Self {
        let there = (0..=field.parent.len()).rev().find(|&length| known.find(&field.parent[..length]).is_some());
        let hollow = field.parent.len() - there.unwrap_or_default();
        let mut path = steps(document, &field.parent);
        path.push(Step::Member(field.name));
        Self { path, hollow, value: field.value.to_owned() }
    }

    /// Puts the field back, where its place is there and nobody else has taken it. Whether the result is another now.
    pub fn restore<'a>(&'a self, result: &mut Tree<'a>) -> bool {
        let Some((Step::Member(name), way)) = self.path.split_last() else { return false };
        if self.path.len() > MAX_STEPS || self.is_protected() {
            return false;
        }
        let firm = way.len().saturating_sub(self.hollow);
        let mut node = Some(result);
        for (position, step) in way.iter().enumerate() {
            node = node.and_then(|node| step.find(node, position >= firm));
        }
        let Some(parent) = node.and_then(Tree::members).filter(|members| !members.contains_key(name.as_str())) else {
            return false;
        };
        parent.insert(name.into(), Tree::Text(&self.value));
        true
    }

    /// Whether all objects on the way to the field are there anyway.
    pub fn has_firm_place(&self) -> bool {
        self.hollow == 0
    }

    fn is_protected(&self) -> bool {
        matches!(self.path.first(), Some(Step::Member(first)) if PROTECTED.contains(&first.as_str()))
    }
}

impl Step {
    fn find<'t, 'a>(&'a self, node: &'t mut Tree<'a>, hollow: bool) -> Option<&'t mut Tree<'a>> {
        match self {
            Self::Member(name) if hollow => Some(node.members()?.entry(name.into()).or_insert(Tree::empty())),
            Self::Member(name) => node.members()?.get_mut(name.as_str()),
            Self::Named { name } => node.items()?.named(name),
            Self::Index(index) => node.items()?.get_mut(*index),
        }
    }
}

fn steps(document: &mut Tree<'_>, path: &[Segment]) -> Vec<Step> {
    let mut node = Some(document);
    let mut steps = Vec::with_capacity(path.len());
    for segment in path {
        steps.push(step(node.as_deref_mut(), segment));
        node = node.and_then(|node| node.find(std::slice::from_ref(segment)));
    }
    steps
}

fn step(parent: Option<&mut Tree<'_>>, segment: &Segment) -> Step {
    match segment {
        Segment::Field(name) | Segment::Key(name) => Step::Member(name.clone().into_owned()),
        Segment::Index(index) => {
            let name = parent.and_then(Tree::items).and_then(|items| items.own_name(*index));
            name.map_or(Step::Index(*index), |name| Step::Named { name })
        }
    }
}
