//! The state of a walk through an object: the current path and the findings so far.

use gateward_core::{FieldPath, Segment};

use super::finding::{SchemaFault, SchemaFinding};

/// How many findings are kept; a hostile object could have any number of them.
const MAX_FINDINGS: usize = 256;

/// The current path and the findings. A [`FieldPath`] is built for findings only.
#[derive(Default)]
pub(super) struct Walk {
    path: Vec<Segment>,
    findings: Vec<SchemaFinding>,
    state: UpdateState,
}

/// Whether an update changes the current node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum UpdateState {
    #[default]
    Changed,
    Unchanged,
}

impl Walk {
    /// Records a finding at the current path, unless an update leaves the node as it was.
    pub(super) fn add(&mut self, fault: SchemaFault) {
        // The API server prunes unknown fields before it stores an object, so they are never old.
        let tolerated = self.state == UpdateState::Unchanged && fault != SchemaFault::UnknownField;
        if !tolerated && self.findings.len() < MAX_FINDINGS {
            self.findings.push(SchemaFinding { path: self.path.iter().cloned().collect::<FieldPath>(), fault });
        }
    }

    /// Visits a child of the current node.
    pub(super) fn below(&mut self, step: Segment, visit: impl FnOnce(&mut Self)) {
        self.path.push(step);
        visit(self);
        self.path.pop();
    }

    /// Visits the current node as one that the update leaves unchanged.
    pub(super) fn unchanged(&mut self, visit: impl FnOnce(&mut Self)) {
        let state = std::mem::replace(&mut self.state, UpdateState::Unchanged);
        visit(self);
        self.state = state;
    }

    /// How deep the current node is nested.
    pub(super) fn depth(&self) -> usize {
        self.path.len()
    }

    pub(super) fn into_findings(self) -> Vec<SchemaFinding> {
        self.findings
    }
}
