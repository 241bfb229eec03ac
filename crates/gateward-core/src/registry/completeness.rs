//! Writes that would store less than somebody means to: of a view that lacks something, and of an object that would have
//! such a view.

use crate::conversion::INCOMPLETE as LABEL;
use crate::conversion::object::Source;
use crate::field::FieldPath;
use crate::issue::{Issue, Issues};
use crate::operation::Operation;
use crate::reading::has_room_for_trees;
use crate::registry::kind::AnyKind;
use crate::review::AdmissionReview;
use crate::rule::INCOMPLETE;

/// What conversion keeps of an object of fewer bytes, with each quotation mark escaped twice, stays below what
/// annotations may have.
const SMALL: usize = 64 * 1024;

/// Whether no view of the object lacks anything because of its size.
fn is_small(json: &str) -> bool {
    json.len() <= SMALL && has_room_for_trees(json)
}

/// Why the object of a create or an update may not be stored, if it may not.
pub(crate) fn refusal(kind: &dyn AnyKind, review: &AdmissionReview<'_>) -> Option<Issue> {
    let is_write = matches!(review.operation, Some(Operation::Create | Operation::Update));
    let new = review.object.filter(|_| is_write && kind.declaration().converts)?.get();
    labelled(kind, new).or_else(|| {
        let found = left_out(kind, new)?;
        // What is stored already may be written again in the version that it is stored in.
        let is_hub = review.request.kind.version == kind.declaration().hub.version;
        let was_so = || review.old_object.is_some_and(|old| left_out(kind, old.get()).is_some());
        (!(is_hub && was_so())).then_some(found)
    })
}

/// Whether the new object bears the label of a view that lacks something.
pub(crate) fn is_labelled(review: &AdmissionReview<'_>) -> bool {
    review.object.is_some_and(|object| has_label(object.get()))
}

fn has_label(json: &str) -> bool {
    // Most objects have neither the label nor a text that could hide it.
    if !json.contains(LABEL) && !json.contains("\\u") && !json.contains("\\/") {
        return false;
    }
    let metadata = Source::read(json).and_then(|source| source.read_metadata());
    metadata.is_ok_and(|metadata| metadata.labels.contains_key(LABEL))
}

/// The object is a view that lacks something, and bears the label that says so.
fn labelled(kind: &dyn AnyKind, new: &str) -> Option<Issue> {
    let source = Source::read(new).ok().filter(|_| has_label(new))?;
    let others: Vec<&str> = others(kind, &source).collect();
    let path = (FieldPath::field("metadata") / "labels").key(LABEL);
    let message =
        format!("this view of the object lacks what its version can't say; write it in {}", others.join(" or "));
    let help = "to store what is seen here and nothing else, take the label off";
    Some(INCOMPLETE.forbidden(path).message(message).help(help).as_written())
}

/// What the view of the object in another version would lack.
fn left_out(kind: &dyn AnyKind, json: &str) -> Option<Issue> {
    if is_small(json) {
        return None;
    }
    let source = Source::read(json).ok()?;
    others(kind, &source).find_map(|version| {
        let mut notes = Issues::new();
        let converted = kind.convert(&source, version, &mut notes).ok()?;
        let path = converted.left_out.into_iter().next()?;
        let note = notes.iter().find(|note| note.rule == INCOMPLETE.id);
        let why = note.map(Issue::detail).unwrap_or_default();
        let message = format!("the object has {} bytes and can't be said whole in {version}: {why}", json.len());
        Some(INCOMPLETE.forbidden(path).message(message).help("shorten the field that is named").as_written())
    })
}

/// The versions that the object may be read in, but for its own.
fn others<'a>(kind: &'a dyn AnyKind, source: &Source<'_>) -> impl Iterator<Item = &'static str> + use<'a> {
    let own = source.envelope.api_version.rsplit('/').next().unwrap_or_default().to_owned();
    kind.declaration().versions.iter().copied().filter(move |version| *version != own)
}
