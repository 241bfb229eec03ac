//! The state of a walk through an object: the current path and the findings so far.

use gateward_core::{FieldPath, Segment};

use super::finding::{SchemaFault, SchemaFinding};

/// How many findings of a sort are kept; a hostile object could have any number of them. Those of one sort, which a reader
/// may not mind, hide none of another.
const MAX_FINDINGS: usize = 256;

/// Sorts of faults: fields that the API server drops, fields that are missing, items that are there twice, and values.
const SORTS: usize = 4;

/// The current path and the findings. A [`FieldPath`] is built for findings only.
#[derive(Default)]
pub(super) struct Walk {
    path: Vec<Segment>,
    findings: Vec<SchemaFinding>,
    kept: [usize; SORTS],
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
        let sort = match fault {
            SchemaFault::UnknownField => 0,
            SchemaFault::Required => 1,
            SchemaFault::Duplicate { .. } => 2,
            _ => 3,
        };
        if !tolerated && self.kept[sort] < MAX_FINDINGS {
            self.kept[sort] += 1;
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
