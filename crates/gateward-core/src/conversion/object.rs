//! One object from one version to another: everything but what the operator's conversion says.

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::conversion::ConversionError;
use crate::conversion::envelope::{Envelope, Metadata, edit};
use crate::conversion::kept::Kept;
use crate::conversion::preserved::{PRESERVED, Preserved};
use crate::conversion::tree::Tree;
use crate::conversion::unknown::{self, Reading, Unknown, Way};
use crate::conversion::written::{TypedMetadata, Written};
use crate::decode::DecodeError;
use crate::field::{FieldPath, Segment};
use crate::issue::Issues;
use crate::resource::Resource;
use crate::rule::UNKNOWN;

/// What all annotations of an object may have together, in bytes; the API server's limit.
pub const ANNOTATION_LIMIT: usize = 256 * 1024;

/// How many unknown fields of an object are noted.
const NOTED: usize = 16;

/// An object to convert.
pub(crate) struct Source<'a> {
    /// The object.
    pub json: &'a str,
    /// What it says of itself.
    pub envelope: Envelope<'a>,
}

impl<'a> Source<'a> {
    /// Reads what an object says of itself.
    pub fn read(json: &'a str) -> Result<Self, ConversionError> {
        let envelope = Envelope::read(json).map_err(|error| {
            let message = format!("this is no object of Kubernetes: {error}");
            ConversionError { path: FieldPath::root(), message }
        })?;
        Ok(Self { json, envelope })
    }

    /// The metadata as it came.
    fn metadata(&self) -> &'a str {
        self.envelope.metadata.map_or("{}", RawValue::get)
    }
}

/// How typed objects go from `A` to `B`.
pub(crate) trait Route<A, B> {
    /// Converts an object.
    fn convert(&self, object: &A, issues: &mut Issues) -> Result<B, ConversionError>;

    /// The way that nodes have taken.
    fn way(&self, from: &A, to: &B) -> Way;
}

/// Converts one object.
pub(crate) fn convert<A: Resource, B: Resource>(
    source: &Source<'_>,
    route: &impl Route<A, B>,
    issues: &mut Issues,
) -> Result<String, ConversionError> {
    let Reading { object, unknown } = unknown::read::<A>(source.json)?;
    let result = route.convert(&object, issues)?;
    let mut written = Written::of(&result).map_err(|error| no_json(&error))?;
    let mut metadata = Metadata::read(source.envelope.metadata).ok_or_else(odd_metadata)?;
    let edited = edit_metadata(&mut metadata, &object, &written);
    let carried = !unknown.is_empty() || metadata.annotations.contains_key(PRESERVED.annotation());
    if carried {
        carry(
            Carried { source, object: &object, result: &result, unknown },
            route,
            &mut written,
            &mut metadata,
            issues,
        )?;
    }
    if !(edited || carried) || !metadata.is_edited() {
        return Ok(whole::<B>(source, source.metadata(), &written));
    }
    check_annotations(&metadata)?;
    Ok(whole::<B>(source, &metadata.to_json(), &written))
}

/// The whole object: the members that the conversion made, behind the version of the result and this metadata.
fn whole<B: Resource>(source: &Source<'_>, metadata: &str, written: &Written) -> String {
    let (version, kind) = (B::gvk().api_version(), Value::from(source.envelope.kind.as_ref()));
    let members = &written.members;
    format!(r#"{{"apiVersion":"{version}","kind":{kind},"metadata":{metadata}{members}}}"#)
}

/// Takes over labels and annotations that the conversion has edited; whether there are any.
fn edit_metadata<A: Serialize>(metadata: &mut Metadata<'_>, from: &A, to: &Written) -> bool {
    let Some(after) = &to.metadata else { return false };
    let before = TypedMetadata::of(from).unwrap_or_default();
    // Metadata that has lost its name was not handed over at all.
    if before.name != after.name || (before.labels == after.labels && before.annotations == after.annotations) {
        return false;
    }
    edit(&mut metadata.labels, &before.labels, &after.labels);
    edit(&mut metadata.annotations, &before.annotations, &after.annotations);
    true
}

/// An object with fields that its type doesn't know, or with an annotation that keeps some.
struct Carried<'a, A, B> {
    source: &'a Source<'a>,
    object: &'a A,
    result: &'a B,
    unknown: Vec<Vec<Segment>>,
}

/// Carries unknown fields over: to their own place, or to the annotation, and back from there.
fn carry<A: Resource, B: Resource>(
    carried: Carried<'_, A, B>,
    route: &impl Route<A, B>,
    written: &mut Written,
    metadata: &mut Metadata<'_>,
    issues: &mut Issues,
) -> Result<(), ConversionError> {
    let mut preserved = Preserved::take(&mut metadata.annotations, issues);
    let waiting = preserved.unknown.remove(B::VERSION).unwrap_or_default();
    preserved.unknown.remove(A::VERSION);
    if !waiting.is_empty() || !carried.unknown.is_empty() {
        let made = whole::<B>(carried.source, carried.source.metadata(), written);
        let (mut document, mut result) = (tree(carried.source.json)?, tree(&made)?);
        note(&carried.unknown, issues);
        let fields = Unknown::all(carried.unknown, &mut document);
        let way = route.way(carried.object, carried.result);
        let homeless = unknown::graft::<B>(&mut result, fields, &way);
        for kept in &waiting {
            kept.restore(&mut result);
        }
        if !homeless.is_empty() {
            let known = serde_json::to_string(carried.object).map_err(|error| no_json(&error))?;
            let kept = Kept::all(homeless, &mut document, &mut tree(&known)?);
            preserved.unknown.insert(A::VERSION.to_owned(), kept);
        }
        let members = written_members(&mut result);
        written.members = members;
    }
    preserved.put(&mut metadata.annotations);
    Ok(())
}

fn note(unknown: &[Vec<Segment>], issues: &mut Issues) {
    for path in unknown.iter().take(NOTED) {
        let text = "no version of the kind knows this field; it is carried along";
        issues.add(UNKNOWN.note(FieldPath::root().join(path), text));
    }
}

fn no_json(error: &serde_json::Error) -> ConversionError {
    let message = format!("what the conversion made is no object: {error}");
    ConversionError { path: FieldPath::root(), message }
}

/// The API server never lets it pass. Labels and annotations that can't be read could not be edited either.
fn odd_metadata() -> ConversionError {
    let message = "must be an object whose labels and annotations are texts by name".into();
    ConversionError { path: FieldPath::field("metadata"), message }
}

/// The one failure that is allowed: a result that the API server would not take.
fn check_annotations(metadata: &Metadata<'_>) -> Result<(), ConversionError> {
    let bytes = metadata.annotation_bytes();
    if bytes <= ANNOTATION_LIMIT {
        return Ok(());
    }
    let largest = metadata.annotations.iter().max_by_key(|(_, text)| text.len());
    let kept = largest.and_then(|(_, text)| serde_json::from_str(text).ok());
    let of_it = kept.map(|kept| format!(", most of it for {}", largest_field(&kept))).unwrap_or_default();
    let path = largest.map_or_else(FieldPath::root, |(key, _)| FieldPath::annotation(key.clone()));
    let message = format!(
        "the annotations would have {bytes} bytes, more than the {ANNOTATION_LIMIT} that an object may have{of_it}; \
         shorten that field or store the object in the other version"
    );
    Err(ConversionError { path, message })
}

/// The field that most of a kept remainder is for.
fn largest_field(kept: &Value) -> FieldPath {
    let (mut path, mut node) = (FieldPath::root(), kept);
    loop {
        let size = node.to_string().len();
        let children: Vec<(Segment, &Value)> = match node {
            Value::Object(members) => {
                members.iter().map(|(name, child)| (Segment::Field(name.clone().into()), child)).collect()
            }
            Value::Array(items) => items.iter().enumerate().map(|(i, child)| (Segment::Index(i), child)).collect(),
            _ => return path,
        };
        match children.into_iter().find(|(_, child)| child.to_string().len() * 2 > size) {
            Some((segment, child)) => (path, node) = (path.child(segment), child),
            None => return path,
        }
    }
}

/// Text that was read or written as JSON is a tree.
fn tree(json: &str) -> Result<Tree<'_>, ConversionError> {
    let message = || "a field that no version knows can't be carried over: the object is no JSON".to_owned();
    Tree::read(json).ok_or_else(|| ConversionError { path: FieldPath::root(), message: message() })
}

/// The members of the result that the conversion makes, each with a comma in front.
fn written_members(result: &mut Tree<'_>) -> String {
    let mut members = String::new();
    let made = |name: &str| !["apiVersion", "kind", "metadata"].contains(&name);
    for (name, node) in result.members().into_iter().flatten().filter(|(name, _)| made(name)) {
        members.push(',');
        node.write_named(name, &mut members);
    }
    members
}

impl From<DecodeError> for ConversionError {
    fn from(error: DecodeError) -> Self {
        Self { path: error.path, message: error.message }
    }
}
