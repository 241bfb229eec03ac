//! Nodes that a reading passes over.

use std::collections::BTreeMap;

use crate::rule::field::Segment;

/// What is done with a node.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cut<'t> {
    /// It counts as absent.
    Out,
    /// This text is read instead.
    Instead(&'t str),
}

/// The nodes that a reading treats otherwise, by their paths.
#[derive(Debug, Default)]
pub(crate) struct Cuts<'t> {
    members: BTreeMap<String, Cuts<'t>>,
    items: BTreeMap<usize, Cuts<'t>>,
    pub cut: Option<Cut<'t>>,
}

impl<'t> Cuts<'t> {
    /// Adds the node at `path`; `false` where it can't be cut, because it is the root or is cut already.
    pub fn add(&mut self, path: &[Segment], cut: Cut<'t>) -> bool {
        if path.is_empty() {
            return false;
        }
        let node = path.iter().fold(self, |node, step| match step {
            Segment::Index(index) => node.items.entry(*index).or_default(),
            Segment::Field(name) | Segment::Key(name) => node.members.entry(name.to_string()).or_default(),
        });
        node.cut.replace(cut).is_none()
    }

    pub fn member(&self, name: &str) -> Option<&Self> {
        self.members.get(name)
    }

    pub fn item(&self, index: usize) -> Option<&Self> {
        self.items.get(&index)
    }

    /// Whether the node at `path`, or one above it, is cut.
    pub fn covers(&self, path: &[Segment]) -> bool {
        let mut node = self;
        for step in path {
            if node.cut.is_some() {
                return true;
            }
            let below = match step {
                Segment::Index(index) => node.item(*index),
                Segment::Field(name) | Segment::Key(name) => node.member(name),
            };
            match below {
                Some(below) => node = below,
                None => return false,
            }
        }
        node.cut.is_some()
    }
}
