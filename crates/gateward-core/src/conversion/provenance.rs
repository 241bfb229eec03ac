//! How the paths of a converted object find their way back to the user's own.

use std::collections::HashMap;

use crate::rule::field::{FieldPath, Segment};

/// How far a step back reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// What lies below the node has the same steps on both sides.
    Subtree,
    /// What lies below the node has no counterpart of its own.
    Node,
}

/// The step back from a node of the hub.
#[derive(Debug, Clone)]
struct Step {
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
pub struct Provenance(Option<HashMap<Vec<Segment>, Step>>);

impl Provenance {
    /// Remembers every step.
    pub fn recording() -> Self {
        Self(Some(HashMap::new()))
    }

    /// Remembers nothing, for a lift whose findings are not known yet.
    pub const fn silent() -> Self {
        Self(None)
    }

    /// Whether steps are remembered; where they aren't, it is not worth finding many of them out.
    pub const fn is_recording(&self) -> bool {
        self.0.is_some()
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
        let Some(steps) = &self.0 else { return hub.clone() };
        let (node, segments) = (plain_segments(hub.segments()), hub.segments());
        let step_from = |length: usize| Some(steps.get(node.get(..length)?)?.back(segments.get(length..)?));
        (0..=segments.len()).rev().find_map(step_from).unwrap_or_else(|| hub.clone())
    }

    /// The node of the written object that is the node `hub` with all that lies below, if there is one.
    pub(crate) fn counterpart(&self, hub: &[Segment]) -> Option<Vec<Segment>> {
        let Some(steps) = &self.0 else { return Some(hub.to_vec()) };
        let node = plain_segments(hub);
        let step_from = |length: usize| Some((steps.get(node.get(..length)?)?, node.get(length..)?));
        match (0..=node.len()).rev().find_map(step_from) {
            Some((step, rest)) if step.reach == Reach::Subtree => {
                Some(plain_segments(step.written.segments()).into_iter().chain(rest.iter().cloned()).collect())
            }
            Some(_) => None,
            None => Some(node),
        }
    }

    /// The node of the written object that the node `hub` was made from, where that is known of this very node.
    pub(crate) fn made_from(&self, hub: &[Segment]) -> Option<Vec<Segment>> {
        let step = self.0.as_ref()?.get(&plain_segments(hub))?;
        Some(plain_segments(step.written.segments()))
    }

    /// The same from the side of the hub: where the nodes of the written object have gone.
    pub(crate) fn reversed(&self) -> Reversed<'_> {
        let mut hubs: HashMap<Vec<Segment>, Vec<&[Segment]>> = HashMap::new();
        let mut made: HashMap<Vec<Segment>, &[Segment]> = HashMap::new();
        for (hub, step) in self.0.iter().flatten().filter(|(_, step)| step.reach == Reach::Node) {
            let first = made.entry(plain_segments(step.written.segments())).or_insert(hub);
            *first = (*first).min(hub);
        }
        for (hub, step) in self.0.iter().flatten().filter(|(_, step)| step.reach == Reach::Subtree) {
            hubs.entry(plain_segments(step.written.segments())).or_default().push(hub);
        }
        // The order of a map is another in each run.
        for hubs in hubs.values_mut() {
            hubs.sort_unstable();
        }
        Reversed { provenance: self, hubs, made }
    }

    fn push(&mut self, paths: impl FnOnce() -> (FieldPath, FieldPath), reach: Reach) {
        if let Some(steps) = &mut self.0 {
            let (hub, written) = paths();
            steps.insert(plain_segments(hub.segments()), Step { written, reach });
        }
    }
}

/// The way from the written object's nodes to the hub's.
pub(crate) struct Reversed<'a> {
    provenance: &'a Provenance,
    /// The hub's nodes by the written node that they are.
    hubs: HashMap<Vec<Segment>, Vec<&'a [Segment]>>,
    /// The first of the hub's nodes that were made from a written one.
    made: HashMap<Vec<Segment>, &'a [Segment]>,
}

impl Reversed<'_> {
    /// The node of the hub that is the node `written` with all that lies below, if there is one.
    pub fn counterpart(&self, written: &[Segment]) -> Option<Vec<Segment>> {
        let written = plain_segments(written);
        let is_it = |hub: &Vec<Segment>| self.provenance.counterpart(hub).as_ref() == Some(&written);
        let mut moved = self.moved(&written).peekable();
        let stayed = moved.peek().is_none().then(|| written.clone());
        moved.chain(stayed).find(is_it)
    }

    /// The same, or the first node of the hub that was made from this very node, before one that moved with its parent.
    pub fn origin(&self, written: &[Segment]) -> Option<Vec<Segment>> {
        let written = plain_segments(written);
        let is_it = |hub: &Vec<Segment>| self.provenance.counterpart(hub).as_ref() == Some(&written);
        let itself = || self.hubs.get(&written)?.iter().map(|hub| hub.to_vec()).find(is_it);
        let made = || self.made.get(&written).map(|hub| hub.to_vec());
        itself().or_else(made).or_else(|| self.moved(&written).find(is_it)).or_else(|| self.counterpart(&written))
    }

    fn moved(&self, written: &[Segment]) -> impl Iterator<Item = Vec<Segment>> {
        (0..=written.len()).rev().flat_map(move |length| {
            let (node, rest) = written.split_at(length);
            let hubs = self.hubs.get(node).into_iter().flatten();
            hubs.map(move |hub| hub.iter().chain(rest).cloned().collect::<Vec<_>>())
        })
    }
}

/// The steps of a path, with keys as fields: JSON knows no difference.
pub(crate) fn plain_segments(segments: &[Segment]) -> Vec<Segment> {
    let plain = |segment: &Segment| match segment {
        Segment::Key(name) => Segment::Field(name.clone()),
        other => other.clone(),
    };
    segments.iter().map(plain).collect()
}

impl Step {
    fn back(&self, rest: &[Segment]) -> FieldPath {
        match self.reach {
            Reach::Subtree => self.written.join(rest),
            Reach::Node => self.written.clone(),
        }
    }
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
        let there = |path: FieldPath| provenance.counterpart(path.segments()).map(|segments| shown(&segments));
        assert_eq!(there((spec() / "components").index(0) / "x").as_deref(), Some("spec.services.otter.x"));
        assert_eq!(there((spec() / "components").index(0) / "experimental" / "x"), None);
        assert_eq!(there(spec() / "x").as_deref(), Some("spec.x"));
        let reversed = provenance.reversed();
        let back = |path: FieldPath| reversed.counterpart(path.segments()).map(|segments| shown(&segments));
        assert_eq!(back((spec() / "services").key("otter") / "x").as_deref(), Some("spec.components[0].x"));
        assert_eq!(back((spec() / "services").key("otter") / "experimental"), None);
        assert_eq!(back(spec() / "x").as_deref(), Some("spec.x"));
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
