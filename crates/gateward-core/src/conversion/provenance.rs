//! How the paths of a lifted object find their way back to the user's own.

use std::collections::HashMap;

use crate::field::{FieldPath, Segment};

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

/// Where each node of a lifted object came from.
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
        let (node, segments) = (plain(hub), hub.segments());
        let step_from = |length: usize| Some(steps.get(node.get(..length)?)?.back(segments.get(length..)?));
        (0..=segments.len()).rev().find_map(step_from).unwrap_or_else(|| hub.clone())
    }

    fn push(&mut self, paths: impl FnOnce() -> (FieldPath, FieldPath), reach: Reach) {
        if let Some(steps) = &mut self.0 {
            let (hub, written) = paths();
            steps.insert(plain(&hub), Step { written, reach });
        }
    }
}

/// The steps of a path, with keys as fields: JSON knows no difference.
fn plain(path: &FieldPath) -> Vec<Segment> {
    let plain = |segment: &Segment| match segment {
        Segment::Key(name) => Segment::Field(name.clone()),
        other => other.clone(),
    };
    path.segments().iter().map(plain).collect()
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
    fn many_paths_are_traced_through_many_steps_in_time() {
        let mut provenance = Provenance::recording();
        for index in 0..50_000 {
            provenance.moved(|| ((spec() / "a").index(index), (spec() / "b").index(index)));
        }
        let start = std::time::Instant::now();
        for index in 0..50_000 {
            assert_eq!(provenance.trace(&((spec() / "a").index(index) / "x")), (spec() / "b").index(index) / "x");
        }
        // Generous even for a debug build on a busy machine; a look at every step for each path takes minutes.
        assert!(start.elapsed() < std::time::Duration::from_secs(20), "{:?}", start.elapsed());
    }

    #[test]
    fn a_silent_provenance_builds_no_paths() {
        let mut provenance = Provenance::silent();
        provenance.moved(|| unreachable!("no path is asked for"));
        assert_eq!(provenance.trace(&spec()), spec());
    }
}
