//! Nodes that a type passes over.

use crate::rule::field::Segment;

/// Members that every object has, whatever its type.
const OF_ALL_OBJECTS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// The topmost nodes that a type passes over, but for those that every object has.
#[derive(Debug)]
pub(crate) struct Ignored {
    /// Where they are. No name is cut.
    pub paths: Vec<Vec<Segment>>,
    /// Whether there are more.
    pub overflow: bool,
    most: usize,
}

impl Ignored {
    /// None yet, and at most so many.
    pub fn at_most(most: usize) -> Self {
        Self { paths: Vec::new(), overflow: false, most }
    }

    /// Adds the node below this member of the object.
    pub fn add(&mut self, first: Option<&str>, path: impl FnOnce() -> Vec<Segment>) {
        if first.is_some_and(|name| OF_ALL_OBJECTS.contains(&name)) {
            return;
        }
        if self.paths.len() < self.most {
            self.paths.push(path());
        } else {
            self.overflow = true;
        }
    }
}
