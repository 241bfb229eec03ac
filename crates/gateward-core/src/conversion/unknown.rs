//! Fields that a type doesn't know: found in the source, put where they belong in the result, or kept.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::conversion::provenance::Provenance;
use crate::decode::{self, DecodeError};
use crate::field::Segment;
use crate::resource::Resource;

/// How often a result that its type can't read any more is mended field by field, before all fields are taken out of it
/// again.
const MENDINGS: usize = 16;

/// A path whose names are not cut.
type Path = Vec<Segment>;

/// An object as its type reads it, and the topmost nodes that the type passes over.
pub(crate) struct Reading<T> {
    /// What the type knows.
    pub object: T,
    /// Where the rest is. What is beside the type's own business (`apiVersion`, `kind`, `metadata`) doesn't count.
    pub unknown: Vec<Path>,
}

/// Reads an object.
pub(crate) fn read<T: Resource>(json: &str) -> Result<Reading<T>, DecodeError> {
    let mut unknown = Vec::new();
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let read = serde_ignored::deserialize(&mut deserializer, |path| note(&path, &mut unknown));
    match read.and_then(|object| deserializer.end().map(|()| object)) {
        Ok(object) => Ok(Reading { object, unknown }),
        // Read again for the place of the error; a reading that only fails the first time doesn't exist.
        Err(_) => decode::from_str(json).map(|object| Reading { object, unknown }),
    }
}

fn note(path: &serde_ignored::Path<'_>, unknown: &mut Vec<Path>) {
    let mut segments = Path::new();
    collect(path, &mut segments);
    let first = segments.first().and_then(Segment::name);
    if !matches!(first, Some("apiVersion" | "kind" | "metadata")) {
        unknown.push(segments);
    }
}

fn collect(path: &serde_ignored::Path<'_>, segments: &mut Path) {
    use serde_ignored::Path as Step;
    match path {
        Step::Root => {}
        Step::Seq { parent, index } => {
            collect(parent, segments);
            segments.push(Segment::Index(*index));
        }
        Step::Map { parent, key } => {
            collect(parent, segments);
            segments.push(Segment::Field(key.clone().into()));
        }
        Step::Some { parent } | Step::NewtypeStruct { parent } | Step::NewtypeVariant { parent } => {
            collect(parent, segments);
        }
    }
}

/// A field that the type of its version doesn't know.
#[derive(Debug, Clone)]
pub(crate) struct Unknown {
    /// The object that it is a member of.
    pub parent: Path,
    /// Its name.
    pub name: String,
    /// What it holds.
    pub value: Value,
}

impl Unknown {
    /// The fields of `document` at these paths.
    pub fn all(paths: Vec<Path>, document: &Value) -> Vec<Self> {
        paths.into_iter().filter_map(|path| Self::at(path, document)).collect()
    }

    fn at(mut path: Path, document: &Value) -> Option<Self> {
        let value = find(document, &path)?.clone();
        let name = path.pop()?.name()?.to_owned();
        Some(Self { parent: path, name, value })
    }
}

fn find<'v>(document: &'v Value, path: &[Segment]) -> Option<&'v Value> {
    path.iter().try_fold(document, |node, segment| segment.find(node))
}

fn find_mut<'v>(document: &'v mut Value, path: &[Segment]) -> Option<&'v mut Value> {
    path.iter().try_fold(document, |node, segment| match segment {
        Segment::Field(name) | Segment::Key(name) => node.get_mut(name.as_ref()),
        Segment::Index(index) => node.get_mut(*index),
    })
}

/// Which way an object goes; the provenance is that of the lift.
pub(crate) enum Way {
    /// From the spoke to the hub.
    Up(Provenance),
    /// From the hub to the spoke.
    Down(Provenance),
}

/// Puts each field into the result where its parent has a counterpart that is there, and returns those that found no
/// place. A name that the result's type knows is no place: a field must not come alive on the way.
pub(crate) fn graft<B: Resource>(result: &mut Value, unknown: Vec<Unknown>, way: &Way) -> Vec<Unknown> {
    let (mut grafts, mut homeless) = (Vec::new(), Vec::new());
    let counterpart = counterparts(way);
    for field in unknown {
        let place = counterpart(&field.parent).filter(|place| insert(result, place, &field));
        match place {
            Some(place) => grafts.push((place, field)),
            None => homeless.push(field),
        }
    }
    homeless.extend(take_back::<B>(result, grafts));
    homeless
}

/// The way of a path there, if the way back leads to it again.
fn counterparts(way: &Way) -> impl Fn(&[Segment]) -> Option<Path> {
    let (Way::Up(provenance) | Way::Down(provenance)) = way;
    let reversed = provenance.reversed();
    move |path| match way {
        Way::Up(_) => reversed.counterpart(path),
        Way::Down(provenance) => {
            provenance.counterpart(path).filter(|there| reversed.counterpart(there).as_deref() == Some(path))
        }
    }
}

fn insert(result: &mut Value, place: &[Segment], field: &Unknown) -> bool {
    let Some(Value::Object(parent)) = find_mut(result, place) else { return false };
    if parent.contains_key(&field.name) {
        return false;
    }
    parent.insert(field.name.clone(), field.value.clone());
    true
}

/// Takes out of the result what its type knows, or can't be known not to know because it lies in a raw subtree.
fn take_back<B: Resource>(result: &mut Value, mut grafts: Vec<(Path, Unknown)>) -> Vec<Unknown> {
    let mut taken = Vec::new();
    for _ in 0..MENDINGS {
        let stays: Box<dyn Fn(&Path) -> bool> = match passed_over::<B>(result) {
            Ok(unknown) => Box::new(move |path| unknown.contains(path)),
            Err(stumbled) => Box::new(move |path| !stumbled.starts_with(path)),
        };
        let (keep, drop): (Vec<_>, Vec<_>) =
            grafts.into_iter().partition(|(place, field)| stays(&child(place, &field.name)));
        grafts = keep;
        if drop.is_empty() {
            return taken;
        }
        taken.extend(remove(result, drop));
    }
    taken.extend(remove(result, grafts));
    taken
}

fn child(parent: &[Segment], name: &str) -> Path {
    parent.iter().cloned().chain([Segment::Field(name.to_owned().into())]).collect()
}

fn remove(result: &mut Value, grafts: Vec<(Path, Unknown)>) -> Vec<Unknown> {
    for (place, field) in &grafts {
        if let Some(Value::Object(parent)) = find_mut(result, place) {
            parent.remove(&field.name);
        }
    }
    grafts.into_iter().map(|(_, field)| field).collect()
}

/// The nodes that the type passes over; where it can't read the document, the place that it stumbled at.
fn passed_over<B: Resource>(document: &Value) -> Result<HashSet<Path>, Path> {
    let mut unknown = Vec::new();
    if serde_ignored::deserialize::<_, _, B>(document, |path| note(&path, &mut unknown)).is_ok() {
        return Ok(unknown.into_iter().collect());
    }
    let error = decode::from_str::<B>(&document.to_string()).err();
    let fields = |segment: &Segment| match segment {
        Segment::Key(name) => Segment::Field(name.clone()),
        other => other.clone(),
    };
    Err(error.map(|error| error.path.segments().iter().map(fields).collect()).unwrap_or_default())
}

/// A field that waits in an annotation until the object is of its version again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Kept {
    /// The way to the field, its own name last.
    path: Vec<Step>,
    /// How many of the last objects on the way hold nothing else, so that the types leave them out.
    #[serde(default, skip_serializing_if = "is_zero")]
    hollow: usize,
    /// What it holds.
    value: Value,
}

// The signature is serde's.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// One step of a kept path. Items of lists are known by their names where they have any: lists are reordered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Step {
    Member(String),
    Named { name: String },
    Index(usize),
}

impl Kept {
    /// The fields of `document`, of which the types write back `known`.
    pub fn all(fields: Vec<Unknown>, document: &Value, known: &Value) -> Vec<Self> {
        fields.into_iter().map(|field| Self::of(field, document, known)).collect()
    }

    fn of(field: Unknown, document: &Value, known: &Value) -> Self {
        let there = (0..=field.parent.len()).rev().find(|&length| find(known, &field.parent[..length]).is_some());
        let hollow = field.parent.len() - there.unwrap_or_default();
        let mut path = steps(document, &field.parent);
        path.push(Step::Member(field.name));
        Self { path, hollow, value: field.value }
    }

    /// Puts the field back, where its place is there and nobody else has taken it.
    pub fn restore(&self, result: &mut Value) {
        let Some((Step::Member(name), way)) = self.path.split_last() else { return };
        let firm = way.len().saturating_sub(self.hollow);
        let mut node = Some(result);
        for (position, step) in way.iter().enumerate() {
            node = node.and_then(|node| step.find(node, position >= firm));
        }
        if let Some(Value::Object(parent)) = node {
            parent.entry(name.as_str()).or_insert_with(|| self.value.clone());
        }
    }
}

impl Step {
    fn find<'v>(&self, node: &'v mut Value, hollow: bool) -> Option<&'v mut Value> {
        match (self, node) {
            (Self::Member(name), Value::Object(members)) => {
                if hollow {
                    members.entry(name.as_str()).or_insert_with(|| Map::new().into());
                }
                members.get_mut(name)
            }
            (Self::Named { name }, Value::Array(items)) => items.iter_mut().find(|item| item["name"] == **name),
            (Self::Index(index), Value::Array(items)) => items.get_mut(*index),
            _ => None,
        }
    }
}

fn steps(document: &Value, path: &[Segment]) -> Vec<Step> {
    let mut node = Some(document);
    let mut steps = Vec::with_capacity(path.len());
    for segment in path {
        steps.push(step(node, segment));
        node = node.and_then(|node| segment.find(node));
    }
    steps
}

fn step(list: Option<&Value>, segment: &Segment) -> Step {
    match segment {
        Segment::Field(name) | Segment::Key(name) => Step::Member(name.clone().into_owned()),
        Segment::Index(index) => {
            let items = list.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            // An empty name is one that types leave out.
            let name = items.get(*index).and_then(|item| item["name"].as_str()).filter(|name| !name.is_empty());
            let alone = |name: &&str| items.iter().filter(|item| item["name"] == **name).count() == 1;
            name.filter(alone).map_or(Step::Index(*index), |name| Step::Named { name: name.to_owned() })
        }
    }
}

/// Fields by the version that they wait for.
pub(crate) type Waiting = BTreeMap<String, Vec<Kept>>;
