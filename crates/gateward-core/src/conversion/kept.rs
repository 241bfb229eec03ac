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
pub(crate) const MAX_STEPS: usize = 64;

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
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Step {
    /// A member of an object.
    Member(String),
    /// The item of a list that bears this name.
    Named {
        /// The name.
        name: String,
    },
    /// The item of a list at this position.
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
        if self.path.len() > MAX_STEPS || self.path.first().is_some_and(is_protected) {
            return false;
        }
        let (firm, hollow) = way.split_at(way.len().saturating_sub(self.hollow));
        let node = firm.iter().try_fold(result, |node, step| step.find(node));
        let node = node.and_then(|node| hollow.iter().try_fold(node, |node, step| step.find_or_make(node)));
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
}

/// Whether what the first step of a path leads to is never changed by an annotation of ours.
pub(crate) fn is_protected(first: &Step) -> bool {
    matches!(first, Step::Member(first) if PROTECTED.contains(&first.as_str()))
}

impl Step {
    fn find_or_make<'t, 'a>(&'a self, node: &'t mut Tree<'a>) -> Option<&'t mut Tree<'a>> {
        match self {
            Self::Member(name) => Some(node.members()?.entry(name.into()).or_insert(Tree::empty())),
            Self::Named { .. } | Self::Index(_) => self.find(node),
        }
    }

    /// The node that the step leads to.
    pub fn find<'t, 'a>(&self, node: &'t mut Tree<'a>) -> Option<&'t mut Tree<'a>> {
        match self {
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
