//! Fields that no type knows, carried over: to their own place, or to the annotation, and back from there.

use crate::conversion::ConversionError;
use crate::conversion::attempt::{Route, whole};
use crate::conversion::envelope::Metadata;
use crate::conversion::kept::Kept;
use crate::conversion::object::Source;
use crate::conversion::preserved::Preserved;
use crate::conversion::tree::Tree;
use crate::conversion::unknown::{self, Unknown};
use crate::conversion::written::Written;
use crate::field::{FieldPath, Segment};
use crate::issue::Issues;
use crate::resource::Resource;
use crate::rule::UNKNOWN;

/// How many unknown fields of an object are noted.
const NOTED: usize = 16;

/// An object with fields that its type doesn't know, or with an annotation that keeps some.
pub(crate) struct Carried<'a, A, B> {
    pub source: &'a Source<'a>,
    pub object: &'a A,
    pub result: &'a B,
    pub unknown: Vec<Vec<Segment>>,
}

/// Carries unknown fields over.
pub(crate) fn carry<A: Resource, B: Resource>(
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
        let homeless = if fields.is_empty() {
            fields
        } else {
            unknown::graft::<B>(&mut result, fields, &route.way(carried.object, carried.result))
        };
        if !homeless.is_empty() {
            let known = serde_json::to_string(carried.object).map_err(|error| no_json(&error))?;
            let kept = Kept::all(homeless, &mut document, &mut tree(&known)?);
            preserved.unknown.insert(A::VERSION.to_owned(), kept);
        }
        let grafted = result.to_json();
        written.members = match restored::<B>(&grafted, &waiting, &written.members)? {
            Some(members) => members,
            None => written_members(&mut result),
        };
    }
    preserved.put(&mut metadata.annotations);
    Ok(())
}

/// The members of the result with the fields that waited for it; `None` where none of them may come back. What the type
/// writes of the result must stay what it is: no field that the type knows comes alive, changes or vanishes.
fn restored<B: Resource>(result: &str, waiting: &[Kept], members: &str) -> Result<Option<String>, ConversionError> {
    let is_unchanged = |json: &str| {
        let reading = unknown::read::<B>(json).ok()?;
        (Written::of(&reading.object).ok()?.members == members).then_some(())
    };
    let all = |_: &Kept| true;
    for is_wanted in [all, Kept::has_firm_place] {
        let mut tree = tree(result)?;
        let put = waiting.iter().take(crate::conversion::kept::MAX_FIELDS).filter(|kept| is_wanted(kept));
        let changed = put.filter(|kept| kept.restore(&mut tree)).count();
        if changed == 0 {
            return Ok(None);
        }
        if is_unchanged(&tree.to_json()).is_some() {
            return Ok(Some(written_members(&mut tree)));
        }
    }
    Ok(None)
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

pub(crate) fn no_json(error: &serde_json::Error) -> ConversionError {
    let message = format!("what the conversion made is no object: {error}");
    ConversionError { path: FieldPath::root(), message }
}
