//! How the paths of a converted object find their way back to the user's own.

use std::cell::{Cell, OnceCell};
use std::cmp::Ordering;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::rule::field::{FieldPath, Segment};

/// How far a step back reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    /// What lies below the node has the same steps on both sides.
    Subtree,
    /// What lies below the node has no counterpart of its own.
    Node,
}

/// The step back from a node of the hub.
#[derive(Debug, Clone)]
struct Step {
    hub: FieldPath,
    written: FieldPath,
    reach: Reach,
}

/// Which way an object goes; the provenance is that of the lift.
#[derive(Debug, Clone)]
pub(crate) enum Direction {
    /// From the spoke to the hub.
    ToHub(Provenance),
    /// From the hub to the spoke.
    FromHub(Provenance),
}

/// Where each node of a converted object came from.
///
/// Paths come as closures, so that the usual case, an object without findings, pays nothing for them.
///
/// ```
/// use gateward_core::{FieldPath, Provenance};
///
/// let spec = || FieldPath::field("spec");
/// let mut provenance = Provenance::recording();
/// provenance.moved(|| (spec() / "env", spec() / "envs"));
/// assert_eq!(provenance.trace(&(spec() / "env").index(1)), (spec() / "envs").index(1));
/// assert_eq!(provenance.trace(&(spec() / "labels")), spec() / "labels");
/// ```
#[derive(Debug, Clone)]
pub struct Provenance(Option<Steps>);

/// Steps in the order in which they were recorded. Of those from one node of the hub the last one counts.
#[derive(Debug, Default)]
struct Steps {
    recorded: Vec<Step>,
    /// How many bytes the names in all paths have, and their segments.
    bytes: usize,
    /// Positions in an order of the hub's nodes, of which each has the last one alone.
    by_hub: OnceLock<Vec<usize>>,
    /// How often a node was looked for.
    lookups: AtomicUsize,
}

/// How many bytes the paths of many nodes may have together: each has all names on the way.
const ROOM: usize = 1 << 20;

/// To look through all steps so often is cheaper than to put them in order.
const FEW_LOOKUPS: usize = 64;

impl Provenance {
    /// Remembers every step.
    pub fn recording() -> Self {
        Self(Some(Steps::default()))
    }

    /// Remembers nothing, for a lift whose findings are not known yet.
    pub const fn silent() -> Self {
        Self(None)
    }

    /// Whether steps are remembered; where they aren't, it is not worth finding many of them out.
    pub const fn is_recording(&self) -> bool {
        self.0.is_some()
    }

    /// Whether there is room for the steps of many nodes, such as those of each item of a list. Where there isn't, record one
    /// step for all: [`made`](Self::made) from the node that they lie in.
    pub fn has_room(&self) -> bool {
        self.0.as_ref().is_some_and(|steps| steps.bytes < ROOM)
    }

    /// The node `hub` is the node `written`, and what lies below has the same steps on both sides.
    pub fn moved(&mut self, paths: impl FnOnce() -> (FieldPath, FieldPath)) {
        self.push(paths, Reach::Subtree);
    }

    /// The node `hub` was made from the node `written`; whatever lies below it is reported there.
    pub fn made(&mut self, paths: impl FnOnce() -> (FieldPath, FieldPath)) {
        self.push(paths, Reach::Node);
    }

    /// Where the user wrote the node at `hub`: by the longest step that covers it, the last one among equals; the same
    /// path where no step does.
    pub fn trace(&self, hub: &FieldPath) -> FieldPath {
        match self.nearest(hub.segments()) {
            Some((step, rest)) if step.reach == Reach::Subtree => step.written.join(rest),
            Some((step, _)) => step.written.clone(),
            None => hub.clone(),
        }
    }

    /// The node of the written object that is the node `hub` with all that lies below, if there is one.
    pub(crate) fn counterpart(&self, hub: &[Segment]) -> Option<Vec<Segment>> {
        match self.nearest(hub) {
            Some((step, rest)) => (step.reach == Reach::Subtree).then(|| plain(step.written.segments(), rest)),
            None => Some(plain(hub, &[])),
        }
    }

    /// The node of the written object that the node `hub` was made from, where that is known of this very node.
    pub(crate) fn made_from(&self, hub: &[Segment]) -> Option<Vec<Segment>> {
        Some(plain(self.0.as_ref()?.of(hub)?.written.segments(), &[]))
    }

    /// The same from the side of the hub: where the nodes of the written object have gone.
    pub(crate) fn reversed(&self) -> Reversed<'_> {
        let steps = self.0.as_ref().map(|steps| steps.recorded.as_slice()).unwrap_or_default();
        Reversed { provenance: self, steps, by_written: OnceCell::new(), lookups: Cell::new(0) }
    }

    /// The longest step that covers the node, and the way from there.
    fn nearest<'p>(&self, hub: &'p [Segment]) -> Option<(&Step, &'p [Segment])> {
        let steps = self.0.as_ref()?;
        (0..=hub.len()).rev().find_map(|length| {
            let (node, rest) = hub.split_at_checked(length)?;
            Some((steps.of(node)?, rest))
        })
    }

    fn push(&mut self, paths: impl FnOnce() -> (FieldPath, FieldPath), reach: Reach) {
        if let Some(steps) = &mut self.0 {
            let (hub, written) = paths();
            steps.by_hub.take();
            let segments = hub.segments().iter().chain(written.segments());
            let sizes = segments.map(|segment| segment.name().map_or(0, str::len) + size_of::<Segment>());
            steps.bytes += sizes.sum::<usize>();
            steps.recorded.push(Step { hub, written, reach });
        }
    }
}

impl Steps {
    /// The step of this very node.
    fn of(&self, hub: &[Segment]) -> Option<&Step> {
        let is_it = |step: &&Step| is_same(step.hub.segments(), hub);
        if self.lookups.fetch_add(1, Relaxed) < FEW_LOOKUPS {
            return self.recorded.iter().rfind(is_it);
        }
        let positions = self.by_hub.get_or_init(|| self.in_order_of_hub());
        let position = positions.partition_point(|position| in_order(self.hub(*position), hub).is_lt());
        self.recorded.get(*positions.get(position)?).filter(is_it)
    }

    fn in_order_of_hub(&self) -> Vec<usize> {
        let mut positions: Vec<usize> = (0..self.recorded.len()).rev().collect();
        positions.sort_by(|a, b| in_order(self.hub(*a), self.hub(*b)));
        positions.dedup_by(|earlier, last| is_same(self.hub(*earlier), self.hub(*last)));
        positions
    }

    fn hub(&self, position: usize) -> &[Segment] {
        self.recorded.get(position).map_or(&[], |step| step.hub.segments())
    }
}

impl Clone for Steps {
    fn clone(&self) -> Self {
        Self { recorded: self.recorded.clone(), ..Self::default() }
    }
}

impl Step {
    /// Where it stands beside those of this reach from the node `written`.
    fn order(&self, written: &[Segment], reach: Reach) -> Ordering {
        in_order(self.written.segments(), written).then(self.reach.cmp(&reach))
    }
}

/// The way from the written object's nodes to the hub's.
pub(crate) struct Reversed<'a> {
    provenance: &'a Provenance,
    steps: &'a [Step],
    /// The same in an order of their written nodes.
    by_written: OnceCell<Vec<&'a Step>>,
    /// How often a node was looked for.
    lookups: Cell<usize>,
}

impl Reversed<'_> {
    /// The node of the hub that is the node `written` with all that lies below, if there is one.
    pub fn counterpart(&self, written: &[Segment]) -> Option<Vec<Segment>> {
        let mut moved = self.moved(written).peekable();
        let stayed = moved.peek().is_none().then(|| plain(written, &[]));
        moved.chain(stayed).find(|hub| self.is_it(hub, written))
    }

    /// The same, or the first node of the hub that was made from this very node, before one that moved with its parent.
    pub fn origin(&self, written: &[Segment]) -> Option<Vec<Segment>> {
        let itself = self.steps_of(written, Reach::Subtree).find(|hub| self.is_it(hub, written));
        let is_made = |hub: &Vec<Segment>| self.provenance.made_from(hub).is_some_and(|from| is_same(&from, written));
        let made = || self.steps_of(written, Reach::Node).find(is_made);
        itself.or_else(made).or_else(|| self.counterpart(written))
    }

    fn is_it(&self, hub: &[Segment], written: &[Segment]) -> bool {
        self.provenance.counterpart(hub).is_some_and(|back| is_same(&back, written))
    }

    /// Where the node may have gone with one that it lies in.
    fn moved<'s>(&'s self, written: &'s [Segment]) -> impl Iterator<Item = Vec<Segment>> + 's {
        (0..=written.len()).rev().flat_map(move |length| {
            let (node, rest) = written.split_at(length);
            self.steps_of(node, Reach::Subtree).map(move |hub| plain(&hub, rest))
        })
    }

    /// The nodes of the hub that steps of this reach lead to from this very node.
    fn steps_of<'s>(&'s self, written: &'s [Segment], reach: Reach) -> impl Iterator<Item = Vec<Segment>> + 's {
        self.lookups.set(self.lookups.get() + 1);
        let is_few = self.lookups.get() <= FEW_LOOKUPS;
        let all = is_few.then(|| self.steps.iter()).into_iter().flatten();
        let some = (!is_few).then(|| self.in_order_from(written, reach)).into_iter().flatten();
        let is_it = move |step: &&Step| step.reach == reach && is_same(step.written.segments(), written);
        all.filter(is_it).chain(some.take_while(is_it)).map(|step| plain(step.hub.segments(), &[]))
    }

    /// All steps that don't stand before those of this reach from the node `written`.
    fn in_order_from(&self, written: &[Segment], reach: Reach) -> impl Iterator<Item = &Step> {
        let sorted = self.by_written.get_or_init(|| {
            let mut sorted: Vec<&Step> = self.steps.iter().collect();
            sorted.sort_by(|a, b| a.order(b.written.segments(), b.reach));
            sorted
        });
        let start = sorted.partition_point(|step| step.order(written, reach).is_lt());
        sorted.get(start..).unwrap_or_default().iter().copied()
    }
}

/// Whether two paths lead to the same node. Keys and fields of one name are the same step: JSON knows no difference.
fn is_same(one: &[Segment], other: &[Segment]) -> bool {
    in_order(one, other).is_eq()
}

/// An order of nodes, which their last steps tell apart soonest.
fn in_order(one: &[Segment], other: &[Segment]) -> Ordering {
    let from_below = || one.iter().rev().map(step).cmp(other.iter().rev().map(step));
    one.len().cmp(&other.len()).then_with(from_below)
}

fn step(segment: &Segment) -> (Option<usize>, &str) {
    match segment {
        Segment::Index(index) => (Some(*index), ""),
        Segment::Field(name) | Segment::Key(name) => (None, name),
    }
}

/// A path and the steps below it, with keys as fields.
fn plain(path: &[Segment], below: &[Segment]) -> Vec<Segment> {
    let plain = |segment: &Segment| match segment {
        Segment::Key(name) => Segment::Field(name.clone()),
        other => other.clone(),
    };
    path.iter().chain(below).map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> FieldPath {
        FieldPath::field("spec")
    }

    #[test]
    fn the_longest_step_wins() {
        let mut provenance = Provenance::recording();
        provenance.moved(|| ((spec() / "components").index(0), (spec() / "services").key("otter")));
        provenance.made(|| ((spec() / "components").index(0) / "name", (spec() / "services").key("otter")));
        provenance.moved(|| (spec() / "components", spec() / "services"));
        let traced = |path: FieldPath| provenance.trace(&path).to_string();
        assert_eq!(traced((spec() / "components").index(0) / "replicas"), "spec.services[otter].replicas");
        assert_eq!(traced((spec() / "components").index(0) / "name"), "spec.services[otter]");
        assert_eq!(traced(spec() / "components"), "spec.services");
    }

    #[test]
    fn a_key_and_a_field_of_the_same_name_are_the_same_step() {
        let mut provenance = Provenance::recording();
        provenance.moved(|| (spec() / "limits" / "cpu", spec() / "cpu"));
        assert_eq!(provenance.trace(&(spec() / "limits").key("cpu")), spec() / "cpu");
    }

    #[test]
    fn the_last_of_two_steps_from_one_node_wins() {
        let mut provenance = Provenance::recording();
        provenance.moved(|| (spec() / "a", spec() / "b"));
        provenance.made(|| (spec() / "a", spec() / "c"));
        assert_eq!(provenance.trace(&(spec() / "a" / "d")), spec() / "c");
    }

    #[test]
    fn many_paths_are_traced_through_many_steps() {
        let mut provenance = Provenance::recording();
        for index in 0..50_000 {
            provenance.moved(|| ((spec() / "a").index(index), (spec() / "b").index(index)));
        }
        for index in 0..50_000 {
            assert_eq!(provenance.trace(&((spec() / "a").index(index) / "x")), (spec() / "b").index(index) / "x");
        }
    }

    #[test]
    fn only_what_moved_whole_has_a_counterpart() {
        let mut provenance = Provenance::recording();
        provenance.moved(|| ((spec() / "components").index(0), (spec() / "services").key("otter")));
        provenance.made(|| ((spec() / "components").index(0) / "experimental", (spec() / "services").key("otter")));
        // This step counts no more.
        provenance.moved(|| (spec() / "a", spec() / "b"));
        provenance.made(|| (spec() / "a", spec() / "c"));
        let there = |path: FieldPath| provenance.counterpart(path.segments()).map(|segments| shown(&segments));
        let reversed = provenance.reversed();
        let back = |path: FieldPath| reversed.counterpart(path.segments()).map(|segments| shown(&segments));
        let origin = |path: FieldPath| reversed.origin(path.segments()).map(|segments| shown(&segments));
        // The same is found in all steps and in those that are in order.
        for _ in 0..2 * FEW_LOOKUPS {
            assert_eq!(there((spec() / "components").index(0) / "x").as_deref(), Some("spec.services.otter.x"));
            assert_eq!(there((spec() / "components").index(0) / "experimental" / "x"), None);
            assert_eq!(there(spec() / "x").as_deref(), Some("spec.x"));
            assert_eq!(back((spec() / "services").key("otter") / "x").as_deref(), Some("spec.components[0].x"));
            assert_eq!(back((spec() / "services").key("otter") / "experimental"), None);
            assert_eq!(back(spec() / "x").as_deref(), Some("spec.x"));
            assert_eq!((back(spec() / "b"), origin(spec() / "b")), (None, None));
            assert_eq!(
                (back(spec() / "c").as_deref(), origin(spec() / "c").as_deref()),
                (Some("spec.c"), Some("spec.a"))
            );
        }
    }

    fn shown(segments: &[Segment]) -> String {
        FieldPath::root().join(segments).to_string()
    }

    #[test]
    fn a_silent_provenance_builds_no_paths() {
        let mut provenance = Provenance::silent();
        provenance.moved(|| unreachable!("no path is asked for"));
        assert_eq!(provenance.trace(&spec()), spec());
    }
}
