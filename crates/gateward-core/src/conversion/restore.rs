//! Differences put back: as many as the way back doesn't notice.

use std::cell::LazyCell;

use serde_json::Value;
use serde_json::value::to_raw_value;

use crate::conversion::difference::{self, Difference};
use crate::conversion::equivalence::{leads_back, shallow};
use crate::conversion::route::Route;
use crate::conversion::step::MAX_FIELDS;
use crate::conversion::tree::Tree;
use crate::conversion::unknown;
use crate::json::meaning::same_apart_from;
use crate::json::reading::Allowance;
use crate::rule::issue::Issues;
use crate::rule::resource::Resource;

/// How often entries are tried in smaller parts.
const TRIES: usize = 16;

/// So many bytes are tried in all before the rest is dropped; all entries together are tried at any size.
const TRIED_BYTES: usize = 256 * 1024;

/// A result with differences put back.
pub(crate) struct Restored<A, B> {
    /// Its text, with fields that its type doesn't know.
    pub json: String,
    /// What its type knows.
    pub object: B,
    /// What comes back of it.
    pub back: A,
}

/// An object and what it was converted to.
pub(crate) struct Restoring<'a, A, B, R> {
    pub route: &'a R,
    pub object: &'a A,
    pub result: &'a B,
}

/// What came of a try.
pub(crate) enum Tried<T> {
    Restored(T),
    Nothing,
    Refused,
}

/// Tries entries of an annotation: all together, or else by halves, each on what came of those before. `bytes` is what
/// one try reads.
pub(crate) fn by_halves<E, T>(
    entries: &[E],
    bytes: usize,
    attempt: impl Fn(Option<&T>, &[E]) -> Tried<T>,
) -> Option<T> {
    let mut parts: Vec<&[E]> = entries.chunks(MAX_FIELDS).take(1).collect();
    let mut tries = (TRIED_BYTES / bytes.max(1)).clamp(1, TRIES);
    let mut best = None;
    while let Some(part) = parts.pop().filter(|_| tries > 0) {
        tries -= 1;
        match attempt(best.as_ref(), part) {
            Tried::Restored(restored) => best = Some(restored),
            Tried::Refused if part.len() > 1 => {
                let (first, second) = part.split_at(part.len() / 2);
                parts.extend([second, first]);
            }
            Tried::Nothing | Tried::Refused => {}
        }
    }
    best
}

impl<A: Resource, B: Resource, R: Route<A, B>> Restoring<'_, A, B, R> {
    /// Puts differences back into `made`, the text of the result: all together, or else by halves.
    pub fn restore(&self, made: &str, differences: &[Difference]) -> Option<Restored<A, B>> {
        if differences.is_empty() {
            return None;
        }
        let own = serde_json::to_string(self.object).ok()?;
        let source = LazyCell::new(|| said(&own));
        let without =
            LazyCell::new(|| said(&serde_json::to_string(&way_back(self.route, self.result, made.len())?).ok()?));
        let leads_home = |led: &str| {
            if same_apart_from(&APART, led, &own) {
                return true;
            }
            let (Some(led), Some(source)) = (said(led), source.as_ref()) else { return false };
            leads_back(&led, source, source)
                || without.as_ref().is_some_and(|without| leads_back(&led, source, without))
        };
        by_halves(differences, made.len(), |best: Option<&Restored<A, B>>, part| {
            self.tried(best.map_or(made, |best| &best.json), part, &leads_home)
        })
    }

    fn tried(
        &self,
        made: &str,
        differences: &[Difference],
        leads_home: &impl Fn(&str) -> bool,
    ) -> Tried<Restored<A, B>> {
        let Some(mut tree) = Tree::read(made) else { return Tried::Nothing };
        let mut room = 8 * made.len();
        if differences.iter().filter(|difference| difference.apply(&mut tree, &mut room)).count() == 0 {
            return Tried::Nothing;
        }
        self.read(tree.to_json(), leads_home).map_or(Tried::Refused, Tried::Restored)
    }

    /// The result, if it is one and leads back: at each node to what the object says, or to what the way back leads to
    /// without any difference put back.
    fn read(&self, json: String, leads_home: &impl Fn(&str) -> bool) -> Option<Restored<A, B>> {
        let object = unknown::read_result::<B>(&json).ok()?.object;
        let back = way_back(self.route, &object, json.len())?;
        leads_home(&serde_json::to_string(&back).ok()?).then_some(Restored { json, object, back })
    }
}

/// What comes back of a result, within the memory that its text is worth; `None` where nothing does, or not all of it.
fn way_back<A, B: Resource>(route: &impl Route<A, B>, result: &B, bytes: usize) -> Option<A> {
    let allowance = Allowance::of(bytes);
    let back = allowance.during(|| route.convert_back(result, &mut Issues::new())).ok();
    back.filter(|_| !allowance.is_exceeded())
}

/// What the way there and back would change of `object`; nothing where no way leads back.
pub(crate) fn lost_by_trial<A: Resource, B: Resource>(
    route: &impl Route<A, B>,
    object: &A,
    result: &B,
    bytes: usize,
) -> Vec<Difference> {
    way_back(route, result, bytes).map_or_else(Vec::new, |back| lost(&back, object))
}

/// What of `object` doesn't come back.
pub(crate) fn lost<A: Resource>(back: &A, object: &A) -> Vec<Difference> {
    let text = |object: &A| to_raw_value(object).ok();
    let (Some(back), Some(was)) = (text(back), text(object)) else { return Vec::new() };
    difference::between(&back, &was)
}

/// What isn't the conversion's business.
const APART: [&[&str]; 3] = [&["apiVersion"], &["kind"], &["metadata"]];

/// How many trees are compared at a time.
const TREES: usize = 3;

/// All the rest that the text of a typed object says.
fn said(json: &str) -> Option<Value> {
    let mut said = shallow(json, TREES)?;
    said.as_object_mut()?.retain(|name, _| !APART.contains(&[name.as_str()].as_slice()));
    Some(said)
}
