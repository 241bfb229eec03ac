//! What the other version can't say, carried over: unknown fields to their own place, or to the annotation, and back from
//! there; and what the way there and back would change, which waits in the annotation too.

use crate::conversion::difference::Difference;
use crate::conversion::preserved::Preserved;
use crate::conversion::preserved_field::PreservedField;
use crate::conversion::restore::{Restoring, TRIES, Tried, breaks_nothing, by_parts, lost, lost_by_trial, read};
use crate::conversion::route::Route;
use crate::conversion::schema::SchemaCheck;
use crate::conversion::serialized::{Serialized, no_json};
use crate::conversion::source::{Source, whole};
use crate::conversion::step::MAX_FIELDS;
use crate::conversion::tree::Tree;
use crate::conversion::unknown::{self, Unknown};
use crate::conversion::{ConversionError, Strictness};
use crate::json::members::rewritten;
use crate::rule::field::{FieldPath, Segment};
use crate::rule::issue::Issues;
use crate::rule::resource::Resource;
use crate::rule::{STASH, UNKNOWN};
use crate::wire::envelope::Metadata;

/// How many unknown fields of an object are noted.
const NOTED: usize = 16;

/// Of an object that has so many labels and annotations differences are tried once, since each try reads all of them; of
/// one that has far more, which no person and no controller writes, they are dropped untried.
const MANY: usize = 64;
const TOO_MANY: usize = 256;

/// Of a longer object, which etcd would not store, they are dropped untried too: a try holds many texts of the object.
const LONGEST: usize = 3 << 19;

/// A converted object, of which more has to be carried over than its type says.
pub(crate) struct Carried<'a, A, B> {
    pub source: &'a Source<'a>,
    /// The source, where somebody has opened it.
    pub document: Option<Tree<'a>>,
    pub object: &'a A,
    pub result: B,
    pub unknown: Vec<Vec<Segment>>,
    /// What the way there and back would change, where that is known.
    pub lost: Option<Vec<Difference>>,
}

/// Carries over what the result doesn't say. Whether there is more of it than is kept.
pub(crate) fn carry<A: Resource, B: Resource>(
    carried: Carried<'_, A, B>,
    route: &impl Route<A, B>,
    written: &mut Serialized,
    metadata: &mut Metadata<'_>,
    issues: &mut Issues,
) -> Result<bool, ConversionError> {
    let key = route.keys().preserved();
    let mut preserved = Preserved::take(key, &mut metadata.annotations, issues);
    let (from, to) = (A::version(), B::version());
    let (known, waiting) = (preserved.take_known(&to, key, issues), preserved.unknown.remove(&*to));
    let waiting = waiting.unwrap_or_default();
    preserved.take_known(&from, key, &mut Issues::new());
    preserved.unknown.remove(&*from);
    let Carried { source, document, object, result, unknown, lost: mut known_losses } = carried;
    if !waiting.is_empty() || !unknown.is_empty() || !known.is_empty() {
        note(&unknown, issues);
        let made = whole::<B>(source, &metadata.to_json(), written);
        let document = || document.map_or_else(|| tree(source.json), Ok);
        let (mut json, unplaced) = with_unknown_fields(document, (object, &result), route, &made, unknown)?;
        preserved.unknown.extend((!unplaced.is_empty()).then(|| (from.to_string(), unplaced)));
        let check = || SchemaCheck::of::<A, B>(route.schemas(), Strictness::Whole, source.json);
        let tries = match metadata.labels.len() + metadata.annotations.len() {
            _ if source.json.len() > LONGEST => 0,
            0..MANY => TRIES,
            MANY..TOO_MANY => 1,
            _ => 0,
        };
        let known = Restoring { route, check: &check(), object, result: &result }.restore(&json, &known, tries);
        if let Some(restored) = known.restored {
            *written = Serialized::of(&restored.object).map_err(|error| no_json(&error))?;
            (json, known_losses) = (restored.json, Some(lost(&restored.back, object)));
        }
        if !waiting.is_empty() {
            // Metadata is dear to read, and nothing waits for it.
            let bare = |name: &str, text| Some(if name == "metadata" { "{}" } else { text }.into());
            json = rewritten(&json, bare).unwrap_or(json);
        }
        let unknown = with_unknown::<B>(&json, &waiting, &written.members, &check());
        if !(known.is_whole && unknown.is_whole) {
            issues.add(STASH.note(
                FieldPath::annotation(key.to_owned()),
                "a part of what conversion kept here doesn't fit; it is dropped",
            ));
        }
        let json = unknown.restored.unwrap_or(json);
        written.members = Serialized::of_text(&json).map_err(|error| no_json(&error))?.members;
    }
    let by_trial = || lost_by_trial(route, object, &result, source.json.len());
    let mut differences = known_losses.unwrap_or_else(by_trial);
    let overflow = differences.len() > MAX_FIELDS;
    differences.truncate(MAX_FIELDS);
    preserved.keep_known(&from, &differences);
    preserved.put(key, &mut metadata.annotations);
    Ok(overflow)
}

/// The result, JSON text, with the fields that no type knows in their places, and those that found none.
fn with_unknown_fields<'a, A: Resource, B: Resource>(
    document: impl FnOnce() -> Result<Tree<'a>, ConversionError>,
    (object, result): (&A, &B),
    route: &impl Route<A, B>,
    made: &'a str,
    unknown: Vec<Vec<Segment>>,
) -> Result<(String, Vec<PreservedField>), ConversionError> {
    if unknown.is_empty() {
        return Ok((made.to_owned(), Vec::new()));
    }
    let (mut document, mut made) = (document()?, tree(made)?);
    let fields = Unknown::all(unknown, &mut document);
    let unplaced = unknown::reinsert::<B>(&mut made, fields, &route.direction(object, result));
    let json = made.to_json();
    if unplaced.is_empty() {
        return Ok((json, Vec::new()));
    }
    let known = serde_json::to_string(object).map_err(|error| no_json(&error))?;
    Ok((json, PreservedField::all(unplaced, &mut document, &mut tree(&known)?)))
}

/// The result with the fields that waited for it and may come back. What the type writes of the result must stay what it
/// is: no field that the type knows comes alive, changes or vanishes.
fn with_unknown<B: Resource>(
    result: &str,
    waiting: &[PreservedField],
    members: &str,
    check: &SchemaCheck<'_>,
) -> Tried<String> {
    by_parts(
        waiting,
        TRIES,
        |field| &field.path,
        |fields| {
            let Some(mut tree) = Tree::read(result) else { return Ok(None) };
            if fields.iter().filter(|field| field.restore(&mut tree)).count() == 0 {
                return Ok(None);
            }
            let json = tree.to_json();
            let object = read::<B>(&json, &mut tree)?;
            if Serialized::of(&object).is_ok_and(|written| written.members == members) {
                return breaks_nothing(check, &json, result, &mut tree).map(|()| Some(json));
            }
            let before = unknown::read_result::<B>(result).map(|reading| reading.object);
            let changed = before.map(|before| lost(&object, &before)).unwrap_or_default();
            Err(changed.into_iter().map(|difference| difference.path).collect())
        },
    )
}

fn note(unknown: &[Vec<Segment>], issues: &mut Issues) {
    for path in unknown.iter().take(NOTED) {
        let text = "no version of the kind knows this field; it is carried along";
        issues.add(UNKNOWN.note(FieldPath::root().join(path), text));
    }
}

/// Text that was read or written as JSON is a tree.
fn tree(json: &str) -> Result<Tree<'_>, ConversionError> {
    let message = || "a field that no version knows can't be carried over: the object is no JSON".to_owned();
    Tree::read(json).ok_or_else(|| ConversionError { path: FieldPath::root(), message: message() })
}
