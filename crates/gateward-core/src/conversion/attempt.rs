//! One object from one version to another, once: everything but what the operator's conversion says.

use std::borrow::Cow;

use crate::conversion::ConversionError;
use crate::conversion::carry::{Carried, carry};
use crate::conversion::deep::{answerable, deep_members};
use crate::conversion::difference::Difference;
use crate::conversion::incomplete::{mark, unmark};
use crate::conversion::readable::{Readable, ReadablePart, readable};
use crate::conversion::restore::lost_by_trial;
use crate::conversion::route::Route;
use crate::conversion::serialized::{Serialized, no_json};
use crate::conversion::source::{Source, whole};
use crate::conversion::tree::Tree;
use crate::conversion::unknown::{self, ReadObject};
use crate::conversion::{ANNOTATION_LIMIT, RoundTrip};
use crate::json::reading::Allowance;
use crate::rule::field::FieldPath;
use crate::rule::issue::Issues;
use crate::rule::resource::Resource;
use crate::rule::{INCOMPLETE, STASH};
use crate::wire::envelope::{Metadata, edit};

/// A converted object.
pub(crate) struct Attempt {
    /// The object.
    pub json: String,
    /// What was left out of it, by paths of the source.
    pub left_out: Vec<FieldPath>,
    /// The text of the source that it is of, where annotations of the source had no part in it.
    pub reduced: Option<String>,
}

/// What the operator's conversion makes of a typed object.
pub(crate) struct Typed<B> {
    pub result: B,
    /// What the way there and back would change; `None` until that is tried.
    pub lost: Option<Vec<Difference>>,
    notes: Issues,
}

impl<B: Resource> Typed<B> {
    pub fn of<A: Resource>(object: &A, route: &impl Route<A, B>) -> Result<Self, ConversionError> {
        let mut notes = Issues::new();
        let (result, round_trip) = route.convert(object, &mut notes)?;
        let lost = (round_trip == RoundTrip::Lossless).then(Vec::new);
        Ok(Self { result, lost, notes })
    }

    /// Tries the way back, unless it is known. `bytes` is the length of the object's text.
    pub fn tried<A: Resource>(mut self, object: &A, route: &impl Route<A, B>, bytes: usize) -> Self {
        self.lost.get_or_insert_with(|| lost_by_trial(route, object, &self.result, bytes));
        self
    }
}

/// Converts one object with all that its annotations say, within the memory that its text is worth. `typed` is what the
/// operator's conversion makes of it, where that is known.
pub(crate) fn finish<A: Resource, B: Resource>(
    source: &Source<'_>,
    metadata: Metadata<'_>,
    typed: Option<Typed<B>>,
    route: &impl Route<A, B>,
    issues: &mut Issues,
) -> Result<Attempt, ConversionError> {
    let allowance = Allowance::of(source.json.len());
    allowance.during(|| within(&allowance, source, metadata, typed, route, issues))
}

fn within<A: Resource, B: Resource>(
    allowance: &Allowance,
    source: &Source<'_>,
    mut metadata: Metadata<'_>,
    typed: Option<Typed<B>>,
    route: &impl Route<A, B>,
    issues: &mut Issues,
) -> Result<Attempt, ConversionError> {
    let reduced = metadata.is_oversized().then(|| source.without_annotations()).transpose()?;
    if reduced.is_some() {
        issues.add(STASH.note(FieldPath::field("metadata") / "annotations", OVERSIZED));
    }
    let Readable { reading, part, mut left_out } = read::<A>(reduced.as_deref().unwrap_or(source.json), issues)?;
    let (text, document) = part.map_or((None, None), |ReadablePart { text, document }| (Some(text), document));
    let readable = text.as_deref().or(reduced.as_deref()).map(Source::read).transpose()?;
    let readable = readable.as_ref().unwrap_or(source);
    let ReadObject { object, unknown, overflow } = reading;
    let Typed { result, lost, notes } = typed.map_or_else(|| Typed::of(&object, route), Ok)?;
    left_out.extend((overflow || allowance.is_exceeded()).then(|| FieldPath::field("spec")));
    left_out.extend(notes.iter().filter(|note| note.rule == INCOMPLETE.id).map(|note| note.path.clone()));
    issues.extend(notes);
    let mut written = Serialized::of(&result).map_err(|error| no_json(&error))?;
    unmark(&mut metadata, route.keys());
    edit_metadata(&mut metadata, &object, &result, &written);
    let has_ours = metadata.annotations.contains_key(route.keys().preserved());
    if !unknown.is_empty() || has_ours || lost.as_ref().is_none_or(|lost| !lost.is_empty()) {
        let carried = Carried { source: readable, document, object: &object, result, unknown, lost };
        let overflow = carry(carried, route, &mut written, &mut metadata, issues)?;
        left_out.extend(overflow.then(|| FieldPath::field("spec")));
    }
    if metadata.is_edited() {
        left_out.extend(fit(&mut metadata, issues));
    }
    left_out.extend(deep_members(&written, issues));
    mark(&mut metadata, route.keys(), &left_out);
    let text = if metadata.is_edited() { Cow::Owned(metadata.to_json()) } else { Cow::Borrowed(source.metadata()) };
    Ok(Attempt { json: answerable(whole::<B>(source, &text, &written)), left_out, reduced })
}

const OVERSIZED: &str =
    "no API server stores so many annotations; they are carried along, and conversion reads none of them";

/// Reads the object. What stands in the way of its type is left out, and noted.
fn read<'a, A: Resource>(json: &'a str, issues: &mut Issues) -> Result<Readable<'a, A>, ConversionError> {
    if let Some(reading) = unknown::read_within_limits(json, json.len()) {
        return Ok(Readable { reading, part: None, left_out: Vec::new() });
    }
    let mut readable = readable(json)?;
    // Of the metadata nothing is left out: it goes over as it came.
    readable.left_out.retain(|path| path.top_member() != Some("metadata"));
    for path in readable.left_out.iter().filter(|_| readable.part.is_some()) {
        issues.add(INCOMPLETE.note(path.clone(), "the field can't be read and is left out"));
    }
    Ok(readable)
}

/// Takes over labels and annotations that the conversion has edited. Metadata that has lost its name was not handed over
/// at all.
fn edit_metadata<A: Resource, B: Resource>(metadata: &mut Metadata<'_>, from: &A, to: &B, written: &Serialized) {
    if let (Some(before), Some(after)) = (from.metadata_ref(), to.metadata_ref()) {
        if before.name == after.name {
            edit(&mut metadata.labels, before.labels, after.labels);
            edit(&mut metadata.annotations, before.annotations, after.annotations);
        }
        return;
    }
    let Some(after) = &written.metadata else { return };
    // What isn't of the usual shape was not handed over.
    let after = Metadata::read(Some(after)).unwrap_or_default();
    // It would write the whole source once more to find that out.
    if *metadata.labels == *after.labels && *metadata.annotations == *after.annotations {
        return;
    }
    let before = Serialized::of(from).ok().and_then(|from| from.metadata);
    let before = Metadata::read(before.as_deref()).unwrap_or_default();
    if before.name() == after.name() {
        edit(&mut metadata.labels, &before.labels, &after.labels);
        edit(&mut metadata.annotations, &before.annotations, &after.annotations);
    }
}

/// Drops what conversion wrote, the largest text first, until the annotations fit into what the API server takes; the
/// paths of what is dropped.
fn fit(metadata: &mut Metadata<'_>, issues: &mut Issues) -> Vec<FieldPath> {
    let mut dropped = Vec::new();
    while metadata.annotation_bytes() > ANNOTATION_LIMIT {
        let bytes = metadata.annotation_bytes();
        let Some(key) = metadata.largest_edited_annotation() else { break };
        let text = metadata.annotations.remove(&key).unwrap_or_default();
        let path = largest_of(&key, &text);
        let message = format!(
            "the annotations would have {bytes} bytes, at most {ANNOTATION_LIMIT}; {key} is left out, most of it for {path}"
        );
        issues.add(INCOMPLETE.note(path.clone(), message));
        dropped.push(path);
    }
    dropped
}

/// The field that most of the annotation is for, where it names one.
fn largest_of(key: &str, text: &str) -> FieldPath {
    let field = Tree::read(text).map(largest_field);
    let of_object = |field: &FieldPath| matches!(field.top_member(), Some("spec" | "status"));
    field.filter(of_object).unwrap_or_else(|| FieldPath::annotation(key.to_owned()))
}

/// How far down [`largest_field`] looks.
const MAX_STEPS: usize = 8;

/// The field that most of a kept part is for.
fn largest_field(mut node: Tree<'_>) -> FieldPath {
    let mut path = FieldPath::root();
    for _ in 0..MAX_STEPS {
        let Some((step, child)) = node.largest_child() else { break };
        (path, node) = (path.child(step), child);
    }
    path
}
