//! Fields that a type doesn't know: found in the source, and put where they belong in the result.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::value::RawValue;

use crate::conversion::provenance::Direction;
use crate::conversion::step::MAX_FIELDS;
use crate::conversion::tree::Tree;
use crate::json::decode::{self, DecodeError};
use crate::json::reading::{Allowance, Ignored, Limits};
use crate::rule::field::Segment;
use crate::rule::resource::Resource;

/// A path whose names are not cut.
type Path = Vec<Segment>;

/// An object as its type reads it, and the topmost nodes that the type passes over.
pub(crate) struct ReadObject<T> {
    /// What the type knows.
    pub object: T,
    /// Where the rest is. What is beside the type's own business (`apiVersion`, `kind`, `metadata`) doesn't count.
    pub unknown: Vec<Path>,
    /// Whether there is more of it than is carried over; then none of it is.
    pub overflow: bool,
}

/// An object may have so many of them, and one more for each so many bytes: they are looked for one by one. Only a
/// version of the CRD that is newer than ours knows any.
const FEW: usize = 64;
const BYTES_FOR_ONE: usize = 64;

/// How many of them are carried over of an object of so many bytes.
fn most_of(bytes: usize) -> usize {
    MAX_FIELDS.min(FEW + bytes / BYTES_FOR_ONE)
}

/// Reads the source of a conversion, however large.
pub(crate) fn read<T: Resource>(json: &str) -> Result<ReadObject<T>, DecodeError> {
    read_whole(json, most_of(json.len())).map(ReadObject::bounded)
}

/// The same, or a part of it, within what an object of so many bytes is good for; `None` where it can't be read, or is too
/// large for that.
pub(crate) fn read_within_limits<T: Resource>(json: &str, bytes: usize) -> Option<ReadObject<T>> {
    let limits = Limits::of_object(T::bounds(), bytes);
    noting(json, limits, &Allowance::of(bytes), most_of(json.len())).map(ReadObject::bounded)
}

/// Reads what a conversion made, which may be shorter than its source and have as many unknown fields.
pub(crate) fn read_result<T: Resource>(json: &str) -> Result<ReadObject<T>, DecodeError> {
    read_whole(json, MAX_FIELDS)
}

fn read_whole<T: Resource>(json: &str, most: usize) -> Result<ReadObject<T>, DecodeError> {
    noting(json, Limits::NONE, &Allowance::unlimited(), most).map_or_else(
        // Read again for the place of the error; a reading that only fails the first time doesn't exist.
        || decode::from_str(json).map(|object| ReadObject { object, unknown: Vec::new(), overflow: false }),
        Ok,
    )
}

/// Reads an object, and at most so many of its unknown fields.
fn noting<T: Resource>(json: &str, limits: Limits, allowance: &Arc<Allowance>, most: usize) -> Option<ReadObject<T>> {
    let (object, ignored) = decode::noting(json, limits, allowance, Ignored::at_most(most))?;
    Some(ReadObject { object, unknown: ignored.paths, overflow: ignored.overflow })
}

impl<T> ReadObject<T> {
    /// With none of the unknown fields where there are more than are carried over: to look for some of a great many opens
    /// what all of them stand in.
    fn bounded(mut self) -> Self {
        if self.overflow {
            self.unknown.clear();
        }
        self
    }
}

/// A field that the type of its version doesn't know.
#[derive(Debug)]
pub(crate) struct Unknown<'a> {
    /// The object that it is a member of.
    pub parent: Path,
    /// Its name.
    pub name: String,
    /// What it holds.
    pub value: &'a RawValue,
}

impl<'a> Unknown<'a> {
    /// The fields of `document` at these paths. Of a member that stands there twice the last counts.
    pub fn all(paths: Vec<Path>, document: &mut Tree<'a>) -> Vec<Self> {
        let mut seen = HashSet::new();
        let once = paths.into_iter().filter(|path| seen.insert(path.clone()));
        once.filter_map(|path| Self::at(path, document)).collect()
    }

    fn at(mut path: Path, document: &mut Tree<'a>) -> Option<Self> {
        let value = document.find(&path)?.text()?;
        let name = path.pop()?.name()?.to_owned();
        Some(Self { parent: path, name, value })
    }
}

/// Puts each field into the result where its parent has a counterpart that is there, and returns those that found no
/// place. A name that the result's type knows is no place: a field must not come alive on the way.
pub(crate) fn reinsert<'a, B: Resource>(
    result: &mut Tree<'a>,
    unknown: Vec<Unknown<'a>>,
    way: &Direction,
) -> Vec<Unknown<'a>> {
    let (mut reinserted, mut unplaced) = (Vec::new(), Vec::new());
    let counterpart = counterparts(way);
    for field in unknown {
        let place = counterpart(&field.parent).filter(|place| insert(result, place, &field));
        match place {
            Some(place) => reinserted.push(Reinserted { place, field }),
            None => unplaced.push(field),
        }
    }
    unplaced.extend(take_back::<B>(result, reinserted));
    unplaced
}

/// A field in its new place.
struct Reinserted<'a> {
    /// The object that it is a member of now.
    place: Path,
    field: Unknown<'a>,
}

/// The way of a path there, if the way back leads to it again.
pub(crate) fn counterparts(way: &Direction) -> impl Fn(&[Segment]) -> Option<Path> {
    let (Direction::ToHub(provenance) | Direction::FromHub(provenance)) = way;
    let reversed = provenance.reversed();
    move |path| match way {
        Direction::ToHub(_) => reversed.counterpart(path),
        Direction::FromHub(provenance) => {
            provenance.counterpart(path).filter(|there| reversed.counterpart(there).as_deref() == Some(path))
        }
    }
}

fn insert<'a>(result: &mut Tree<'a>, place: &[Segment], field: &Unknown<'a>) -> bool {
    let Some(parent) = result.find(place).and_then(Tree::members) else { return false };
    if parent.contains_key(field.name.as_str()) {
        return false;
    }
    parent.insert(field.name.clone().into(), Tree::Text(field.value));
    true
}

/// Takes out of the result what its type knows, or can't be known not to know because it lies in a raw subtree. Where the
/// type can't read the result any more, all of them.
fn take_back<'a, B: Resource>(result: &mut Tree<'a>, reinserted: Vec<Reinserted<'a>>) -> Vec<Unknown<'a>> {
    if reinserted.is_empty() {
        return Vec::new();
    }
    let reading = read_result::<B>(&result.to_json()).map(|reading| reading.unknown);
    let passed_over: HashSet<Path> = reading.into_iter().flatten().collect();
    let mut taken = Vec::new();
    for Reinserted { mut place, field } in reinserted {
        place.push(Segment::Field(field.name.clone().into()));
        if !passed_over.contains(&place) {
            place.pop();
            if let Some(parent) = result.find(&place).and_then(Tree::members) {
                parent.remove(field.name.as_str());
            }
            taken.push(field);
        }
    }
    taken
}
