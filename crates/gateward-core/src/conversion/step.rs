//! The way to a node, as annotations spell it.

use serde::{Deserialize, Serialize};

use crate::conversion::tree::Tree;

/// How many fields of an object are put back at most, and how many are kept.
pub(crate) const MAX_FIELDS: usize = 1024;

/// How many steps a path may have. The types nest less deeply, and a tree is written and dropped by recursion.
pub(crate) const MAX_STEPS: usize = 64;

/// Members that no annotation of ours changes.
const PROTECTED: [&str; 4] = ["apiVersion", "kind", "metadata", "status"];

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

impl Step {
    /// The same, and makes an object of it where nothing is.
    pub fn find_or_make<'t, 'a>(&'a self, node: &'t mut Tree<'a>) -> Option<&'t mut Tree<'a>> {
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

/// Whether what the first step of a path leads to is never changed by an annotation of ours.
pub(crate) fn is_protected(first: &Step) -> bool {
    matches!(first, Step::Member(first) if PROTECTED.contains(&first.as_str()))
}
