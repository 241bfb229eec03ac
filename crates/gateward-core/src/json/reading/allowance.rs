//! How much memory a reading may take.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// What the lists and maps of a document may take, as a multiple of its text.
pub const ALLOWANCE_FACTOR: usize = 3;

/// What they may take beyond that, in bytes, however short the text.
pub const ALLOWANCE_BASE: usize = 4 << 20;

/// What trees of raw subtrees may take, as a multiple of the document's text, and beyond that. A conversion holds about
/// five of the same subtree at a time.
const TREES_FACTOR: usize = 1;
const TREES_BASE: usize = 4 << 20;

/// What lists and maps that are made of one document may yet take, in bytes. The typed reading and the views of its raw
/// subtrees, whenever they are decoded, draw on the same one.
#[derive(Debug)]
pub(crate) struct Allowance {
    left: AtomicUsize,
    trees: AtomicUsize,
    exceeded: AtomicBool,
}

thread_local! {
    /// The allowance of the document that is being read on this thread.
    static CURRENT: RefCell<Option<Arc<Allowance>>> = const { RefCell::new(None) };
}

impl Allowance {
    /// That of a document of `bytes` bytes.
    pub fn of(bytes: usize) -> Arc<Self> {
        let trees = bytes.saturating_mul(TREES_FACTOR).saturating_add(TREES_BASE);
        Self::new(bytes.saturating_mul(ALLOWANCE_FACTOR).saturating_add(ALLOWANCE_BASE), trees)
    }

    /// One without an end, for documents that come from no request.
    pub fn unlimited() -> Arc<Self> {
        Self::new(usize::MAX, usize::MAX)
    }

    fn new(left: usize, trees: usize) -> Arc<Self> {
        let (left, trees) = (AtomicUsize::new(left), AtomicUsize::new(trees));
        Arc::new(Self { left, trees, exceeded: AtomicBool::new(false) })
    }

    /// That of the document that is being read on this thread.
    pub fn current() -> Option<Arc<Self>> {
        CURRENT.with(|current| current.borrow().clone())
    }

    /// Does `work` with this one as the current one.
    pub fn during<T>(self: &Arc<Self>, work: impl FnOnce() -> T) -> T {
        struct Restore(Option<Arc<Allowance>>);
        impl Drop for Restore {
            fn drop(&mut self) {
                CURRENT.with(|current| *current.borrow_mut() = self.0.take());
            }
        }
        let _restore = Restore(CURRENT.with(|current| current.replace(Some(Arc::clone(self)))));
        work()
    }

    /// Takes so many bytes; whether there were so many.
    pub fn take(&self, bytes: usize) -> bool {
        self.take_from(&self.left, bytes)
    }

    /// Takes what a tree of this text is made of; whether there was so much.
    pub fn take_tree(&self, json: &str) -> bool {
        self.take_from(&self.trees, tree_cost(json))
    }

    fn take_from(&self, left: &AtomicUsize, bytes: usize) -> bool {
        let taken = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes)).is_ok();
        self.exceeded.fetch_or(!taken, Ordering::Relaxed);
        taken
    }

    /// How much is left.
    pub fn left(&self) -> usize {
        self.left.load(Ordering::Relaxed)
    }

    /// Gives back what was taken since so much was left.
    pub fn restore(&self, left: usize) {
        self.left.store(left, Ordering::Relaxed);
    }

    /// Whether more was asked for than was left, so that somebody didn't see all of the document.
    pub fn is_exceeded(&self) -> bool {
        self.exceeded.load(Ordering::Relaxed)
    }
}

/// What an object takes in a tree: a map with room for some members.
const OBJECT: usize = 640;

/// What each further member or item takes.
const ITEM: usize = 128;

/// How often a conversion makes a tree of the same text, with some to spare.
const TREES_OF_A_TEXT: usize = 8;

/// Whether all trees that a conversion of this document makes surely have room in its allowance.
pub(crate) fn has_room_for_trees(json: &str) -> bool {
    most_tree_cost(json) * TREES_OF_A_TEXT <= TREES_BASE
}

/// The most that a tree of this text takes. It takes texts for structure.
pub(crate) fn most_tree_cost(json: &str) -> usize {
    json.len() + count(json, b'{') * OBJECT + (count(json, b'[') + count(json, b',')) * ITEM
}

/// The most lists and objects that the text has. It takes texts for structure.
pub(crate) fn most_containers(json: &str) -> usize {
    count(json, b'[') + count(json, b'{')
}

/// How often a byte occurs. It is counted in parts of which each count fits a byte, so that many are compared at a time.
fn count(json: &str, wanted: u8) -> usize {
    let of_part = |part: &[u8]| part.iter().fold(0_u8, |count, byte| count.wrapping_add((*byte == wanted).into()));
    json.as_bytes().chunks(u8::MAX.into()).map(|part| usize::from(of_part(part))).sum()
}

/// What a tree of this text takes.
pub(crate) fn tree_cost(json: &str) -> usize {
    let mut cost = json.len();
    for (_, byte) in outside_of_texts(json) {
        match byte {
            b'{' => cost += OBJECT,
            b'[' | b',' => cost += ITEM,
            _ => {}
        }
    }
    cost
}

/// How deeply a document nests.
pub(crate) fn depth(json: &str) -> usize {
    let (mut depth, mut most) = (0_usize, 0);
    for (_, byte) in outside_of_texts(json) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        most = most.max(depth);
    }
    most
}

/// The bytes that are part of no text, with their positions.
pub(crate) fn outside_of_texts(json: &str) -> impl Iterator<Item = (usize, u8)> {
    let (mut in_text, mut is_escaped) = (false, false);
    json.bytes().enumerate().filter(move |(_, byte)| {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => in_text = !in_text,
            _ => return !in_text,
        }
        false
    })
}
