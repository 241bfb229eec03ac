//! An object without the nodes that its type can't read.

use crate::conversion::ConversionError;
use crate::conversion::tree::Tree;
use crate::conversion::unknown::{self, ReadObject};
use crate::json::decode::{self, DECODE_LIMIT, DecodeError, Lenient, Lists};
use crate::rule::field::{FieldPath, Segment};
use crate::rule::resource::Resource;

/// What can be read of an object.
pub(crate) struct Readable<'a, A> {
    pub reading: ReadObject<A>,
    /// The object without the nodes that can't; `None` where all of it can be read.
    pub part: Option<ReadablePart<'a>>,
    /// The paths of those nodes.
    pub left_out: Vec<FieldPath>,
}

/// An object without some of its nodes.
pub(crate) struct ReadablePart<'a> {
    pub text: String,
    /// What was opened of it, where it isn't long: that takes many times the text.
    pub document: Option<Tree<'a>>,
}

/// An object of so many bytes is long.
const LONG: usize = 64 << 10;

/// The object without the nodes that `A` can't read, or not within the memory that its text is worth. An error where it
/// can't be read without its specification and its status either.
pub(crate) fn readable<A: Resource>(json: &str) -> Result<Readable<'_, A>, ConversionError> {
    // What is tried may be as long as the whole, and takes no more than that is worth.
    let read_without = |nodes: &[FieldPath]| {
        let part = without(json, nodes)?;
        let reading = unknown::read_within_limits(&part.text, json.len())?;
        Some(Readable { reading, part: Some(part), left_out: nodes.to_vec() })
    };
    for (pass, reading) in decode::readings::<A>(json, None, Lists::Bounded).enumerate() {
        let (unread, is_last) = match reading {
            Ok(Lenient { unread, .. }) => (unread, true),
            // Mostly that is all there is. Of a long text it would be a dear guess.
            Err(unread) if pass == 0 && unread.len() < DECODE_LIMIT && json.len() < LONG => (unread, false),
            Err(_) => continue,
        };
        if unread.is_empty() {
            return Ok(Readable { reading: unknown::read(json)?, part: None, left_out: unread });
        }
        if let Some(readable) = read_without(&unread) {
            return Ok(readable);
        }
        if is_last {
            break;
        }
    }
    let of_object = [FieldPath::field("status"), FieldPath::field("spec")];
    if let Some(readable) = read_without(&of_object[..1]).or_else(|| read_without(&of_object)) {
        return Ok(readable);
    }
    let mut errors = decode::object::<A>(json, DECODE_LIMIT).err().unwrap_or_default();
    // What is wrong with both doesn't stand in the way, unless nothing else is wrong.
    let is_beside = |error: &DecodeError| !matches!(error.path.top_member(), Some("spec" | "status"));
    let first = errors.iter().position(is_beside).unwrap_or_default();
    Err(if first < errors.len() { errors.swap_remove(first).into() } else { no_object() })
}

/// The object without these nodes; `None` where there is nothing to take out. Items of lists go from the last to the
/// first, so that positions stay what they were.
fn without<'a>(json: &'a str, nodes: &[FieldPath]) -> Option<ReadablePart<'a>> {
    let mut document = Tree::read(json)?;
    let mut nodes: Vec<&FieldPath> = nodes.iter().collect();
    nodes.sort_unstable();
    let removed = nodes.iter().rev().filter(|node| remove(&mut document, node.segments())).count();
    (removed > 0).then(|| ReadablePart { text: document.to_json(), document: (json.len() < LONG).then_some(document) })
}

fn remove(tree: &mut Tree<'_>, path: &[Segment]) -> bool {
    let Some((last, parent)) = path.split_last() else { return false };
    // Without its identity an object is none, and what conversion edits has to be read.
    let named = |depth: usize| path.get(depth).and_then(Segment::name);
    let is_needed = match named(0) {
        Some("apiVersion" | "kind") => true,
        Some("metadata") => matches!(named(1), None | Some("name" | "namespace" | "labels" | "annotations")),
        _ => false,
    };
    if is_needed {
        return false;
    }
    let Some(parent) = tree.find(parent) else { return false };
    match last {
        Segment::Field(name) | Segment::Key(name) => {
            parent.members().is_some_and(|members| members.remove(name.as_ref()).is_some())
        }
        Segment::Index(index) => parent.items().is_some_and(|items| items.remove(*index)),
    }
}

fn no_object() -> ConversionError {
    ConversionError { path: FieldPath::root(), message: "this is no object of Kubernetes".into() }
}
