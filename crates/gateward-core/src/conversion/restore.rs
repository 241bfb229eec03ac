//! Entries of an annotation put back: as many as the way back doesn't notice.

use std::cell::LazyCell;

use serde_json::Value;
use serde_json::value::to_raw_value;

use crate::conversion::difference::{self, Difference};
use crate::conversion::equivalence::{self, NAMED};
use crate::conversion::route::Route;
use crate::conversion::schema::SchemaCheck;
use crate::conversion::step::{MAX_FIELDS, Step, steps};
use crate::conversion::tree::Tree;
use crate::conversion::unknown;
use crate::json::meaning::same_apart_from;
use crate::json::members::rewritten;
use crate::json::reading::Allowance;
use crate::json::shallow::shallow;
use crate::rule::field::Segment;
use crate::rule::issue::Issues;
use crate::rule::resource::Resource;

/// How often entries are tried: all together, and again without what stood in the way. Then the rest is dropped.
pub(crate) const TRIES: usize = 3;

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
    pub check: &'a SchemaCheck<'a>,
    pub object: &'a A,
    pub result: &'a B,
}

/// The ways to the nodes that stand in the way of a try; none where that isn't known.
pub(crate) type Obstacles = Vec<Vec<Step>>;

/// What became of entries of an annotation.
pub(crate) struct Tried<T> {
    /// The result with those that were put back.
    pub restored: Option<T>,
    /// Whether none of them stood in the way of the others.
    pub is_whole: bool,
}

/// Puts entries of an annotation back: all together, and where that fails all but those in the smallest part around each
/// node that stands in the way. The work is that of so many tries.
pub(crate) fn by_parts<E, T>(
    entries: &[E],
    tries: usize,
    path: impl Fn(&E) -> &[Step],
    attempt: impl Fn(&[&E]) -> Result<Option<T>, Obstacles>,
) -> Tried<T> {
    if entries.is_empty() {
        return Tried { restored: None, is_whole: true };
    }
    // How far down the smallest part is that has both the entry and the node.
    let depth = |entry: &E, node: &[Step]| {
        let shared = path(entry).iter().zip(node).take_while(|(one, other)| one == other).count();
        if shared == path(entry).len() { node.len() } else { shared }
    };
    let mut left: Vec<&E> = entries.iter().take(MAX_FIELDS).collect();
    for _ in 0..tries {
        let obstacles = match attempt(&left) {
            Ok(restored) => return Tried { restored, is_whole: left.len() == entries.len() },
            Err(obstacles) if obstacles.is_empty() => break,
            Err(obstacles) => obstacles,
        };
        let deepest = |node: &Vec<Step>| left.iter().map(|entry| depth(entry, node)).max();
        let deepest: Vec<Option<usize>> = obstacles.iter().map(deepest).collect();
        left.retain(|entry| obstacles.iter().zip(&deepest).all(|(node, most)| Some(depth(entry, node)) < *most));
    }
    Tried { restored: None, is_whole: false }
}

/// Reads the text of a document, or says what stands in the way.
pub(crate) fn read<B: Resource>(json: &str, document: &mut Tree<'_>) -> Result<B, Obstacles> {
    let reading = unknown::read_result::<B>(json);
    reading.map(|reading| reading.object).map_err(|error| vec![steps(document, error.path.segments())])
}

/// Whether a document breaks its schema nowhere but where `made` does, which nothing was put back into.
pub(crate) fn breaks_nothing(
    check: &SchemaCheck<'_>,
    json: &str,
    made: &str,
    document: &mut Tree<'_>,
) -> Result<(), Obstacles> {
    let broken = check.broken(json, || Some(made)).ok_or_else(Obstacles::new)?;
    let obstacles: Obstacles = broken.iter().take(NAMED).map(|path| steps(document, path.segments())).collect();
    if obstacles.is_empty() { Ok(()) } else { Err(obstacles) }
}

impl<A: Resource, B: Resource, R: Route<A, B>> Restoring<'_, A, B, R> {
    /// Puts differences back into `made`, the text of the result.
    pub fn restore(&self, made: &str, differences: &[Difference], tries: usize) -> Tried<Restored<A, B>> {
        let own = LazyCell::new(|| serde_json::to_string(self.object).ok());
        let without = LazyCell::new(|| {
            let back = way_back(self.route, self.result, made.len()).ok()?;
            serde_json::to_string(&back).ok()
        });
        // The nodes at which what comes back is neither what the object says nor what would come back without any.
        let astray = |led: &str| {
            if same_apart_from(&APART, led, own.as_ref()?) {
                return Some(Vec::new());
            }
            // No tree outlives a try: the schema needs others.
            let (led, source) = (said(led)?, said(own.as_ref()?)?);
            let astray = equivalence::astray(&led, &source, &source);
            if astray.is_empty() {
                return Some(astray);
            }
            Some(equivalence::astray(&led, &source, &said(without.as_ref()?)?))
        };
        by_parts(differences, tries, |difference| &difference.path, |part| self.tried(made, part, &astray))
    }

    /// The result with these differences, if it is one and leads back.
    fn tried(
        &self,
        made: &str,
        differences: &[&Difference],
        astray: &impl Fn(&str) -> Option<Vec<Vec<Segment>>>,
    ) -> Result<Option<Restored<A, B>>, Obstacles> {
        let Some(mut tree) = Tree::read(made) else { return Ok(None) };
        let mut room = 8 * made.len();
        if differences.iter().filter(|difference| difference.apply(&mut tree, &mut room)).count() == 0 {
            return Ok(None);
        }
        let json = tree.to_json();
        let object = read::<B>(&json, &mut tree)?;
        let mut in_the_way = |nodes: &[Vec<Segment>]| nodes.iter().map(|node| steps(&mut tree, node)).collect();
        let back = way_back(self.route, &object, json.len()).map_err(|node| in_the_way(&[node]))?;
        let led = serde_json::to_string(&back).ok().and_then(|led| astray(&led)).ok_or_else(Obstacles::new)?;
        if !led.is_empty() {
            return Err(in_the_way(&self.in_result(&led)));
        }
        breaks_nothing(self.check, &json, made, &mut tree)?;
        Ok(Some(Restored { json, object, back }))
    }

    /// The nodes of the result that nodes of the object are, or else the smallest parts around them.
    fn in_result(&self, nodes: &[Vec<Segment>]) -> Vec<Vec<Segment>> {
        let way = self.route.direction(self.object, self.result);
        let counterpart = unknown::counterparts(&way);
        let nearest = |node: &Vec<Segment>| (0..=node.len()).rev().find_map(|length| counterpart(&node[..length]));
        nodes.iter().map(|node| nearest(node).unwrap_or_default()).collect()
    }
}

/// What comes back of a result, within the memory that its text is worth; where nothing does, or not all of it, the node
/// that stands in the way.
fn way_back<A, B: Resource>(route: &impl Route<A, B>, result: &B, bytes: usize) -> Result<A, Vec<Segment>> {
    let allowance = Allowance::of(bytes);
    let back = allowance.during(|| route.convert_back(result, &mut Issues::new()));
    if allowance.is_exceeded() {
        return Err(Vec::new());
    }
    back.map_err(|error| error.path.segments().to_vec())
}

/// What the way there and back would change of `object`; nothing where no way leads back.
pub(crate) fn lost_by_trial<A: Resource, B: Resource>(
    route: &impl Route<A, B>,
    object: &A,
    result: &B,
    bytes: usize,
) -> Vec<Difference> {
    way_back(route, result, bytes).map_or_else(|_| Vec::new(), |back| lost(&back, object))
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
    let is_apart = |name: &str| APART.contains(&[name].as_slice());
    shallow(&rewritten(json, |name, text| (!is_apart(name)).then(|| text.into()))?, TREES)
}
