//! Writes that would store less than somebody means to, or what nobody could read: of a view that lacks something, of an
//! object that would have such a view, and of one that nests too deeply.

use serde_json::value::RawValue;

use crate::conversion::ANNOTATION_LIMIT;
use crate::conversion::attempt::Attempt;
use crate::conversion::source::Source;
use crate::json::members::{each_member, items};
use crate::json::reading::has_room_for_trees;
use crate::json::shallow::nests_at_most;
use crate::rule::field::{FieldPath, Segment};
use crate::rule::issue::{Issue, Issues};
use crate::rule::resource::GroupVersionKind;
use crate::rule::verdict::Verdict;
use crate::rule::{INCOMPLETE, NESTING};
use crate::webhooks::any_kind::AnyKind;
use crate::webhooks::declaration::Declaration;
use crate::webhooks::metadata;
use crate::wire::operation::Operation;
use crate::wire::review::AdmissionReview;

/// What conversion keeps of an object of fewer bytes, with each quotation mark escaped twice, stays below what
/// annotations may have.
const SMALL: usize = 64 * 1024;

/// How deeply an object may nest, managed fields included. Go reads 10,000 levels, of which managed fields take four more
/// than the object, and a list or a review some; the deepest of our types has a tenth of this.
const MAX_NESTING: usize = 500;

/// How many steps of the way to something deep are named.
const MAX_STEPS: usize = 8;

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
        && let Some(refusal) = too_deep(review).or_else(|| refusal(kind, review, in_hub))
    {
        verdict.merge(Issues::from_iter([refusal]).into());
    }
    verdict
}

/// The object nests so deeply that it could make a list of its kind unreadable. One that was stored as it is may be
/// written again.
fn too_deep(review: &AdmissionReview<'_>) -> Option<Issue> {
    let is_write = matches!(review.operation, Some(Operation::Create | Operation::Update));
    let new = review.object.filter(|_| is_write)?.get();
    let is_deep = |json: &str| !nests_at_most(MAX_NESTING, json);
    if !is_deep(new) || review.old_object.is_some_and(|old| is_deep(old.get())) {
        return None;
    }
    let message = format!("lists and objects stand in each other more than {MAX_NESTING} levels deep");
    Some(NESTING.invalid(deepest(new), "<deep>").message(message).as_written())
}

/// The way to what nests so deeply, as far as a reader needs it. Managed fields follow the rest of the object.
fn deepest(json: &str) -> FieldPath {
    let (mut path, mut node) = (FieldPath::root(), json);
    for levels in (MAX_NESTING - MAX_STEPS..MAX_NESTING).rev() {
        let Some((step, text)) = deep_part(node, levels) else { break };
        (path, node) = (path.child(step), text);
    }
    path
}

/// The first member or item that nests more deeply, metadata last.
fn deep_part(node: &str, levels: usize) -> Option<(Segment, &str)> {
    let is_deep = |text: &RawValue| !nests_at_most(levels, text.get());
    // Of an object that may have very many members only those few are kept.
    let mut deep = Vec::new();
    let members = each_member(node, |name, text| {
        if is_deep(text) {
            deep.push((Segment::Field(name.into_owned().into()), text.get()));
        }
    });
    if members.is_none() {
        let item = items(node)?.into_iter().enumerate().find(|(_, text)| is_deep(text))?;
        return Some((Segment::Index(item.0), item.1.get()));
    }
    let place = deep.iter().position(|(step, _)| step.name() != Some("metadata")).unwrap_or_default();
    deep.into_iter().nth(place)
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
    // What is left out without a word was too much to be kept at all, and is no more than it was.
    notes.iter().find(|note| note.rule == INCOMPLETE.id)?;
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
