//! An object without the nodes that its type can't read.

use crate::conversion::ConversionError;
use crate::conversion::provenance::plain_segments;
use crate::conversion::tree::Tree;
use crate::json::decode::{self, DECODE_LIMIT, DecodeError, Lenient};
use crate::rule::field::{FieldPath, Segment};
use crate::rule::resource::Resource;

/// The text of the object without the nodes that `A` can't read, or not within the memory that its text is worth, and
/// their paths; no text where `A` can read all of it. An error where it can't be read without its specification and its
/// status either.
pub(crate) fn readable<A: Resource>(json: &str) -> Result<(Option<String>, Vec<FieldPath>), ConversionError> {
    // What is tried may be as long as the whole, and takes no more than that is worth.
    let is_read = |text: &String| decode::fits::<A>(text, json.len());
    if let Some(Lenient { unread, .. }) = decode::leniently::<A>(json, None) {
        if unread.is_empty() {
            return Ok((None, unread));
        }
        if let Some(text) = without(json, &unread).filter(is_read) {
            return Ok((Some(text), unread));
        }
    }
    let members: Vec<FieldPath> = [FieldPath::field("status"), FieldPath::field("spec")].into();
    for count in 1..=members.len() {
        if let Some(text) = without(json, &members[..count]).filter(is_read) {
            return Ok((Some(text), members[..count].to_vec()));
        }
    }
    let mut errors = decode::object::<A>(json, DECODE_LIMIT).err().unwrap_or_default();
    // What is wrong with both doesn't stand in the way, unless nothing else is wrong.
    let is_beside =
        |error: &DecodeError| !matches!(error.path.segments().first().and_then(Segment::name), Some("spec" | "status"));
    let first = errors.iter().position(is_beside).unwrap_or_default();
    Err(if first < errors.len() { errors.swap_remove(first).into() } else { no_object() })
}

/// The text without these nodes; `None` where there is nothing to take out. Items of lists go from the last to the
/// first, so that positions stay what they were.
fn without(json: &str, nodes: &[FieldPath]) -> Option<String> {
    let mut tree = Tree::read(json)?;
    let mut paths: Vec<Vec<Segment>> = nodes.iter().map(|node| plain_segments(node.segments())).collect();
    paths.sort_unstable();
    paths.dedup();
    let removed = paths.iter().rev().filter(|path| remove(&mut tree, path)).count();
    (removed > 0).then(|| tree.to_json())
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
