//! Writes that would store less than somebody means to: of a view that lacks something, and of an object that would have
//! such a view.

use crate::conversion::ANNOTATION_LIMIT;
use crate::conversion::attempt::Attempt;
use crate::conversion::source::Source;
use crate::json::reading::has_room_for_trees;
use crate::rule::INCOMPLETE;
use crate::rule::field::FieldPath;
use crate::rule::issue::{Issue, Issues};
use crate::rule::resource::GroupVersionKind;
use crate::rule::verdict::Verdict;
use crate::webhooks::any_kind::AnyKind;
use crate::webhooks::declaration::Declaration;
use crate::webhooks::metadata;
use crate::wire::operation::Operation;
use crate::wire::review::AdmissionReview;

/// What conversion keeps of an object of fewer bytes, with each quotation mark escaped twice, stays below what
/// annotations may have.
const SMALL: usize = 64 * 1024;

/// Annotations of fewer bytes leave room for four times what conversion keeps in them.
const ROOMY: usize = ANNOTATION_LIMIT / 4;

/// Whether the hub's version can say all of an object of another.
#[derive(Debug, Clone)]
pub(crate) enum InHub {
    /// The object was not converted.
    Untried,
    /// It can, or why not.
    Tried(Option<Issue>),
}

impl InHub {
    /// As it turned out when an object of so many bytes was converted.
    pub fn of(bytes: usize, version: &str, converted: &Attempt, notes: &Issues) -> Self {
        Self::Tried(left_out(bytes, version, converted, notes))
    }
}

/// The verdict, with the finding that the object can't be stored whole. An object that is being deleted is exempt.
pub(crate) fn complete(
    mut verdict: Verdict,
    kind: &dyn AnyKind,
    review: &AdmissionReview<'_>,
    in_hub: InHub,
) -> Verdict {
    if !verdict.issues.has_errors()
        && !metadata::is_terminating(review)
        && let Some(refusal) = refusal(kind, review, in_hub)
    {
        verdict.merge(Issues::from_iter([refusal]).into());
    }
    verdict
}

/// Whether no view of the object lacks anything because of its size.
pub(crate) fn is_small(json: &str) -> bool {
    json.len() <= SMALL && has_room_for_trees(json)
}

/// Why the object of a create or an update may not be stored, if it may not.
fn refusal(kind: &dyn AnyKind, review: &AdmissionReview<'_>, in_hub: InHub) -> Option<Issue> {
    let is_write = matches!(review.operation, Some(Operation::Create | Operation::Update));
    let new = review.object.filter(|_| is_write && kind.declaration().has_views())?.get();
    labelled(kind, new).or_else(|| {
        let hub = &kind.declaration().hub.version;
        let is_hub = review.request.kind.version == *hub;
        let found = match in_hub {
            InHub::Tried(found) => found.or_else(|| lacking(kind, new, |version| version != hub)),
            InHub::Untried => lacking(kind, new, |_| true),
        };
        let found = found.or_else(|| if is_hub { None } else { lacking_when_read_back(kind, new) })?;
        // What is stored already may be written again in the version that it is stored in.
        let was_so = || review.old_object.is_some_and(|old| lacking(kind, old.get(), |_| true).is_some());
        (!(is_hub && was_so())).then_some(found)
    })
}

/// Whether the new object bears the label of a view that lacks something.
pub(crate) fn is_labelled(declared: &Declaration, review: &AdmissionReview<'_>) -> bool {
    review.object.is_some_and(|object| has_label(object.get(), declared.conversion_keys().incomplete()))
}

fn has_label(json: &str, label: &str) -> bool {
    // Most objects have neither the label nor a text that could hide it.
    if !json.contains(label) && !json.contains("\\u") && !json.contains("\\/") {
        return false;
    }
    let metadata = Source::read(json).and_then(|source| source.read_metadata());
    metadata.is_ok_and(|metadata| metadata.labels.contains_key(label))
}

/// The object is a view that lacks something, and bears the label that says so.
fn labelled(kind: &dyn AnyKind, new: &str) -> Option<Issue> {
    let label = kind.declaration().conversion_keys().incomplete();
    if !has_label(new, label) {
        return None;
    }
    let source = Source::read(new).ok()?;
    let others: Vec<&str> = others(kind, &source).collect();
    let path = (FieldPath::field("metadata") / "labels").key(label.to_owned());
    let message =
        format!("this view of the object lacks what its version can't say; write it in {}", others.join(" or "));
    let help = "to store what is seen here and nothing else, take the label off";
    Some(INCOMPLETE.forbidden(path).message(message).help(help).as_written())
}

/// What the view of the object in another version, one of those that are asked about, would lack.
fn lacking(kind: &dyn AnyKind, json: &str, is_asked: impl Fn(&str) -> bool) -> Option<Issue> {
    if is_small(json) {
        return None;
    }
    let source = Source::read(json).ok()?;
    others(kind, &source).filter(|version| is_asked(version)).find_map(|version| {
        let mut notes = Issues::new();
        let converted = kind.convert(&source, version, &mut notes).ok()?;
        left_out(json.len(), version, &converted, &notes)
    })
}

/// What the object of a spoke would lack when it is read again in its own version: what conversion keeps of it may be
/// longer than it was. With fewer annotations there is room for that.
fn lacking_when_read_back(kind: &dyn AnyKind, json: &str) -> Option<Issue> {
    if json.len() <= ROOMY {
        return None;
    }
    let source = Source::read(json).ok()?;
    if source.read_metadata().ok()?.annotation_bytes() <= ROOMY {
        return None;
    }
    let hub = kind.convert(&source, &kind.declaration().hub.version, &mut Issues::new()).ok()?;
    let version = GroupVersionKind::of(&source.envelope.api_version, &source.envelope.kind).version;
    let mut notes = Issues::new();
    let back = kind.convert(&Source::read(&hub.json).ok()?, &version, &mut notes).ok()?;
    let found = left_out(json.len(), &version, &back, &notes)?;
    Some(Issue { path: FieldPath::field("metadata") / "annotations", ..found })
}

/// What was left out of an object of so many bytes when it was converted.
fn left_out(bytes: usize, version: &str, converted: &Attempt, notes: &Issues) -> Option<Issue> {
    let path = converted.left_out.first()?.clone();
    let note = notes.iter().find(|note| note.rule == INCOMPLETE.id);
    let why = note.map(Issue::detail).unwrap_or_default();
    let message = format!("the object has {bytes} bytes and can't be said whole in {version}: {why}");
    Some(INCOMPLETE.forbidden(path).message(message).help("shorten the field that is named").as_written())
}

/// The versions that the object may be read in, but for its own.
fn others<'a>(kind: &'a dyn AnyKind, source: &Source<'_>) -> impl Iterator<Item = &'a str> + use<'a> {
    let own = source.envelope.api_version.rsplit('/').next().unwrap_or_default().to_owned();
    kind.declaration().versions.iter().map(AsRef::as_ref).filter(move |version| *version != own)
}
