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
    /// How long the names in further paths may be together.
    room: usize,
}

/// How many bytes the names in all paths may have together. Each path has all names on the way in full, and the name of a
/// hostile parent is as long as the body.
const MOST_BYTES: usize = 1 << 20;

impl Ignored {
    /// None yet, and at most so many.
    pub fn at_most(most: usize) -> Self {
        Self { paths: Vec::new(), overflow: false, most, room: MOST_BYTES }
    }

    /// Adds the node below this member of the object.
    pub fn add(&mut self, first: Option<&str>, path: impl FnOnce() -> Vec<Segment>) {
        if first.is_some_and(|name| OF_ALL_OBJECTS.contains(&name)) {
            return;
        }
        if self.overflow || self.paths.len() >= self.most {
            self.overflow = true;
            return;
        }
        let path = path();
        let bytes: usize = path.iter().filter_map(Segment::name).map(str::len).sum();
        match self.room.checked_sub(bytes) {
            Some(room) => {
                self.room = room;
                self.paths.push(path);
            }
            None => self.overflow = true,
        }
    }
}
