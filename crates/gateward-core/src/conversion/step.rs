//! The way to a node, as annotations spell it.

use serde::{Deserialize, Serialize};

use crate::conversion::tree::Tree;
use crate::rule::field::Segment;

/// How many fields of an object are put back at most, and how many are kept.
pub(crate) const MAX_FIELDS: usize = 1024;

/// How many steps a path may have. The types nest less deeply, and a tree is written and dropped by recursion.
pub(crate) const MAX_STEPS: usize = 64;

/// Members that no annotation of ours changes.
const PROTECTED: [&str; 4] = ["apiVersion", "kind", "metadata", "status"];

/// One step of a kept path. Items of lists are known by their names where they have any: lists are reordered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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

impl Step {
    /// The same, and makes an object of it where nothing is.
    pub fn find_or_make<'t, 'a>(&'a self, node: &'t mut Tree<'a>) -> Option<&'t mut Tree<'a>> {
        match self {
            Self::Member(name) => Some(node.members()?.entry(name.into()).or_insert(Tree::empty())),
            Self::Named { .. } | Self::Index(_) => self.find(node),
        }
    }

    /// How long its name is.
    pub const fn bytes(&self) -> usize {
        match self {
            Self::Member(name) | Self::Named { name } => name.len(),
            Self::Index(_) => 0,
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

/// Whether what the first step of a path leads to is never changed by an annotation of ours.
pub(crate) fn is_protected(first: &Step) -> bool {
    matches!(first, Step::Member(first) if PROTECTED.contains(&first.as_str()))
}

/// The way to a node as annotations spell it.
pub(crate) fn steps(document: &mut Tree<'_>, path: &[Segment]) -> Vec<Step> {
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
