//! Typed reading of JSON, with the path of what doesn't fit.

pub(crate) mod error;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::json::decode::error::text_at;
pub use crate::json::decode::error::{DecodeError, Found, JsonType};
use crate::json::reading::{
    Allowance, Cut, Cuts, Failure, Ignored, Limits, Place, PlacedDeserializer, ReadFindings, Session,
};
use crate::rule::field::{FieldPath, Segment};
use crate::rule::review_object::ReviewObject;

/// How many nodes of the wrong type are named at most.
pub(crate) const DECODE_LIMIT: usize = 32;

/// Reads `json` as a `T`, structs from objects only.
///
/// The fast way is tried first; only when it fails is the text read again to learn where.
pub fn from_str<T: DeserializeOwned>(json: &str) -> Result<T, DecodeError> {
    let allowance = Allowance::unlimited();
    quickly(json, Limits::NONE, &allowance).map_err(|()| {
        let first = findings::<T>(json, Limits::NONE, 1, &allowance).into_iter().next();
        first.unwrap_or_else(|| unreadable(json))
    })
}

/// A part of a document that doesn't fit.
pub(crate) struct Misfit<T> {
    /// The first node that doesn't fit.
    pub error: DecodeError,
    /// What fits.
    pub rest: Option<Rest<T>>,
}

/// What fits of a part.
pub(crate) struct Rest<T> {
    /// A node that doesn't fit is empty in it, or absent from its map.
    pub value: T,
    /// The nodes that don't fit.
    pub unread: Vec<FieldPath>,
}

/// The same, of a part of a document of whose allowance so much is left.
pub(crate) fn part<T: DeserializeOwned>(json: &str, allowance: &Arc<Allowance>) -> Result<T, Misfit<T>> {
    let left = allowance.left();
    quickly(json, Limits::NONE, allowance).or_else(|()| {
        let (mut cuts, mut first, mut unread) = (Cuts::default(), None, BTreeSet::new());
        for _ in 0..most_passes(json.len()) {
            // What was made is gone again.
            allowance.restore(left);
            let session = Session { cuts: Some(&cuts), ..Session::tracing(allowance, Limits::NONE, DECODE_LIMIT) };
            let (read, ReadFindings { notes, failure }) = attempt(json, session);
            // Beyond the limit nodes are not noted.
            let all_are_noted = notes.len() < DECODE_LIMIT;
            let cut = failure.as_ref().and_then(cuttable);
            for Failure { error, node } in notes.into_iter().chain(failure) {
                first.get_or_insert(error);
                unread.insert(node);
            }
            match (read, first, cut) {
                (Some(value), None, _) => return Ok(value),
                (Some(value), Some(error), _) if all_are_noted => {
                    let rest = Some(Rest { value, unread: topmost(&unread) });
                    return Err(Misfit { error, rest });
                }
                (None, error, Some(node)) if all_are_noted && cuts.add(&node, Cut::Out) => first = error,
                (_, error, _) => {
                    first = error;
                    break;
                }
            }
        }
        allowance.restore(left);
        Err(Misfit { error: first.unwrap_or_else(|| unreadable(json)), rest: None })
    })
}

/// The node that a reading without it passes over: a member. After an item that is gone, others have other places, and a
/// list that is too long stays so.
fn cuttable(failure: &Failure) -> Option<Vec<Segment>> {
    let is_member = failure.node.last().is_some_and(|step| step.name().is_some());
    let is_too_long = matches!(failure.error.found, Found::TooMany { .. });
    (is_member && !is_too_long).then(|| failure.node.clone())
}

/// The same of a part that is a tree already; `None` where it doesn't fit.
pub(crate) fn tree<T: DeserializeOwned>(tree: &Value, allowance: &Arc<Allowance>) -> Option<T> {
    let session = Session::quick(allowance, Limits::NONE);
    T::deserialize(PlacedDeserializer { from: tree, place: &Place::root(&session) }).ok()
}

fn unreadable(json: &str) -> DecodeError {
    DecodeError::at(FieldPath::root(), "can't be read".into(), json)
}

/// The nodes of `json` that don't fit `T`, at most `limit` of them. For text that is no `T` there is at least one.
pub fn errors<T: DeserializeOwned>(json: &str, limit: usize) -> Vec<DecodeError> {
    let allowance = Allowance::unlimited();
    match quickly::<T>(json, Limits::NONE, &allowance) {
        Ok(_) => Vec::new(),
        Err(()) => findings::<T>(json, Limits::NONE, limit, &allowance),
    }
}

/// An object as it was sent.
pub(crate) struct Sent<T> {
    /// The object.
    pub value: T,
    /// What it and the views of its raw subtrees may take.
    pub allowance: Arc<Allowance>,
}

/// Reads an object of a kind; where it doesn't fit, at most `limit` nodes that are in the way.
pub(crate) fn object<K: ReviewObject>(json: &str, limit: usize) -> Result<Sent<K>, Vec<DecodeError>> {
    let (allowance, limits) = (Allowance::of(json.len()), Limits::of_object(K::bounds_of_lists(), json.len()));
    let left = allowance.left();
    if let Ok(value) = quickly(json, limits, &allowance) {
        return Ok(Sent { value, allowance });
    }
    allowance.restore(left);
    Err(findings::<K>(json, limits, limit, &allowance))
}

/// An object of which some nodes were passed over.
pub(crate) struct Lenient<T> {
    /// What could be read.
    pub value: T,
    /// What could not.
    pub unread: Vec<FieldPath>,
    /// What it and the views of its raw subtrees may take.
    pub allowance: Arc<Allowance>,
}

/// How often a stored object is read before it counts as unreadable. In the last readings more and more of what surrounds
/// a node in the way is passed over with it.
const LENIENT_PASSES: usize = 6;

/// How long the lists of an object may be.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Lists {
    /// Some times as long as the schema has it: the object is new.
    Bounded,
    /// As long as they are: the object is stored.
    Unbounded,
}

/// Reads as much of an object as fits. In the place of each node that doesn't, that of `instead` is read, or nothing.
pub(crate) fn leniently<T: ReviewObject>(json: &str, instead: Option<&str>, lists: Lists) -> Option<Lenient<T>> {
    readings(json, instead, lists).find_map(Result::ok)
}

/// The same, reading for reading: each passes over the nodes that didn't fit in those before it, and says which these are
/// by then.
pub(crate) fn readings<'t, T: ReviewObject>(
    json: &'t str,
    instead: Option<&'t str>,
    lists: Lists,
) -> impl Iterator<Item = Result<Lenient<T>, Vec<FieldPath>>> + 't {
    let (mut unread, mut was_full) = (BTreeSet::new(), false);
    (0..LENIENT_PASSES).rev().map(move |left| {
        let cuts = cut(&unread, instead);
        let allowance = Allowance::of(json.len());
        let bounds = match lists {
            Lists::Bounded => T::bounds_of_lists(),
            Lists::Unbounded => &[],
        };
        let limits = Limits::of_object(bounds, json.len());
        let session = Session { cuts: Some(&cuts), ..Session::tracing(&allowance, limits, DECODE_LIMIT) };
        let findings = match pass::<T>(json, session) {
            Ok(value) => return Ok(Lenient { value, unread: topmost(&unread), allowance }),
            Err(findings) => findings,
        };
        let mut nodes: Vec<Vec<Segment>> =
            findings.notes.into_iter().chain(findings.failure).map(|failure| failure.node).collect();
        let is_full = nodes.len() >= DECODE_LIMIT;
        if is_full && was_full {
            nodes = around_many(&nodes);
        }
        was_full = is_full;
        for mut node in nodes {
            node.truncate(match left {
                0..=1 => 1,
                2 => 2,
                _ => node.len(),
            });
            unread.insert(node);
        }
        Err(topmost(&unread))
    })
}

/// Of nodes that have this many neighbours among them, the one in which they lie is passed over instead, where two readings
/// in a row have found as many as are named.
const MANY: usize = 8;

fn around_many(nodes: &[Vec<Segment>]) -> Vec<Vec<Segment>> {
    let around = |node: &Vec<Segment>| node.len().saturating_sub(1);
    let is_crowded = |parent: &[Segment]| {
        let count = nodes.iter().filter(|node| node[..around(node)] == *parent).count();
        !parent.is_empty() && count >= MANY
    };
    let wider =
        |node: &Vec<Segment>| Some(&node[..around(node)]).filter(|parent| is_crowded(parent)).map(<[_]>::to_vec);
    nodes.iter().map(|node| wider(node).unwrap_or_else(|| node.clone())).collect()
}

/// The nodes that lie below none of the others.
fn topmost(nodes: &BTreeSet<Vec<Segment>>) -> Vec<FieldPath> {
    let below = |node: &[Segment]| (1..node.len()).any(|steps| nodes.contains(&node[..steps]));
    nodes.iter().filter(|node| !below(node)).cloned().map(FieldPath::from_iter).collect()
}

/// The nodes as cuts: each is replaced by the node of `instead` at the same place, where there is one.
fn cut<'t>(nodes: &BTreeSet<Vec<Segment>>, instead: Option<&'t str>) -> Cuts<'t> {
    let mut cuts = Cuts::default();
    for node in nodes {
        let text = instead.and_then(|document| text_at(document, node));
        cuts.add(node, text.map_or(Cut::Out, Cut::Instead));
    }
    cuts
}

/// How often a document is read to find what is wrong with it: again after each node for which there is no
/// placeholder, so less often the larger it is.
fn most_passes(bytes: usize) -> usize {
    const OF_SMALL: usize = 64 << 10;
    (OF_SMALL / bytes.max(1)).clamp(4, 32)
}

/// What stands in the way of reading `json` as a `T`. A list that is far too long stands alone.
fn findings<T: DeserializeOwned>(
    json: &str,
    limits: Limits,
    limit: usize,
    allowance: &Arc<Allowance>,
) -> Vec<DecodeError> {
    let left = allowance.left();
    let mut found: Vec<DecodeError> = Vec::new();
    let mut cuts = Cuts::default();
    for _ in 0..most_passes(json.len()) {
        allowance.restore(left);
        let session = Session { cuts: Some(&cuts), ..Session::tracing(allowance, limits, limit) };
        let Err(findings) = pass::<T>(json, session) else { break };
        for note in findings.notes {
            if found.len() < limit && !found.iter().any(|known| known.path == note.error.path) {
                found.push(note.error);
            }
        }
        let Some(Failure { error, node }) = findings.failure else { break };
        if matches!(error.found, Found::TooMany { .. }) {
            return vec![error];
        }
        let at: FieldPath = node.iter().cloned().collect();
        // A placeholder below may be what displeases, and what is missing only because it was cut is no finding.
        let excused =
            found.iter().any(|known| known.path.strip_prefix(&at).is_some()) || cuts.covers(error.path.segments());
        if !excused {
            found.push(error);
        }
        if found.len() >= limit || !cuts.add(&node, Cut::Out) {
            break;
        }
    }
    found
}

/// Reads `json` without learning where it doesn't fit, and notes the nodes that the type passes over.
pub(crate) fn noting<T: DeserializeOwned>(
    json: &str,
    limits: Limits,
    allowance: &Arc<Allowance>,
    ignored: Ignored,
) -> Option<(T, Ignored)> {
    let session = Session { ignored: Some(RefCell::new(ignored)), ..Session::quick(allowance, limits) };
    let mut from = serde_json::Deserializer::from_str(json);
    let read = T::deserialize(PlacedDeserializer { from: &mut from, place: &Place::root(&session) }).ok()?;
    from.end().ok()?;
    Some((read, session.ignored?.into_inner()))
}

/// Reads `json` within an allowance. `None` where it doesn't fit, or takes more.
pub(crate) fn within<T: DeserializeOwned>(json: &str, allowance: &Arc<Allowance>) -> Option<T> {
    quickly(json, Limits::NONE, allowance).ok()
}

/// Reads `json` without learning where it doesn't fit.
fn quickly<T: DeserializeOwned>(json: &str, limits: Limits, allowance: &Arc<Allowance>) -> Result<T, ()> {
    pass(json, Session::quick(allowance, limits)).map_err(drop)
}

/// One reading.
fn pass<'de, T: DeserializeOwned>(json: &'de str, session: Session<'_, 'de>) -> Result<T, ReadFindings> {
    match attempt(json, session) {
        (Some(read), findings) if findings.notes.is_empty() && findings.failure.is_none() => Ok(read),
        (_, findings) => Err(findings),
    }
}

/// One reading, with placeholders for the nodes that were noted.
fn attempt<'de, T: DeserializeOwned>(json: &'de str, session: Session<'_, 'de>) -> (Option<T>, ReadFindings) {
    let read = session.allowance.during(|| {
        let mut from = serde_json::Deserializer::from_str(json);
        let root = Place::root(&session);
        let read = T::deserialize(PlacedDeserializer { from: &mut from, place: &root });
        read.and_then(|read| root.settled(from.end()).map(|()| read))
    });
    (read.ok(), session.found.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    #[expect(dead_code, reason = "only read to see whether reading works")]
    struct Spec {
        replicas: Option<i32>,
        name: Option<String>,
        items: Option<Vec<i32>>,
        parts: Option<Vec<Part>>,
    }

    #[derive(Debug, serde::Deserialize)]
    #[expect(dead_code, reason = "only read to see whether reading works")]
    struct Part {
        size: u8,
        #[serde(default)]
        on: bool,
    }

    fn paths(json: &str) -> Vec<String> {
        let mut paths: Vec<String> = errors::<Spec>(json, 10).iter().map(|error| error.path.to_string()).collect();
        paths.sort();
        paths
    }

    #[test]
    fn names_every_node_of_the_wrong_type() {
        let json = r#"{"replicas": "2", "name": 3, "items": ["w", 1, "x", 2, 3, "y"]}"#;
        assert_eq!(paths(json), ["items[0]", "items[2]", "items[5]", "name", "replicas"]);
    }

    #[test]
    fn names_the_members_of_several_items_by_their_own_positions() {
        let json = r#"{"parts": [{"size": 1, "on": 1}, {"size": 1}, {"size": 2, "on": "x"}]}"#;
        assert_eq!(paths(json), ["parts[0].on", "parts[2].on"]);
    }

    #[test]
    fn a_field_that_must_be_there_is_named_itself() {
        let found = errors::<Spec>(r#"{"parts": [{}]}"#, 10);
        assert_eq!(found[0].to_string(), "parts[0].size: the field must be there");
        assert_eq!(found[0].issue(&FieldPath::field("spec")).path.to_string(), "spec.parts[0].size");
    }

    #[test]
    fn what_was_taken_out_is_not_missed() {
        let json = r#"{"parts": [{"size": "x"}, {"size": 1}, {}, {"size": null}], "name": 1}"#;
        assert_eq!(paths(json), ["name", "parts[0].size", "parts[2].size", "parts[3].size"]);
    }

    #[test]
    fn stops_at_the_limit() {
        assert_eq!(errors::<Spec>(r#"{"replicas": "2", "name": 3}"#, 1).len(), 1);
    }

    #[test]
    fn a_member_that_stands_there_twice_is_an_error() {
        let json = r#"{"replicas": 1, "replicas": 2}"#;
        assert!(serde_json::from_str::<Spec>(json).is_err());
        assert_eq!(errors::<Spec>(json, 10).len(), 1);
    }

    #[test]
    fn a_number_that_is_too_large_is_named() {
        let found = errors::<Spec>(r#"{"parts": [{"size": 300}]}"#, 10);
        assert_eq!(found[0].message, "integer `300` is not a non-negative integer of 8 bits");
    }

    #[test]
    fn text_that_nests_too_deeply_is_an_error() {
        let json = format!(r#"{{"name": {}{}}}"#, "[".repeat(200), "]".repeat(200));
        assert_eq!(errors::<Spec>(&json, 10).len(), 1);
    }

    #[test]
    fn says_what_would_fit_and_not_what_was_found() {
        let found = errors::<Spec>(r#"{"replicas": "secret"}"#, 10);
        assert_eq!(found[0].message, "must be an integer of 32 bits");
        assert_eq!(
            found[0].issue(&FieldPath::root()).to_string(),
            r#"replicas: Invalid value: "string": must be an integer of 32 bits"#
        );
    }
}
