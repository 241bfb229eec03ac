//! Where a reading stands, and what it has found.

use std::cell::{Cell, RefCell};
use std::fmt::Display;
use std::sync::Arc;

use serde_json::Value;

use super::allowance::Allowance;
use super::cuts::Cuts;
use super::ignored::Ignored;
use super::message;
use crate::json::decode::error::{DecodeError, Found, JsonType};
use crate::rule::field::{FieldPath, Segment};

/// Admission reads at most so many times the bound of a list; beyond it, the schema's finding is the whole answer.
pub const BOUND_FACTOR: usize = 4;

/// The most items or members that the schema allows a list or map of a kind.
///
/// A list far beyond its bound (see [`BOUND_FACTOR`]) is not read at all: what is said of the object is then the
/// schema's finding alone. So a small body can't become a large tree before the schema is asked, which happens behind
/// mutating webhooks.
///
/// ```
/// use gateward_core::Bound;
///
/// const COMPONENTS: Bound = Bound { path: &["spec", "components"], most: 25 };
/// assert_eq!(COMPONENTS.most, 25);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    /// Where the list or map stands, by the names of members from the object's root; `*` is any item or member.
    pub path: &'static [&'static str],
    /// `maxItems` or `maxProperties` of the schema.
    pub most: usize,
}

/// An object may have so many parts, and one more for each so many bytes. A part is an item of a list, or an entry of a
/// map, whose type takes more than a text does. Each costs some microseconds wherever an object is converted, also if it
/// says nothing; one that has a name and says something has more bytes. A node of a tree, which may be a number, is half
/// of one.
const FEW_PARTS: usize = 128;
const BYTES_OF_A_PART: usize = 24;
const BYTES_OF_A_NODE: usize = 12;

/// How many bytes of the object a value of a type of this size needs, beyond those of the few.
const fn bytes_needed(size: usize) -> usize {
    if size > size_of::<Value>() {
        BYTES_OF_A_PART
    } else if size > size_of::<String>() {
        BYTES_OF_A_NODE
    } else {
        0
    }
}

/// How many items lists may have, and entries maps.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// Those of the schema.
    pub bounds: &'static [Bound],
    /// How many bytes of the object all parts may need.
    bytes_for_parts: usize,
}

impl Limits {
    /// None.
    pub const NONE: Self = Self { bounds: &[], bytes_for_parts: usize::MAX };

    /// Those of an object of so many bytes.
    pub fn of_object(bounds: &'static [Bound], bytes: usize) -> Self {
        Self { bounds, bytes_for_parts: FEW_PARTS * BYTES_OF_A_PART + bytes }
    }
}

/// One reading of a document.
pub(crate) struct Session<'s, 'de> {
    pub allowance: Arc<Allowance>,
    pub bounds: &'static [Bound],
    /// How many bytes of the object further parts may need.
    pub bytes_for_parts: Cell<usize>,
    pub cuts: Option<&'s Cuts<'de>>,
    /// How many nodes are named at most; `None` where the first one ends the reading and no place is looked for.
    pub tracing: Option<usize>,
    pub found: RefCell<ReadFindings>,
    /// Where nodes that the type passes over are noted, if anybody asks.
    pub ignored: Option<RefCell<Ignored>>,
}

/// What a reading has found.
#[derive(Default)]
pub(crate) struct ReadFindings {
    /// Nodes of the wrong type for which placeholders were read.
    pub notes: Vec<Failure>,
    /// What ended the reading.
    pub failure: Option<Failure>,
}

/// A node that doesn't fit.
pub(crate) struct Failure {
    /// What is said of it.
    pub error: DecodeError,
    /// The node itself, or the object that lacks a field.
    pub node: Vec<Segment>,
}

/// A node of the document that is being read.
#[derive(Clone, Copy)]
pub(crate) struct Place<'p, 'de> {
    pub session: &'p Session<'p, 'de>,
    parent: Option<&'p Place<'p, 'de>>,
    step: Step<'p>,
    /// Which of the bounds stand at this node or below it, a bit each.
    open: u64,
    depth: usize,
    pub cuts: Option<&'p Cuts<'de>>,
}

#[derive(Clone, Copy)]
enum Step<'p> {
    Root,
    Item(usize),
    Member(&'p str),
}

/// Of a longer name only the beginning is kept.
pub(super) const LONGEST_NAME: usize = 512;

impl<'p, 'de> Place<'p, 'de> {
    pub fn root(session: &'p Session<'p, 'de>) -> Self {
        // Of a kind with more than 64 bounds the first 64 count.
        let open = 1u64.checked_shl(u32::try_from(session.bounds.len()).unwrap_or(64)).map_or(u64::MAX, |bit| bit - 1);
        Self { session, parent: None, step: Step::Root, open, depth: 0, cuts: session.cuts }
    }

    pub fn item(&self, index: usize) -> Place<'_, 'de> {
        let cuts = self.cuts.and_then(|cuts| cuts.item(index));
        self.child(Step::Item(index), |step| step == "*", cuts)
    }

    pub fn member<'c>(&'c self, name: &'c str) -> Place<'c, 'de> {
        let cuts = self.cuts.and_then(|cuts| cuts.member(name));
        self.child(Step::Member(name), |step| step == name || step == "*", cuts)
    }

    fn child<'c>(
        &'c self,
        step: Step<'c>,
        leads: impl Fn(&str) -> bool,
        cuts: Option<&'c Cuts<'de>>,
    ) -> Place<'c, 'de> {
        let mut open = self.open;
        if open != 0 {
            for (index, bound) in self.session.bounds.iter().enumerate().take(64) {
                if !bound.path.get(self.depth).is_some_and(|step| leads(step)) {
                    open &= !(1 << index);
                }
            }
        }
        Place { session: self.session, parent: Some(self), step, open, depth: self.depth + 1, cuts }
    }

    /// Whether anybody asks for the names of members.
    pub fn needs_names(&self) -> bool {
        let session = self.session;
        self.open != 0 || self.cuts.is_some() || session.tracing.is_some() || session.ignored.is_some()
    }

    /// The bound of this very node.
    pub fn bound(&self) -> Option<Bound> {
        if self.open == 0 {
            return None;
        }
        let mut open = self.session.bounds.iter().enumerate().take(64).filter(|(index, _)| self.open >> index & 1 == 1);
        open.find(|(_, bound)| bound.path.len() == self.depth).map(|(_, bound)| *bound)
    }

    /// The steps to this node; none where the reading isn't traced.
    fn steps(&self) -> Vec<Segment> {
        if self.session.tracing.is_none() {
            return Vec::new();
        }
        self.path(|name| &name[..name.floor_char_boundary(LONGEST_NAME + 1)])
    }

    /// The steps to this node, of each name what is `kept`.
    fn path(&self, kept: impl Fn(&str) -> &str) -> Vec<Segment> {
        let segment = |step| match step {
            Step::Root => None,
            Step::Item(index) => Some(Segment::Index(index)),
            Step::Member(name) => Some(Segment::Field(kept(name).to_owned().into())),
        };
        let mut path: Vec<Segment> = self.upwards().filter_map(|place| segment(place.step)).collect();
        path.reverse();
        path
    }

    /// This node, and those above it.
    fn upwards(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |place| place.parent)
    }

    /// Notes that the type passes over this node, where anybody asks.
    pub fn ignore(&self) {
        let Some(ignored) = &self.session.ignored else { return };
        let first = self.upwards().filter(|place| place.depth == 1).find_map(|place| match place.step {
            Step::Member(name) => Some(name),
            Step::Root | Step::Item(_) => None,
        });
        ignored.borrow_mut().add(first, || self.path(|name| name));
    }

    /// Ends the reading here, unless it has ended further below. `found` is the type of the node, where it is known.
    ///
    /// Every visitor comes here, so what it is given is behind pointers: the function is compiled once.
    #[cold]
    pub fn fail(&self, message: &dyn Display, found: Option<JsonType>) {
        let mut findings = self.session.found.borrow_mut();
        if findings.failure.is_none() {
            findings.failure = Some(Failure::new(self.steps(), &message::cut(message), found));
        }
    }

    /// Ends the reading here with this error.
    pub fn fail_with(&self, found: Found) {
        let mut findings = self.session.found.borrow_mut();
        if findings.failure.is_none() {
            let node = self.steps();
            let error = DecodeError { path: path(&node), message: String::new(), found };
            findings.failure = Some(Failure { error, node: known(node) });
        }
    }

    /// Notes a node of the wrong type; whether the reading goes on with a placeholder.
    #[cold]
    pub fn note(&self, message: &dyn Fn() -> String, found: JsonType) -> bool {
        let Some(limit) = self.session.tracing else {
            self.fail(&"", Some(found));
            return false;
        };
        let mut findings = self.session.found.borrow_mut();
        if findings.failure.is_none() && findings.notes.len() < limit {
            findings.notes.push(Failure::new(self.steps(), &message(), Some(found)));
        }
        findings.failure.is_none()
    }
}

fn path(steps: &[Segment]) -> FieldPath {
    steps.iter().cloned().collect()
}

impl Failure {
    fn new(node: Vec<Segment>, text: &str, found: Option<JsonType>) -> Self {
        let at = path(&node);
        let error = if let Some(field) = message::missing_field(text) {
            let (path, message) = (at.child(Segment::Field(field.to_owned().into())), "the field must be there".into());
            DecodeError { path, message, found: Found::Missing }
        } else {
            let found = found.map_or(Found::Unknown, Found::Type);
            DecodeError { path: at, message: message::reworded(text), found }
        };
        Self { error, node: known(node) }
    }
}

/// The steps to the node, or to the last one above it whose name is not too long to be kept.
fn known(mut steps: Vec<Segment>) -> Vec<Segment> {
    let long = |step: &Segment| step.name().is_some_and(|name| name.len() > LONGEST_NAME);
    if let Some(position) = steps.iter().position(long) {
        steps.truncate(position);
    }
    steps
}

impl Session<'_, '_> {
    /// A reading that ends at the first node that doesn't fit.
    pub fn quick(allowance: &Arc<Allowance>, limits: Limits) -> Self {
        let (allowance, found) = (Arc::clone(allowance), RefCell::default());
        Self {
            allowance,
            bounds: limits.bounds,
            bytes_for_parts: Cell::new(limits.bytes_for_parts),
            cuts: None,
            tracing: None,
            found,
            ignored: None,
        }
    }

    /// A reading that names nodes that don't fit, at most so many.
    pub fn tracing(allowance: &Arc<Allowance>, limits: Limits, most: usize) -> Self {
        Self { tracing: Some(most), ..Self::quick(allowance, limits) }
    }

    /// Takes one item or entry more, whose type is of this size, and which takes so many bytes; whether there was room
    /// for it.
    pub fn take(&self, size: usize, bytes: usize) -> bool {
        let left = self.bytes_for_parts.get().checked_sub(bytes_needed(size));
        self.bytes_for_parts.set(left.unwrap_or_default());
        left.is_some() && self.allowance.take(bytes)
    }
}

/// A deserializer that reads the node at a place.
pub(crate) struct PlacedDeserializer<'p, 'de, D> {
    pub from: D,
    pub place: &'p Place<'p, 'de>,
}
