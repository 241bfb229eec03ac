//! Hub and spokes: how an object of one version is read as another, and how paths find their way back.

use crate::field::FieldPath;

/// Reads a spoke's object as the hub's version.
///
/// The conversion is a unit struct of the operator's own, because neither type may be its own.
#[diagnostic::on_unimplemented(
    message = "`{Self}` doesn't convert `{Spoke}` to `{Hub}`",
    label = "no conversion between these versions",
    note = "implement `Convert<{Spoke}, {Hub}> for {Self}`"
)]
pub trait Convert<Spoke, Hub>: Send + Sync + 'static {
    /// Reads `spoke` as the hub's version and tells `provenance` where each node came from.
    fn lift(&self, spoke: &Spoke, provenance: &mut Provenance) -> Result<Hub, LiftError>;
}

/// An object that can't be read as the hub's version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {message}")]
pub struct LiftError {
    /// The field that stands in the way, in the version of the spoke.
    pub path: FieldPath,
    /// Why.
    pub message: String,
}

/// How far a step back reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// What lies below the node has the same steps on both sides.
    Subtree,
    /// What lies below the node has no counterpart of its own.
    Node,
}

#[derive(Debug, Clone)]
struct Step {
    hub: FieldPath,
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
pub struct Provenance(Option<Vec<Step>>);

impl Provenance {
    /// Remembers every step.
    pub const fn recording() -> Self {
        Self(Some(Vec::new()))
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
        let mut best: Option<(usize, FieldPath)> = None;
        for step in self.0.iter().flatten() {
            let Some(rest) = hub.strip_prefix(&step.hub) else { continue };
            let length = step.hub.segments().len();
            if best.as_ref().is_some_and(|(longest, _)| *longest > length) {
                continue;
            }
            best = Some((length, step.back(rest)));
        }
        best.map_or_else(|| hub.clone(), |(_, written)| written)
    }

    fn push(&mut self, paths: impl FnOnce() -> (FieldPath, FieldPath), reach: Reach) {
        if let Some(steps) = &mut self.0 {
            let (hub, written) = paths();
            steps.push(Step { hub, written, reach });
        }
    }
}

impl Step {
    fn back(&self, rest: &[crate::field::Segment]) -> FieldPath {
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
    fn a_silent_provenance_builds_no_paths() {
        let mut provenance = Provenance::silent();
        provenance.moved(|| unreachable!("no path is asked for"));
        assert_eq!(provenance.trace(&spec()), spec());
    }
}
