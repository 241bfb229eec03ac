//! Objects without the annotations in which conversion keeps what a version lacks.

use gateward_core::{FieldPath, Ordered};

/// What becomes of the annotations in which conversion keeps something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Annotations {
    /// They stay where something would be lost without them.
    Kept,
    /// They are left out, and it is said what is lost with them.
    LeftOut,
}

/// An object without its annotations of conversion.
pub(super) struct Bare {
    pub object: Ordered,
    /// `None` where they kept nothing that matters.
    pub lost: Option<Lost>,
}

/// What an object of version `of` has no more.
pub(super) struct Lost {
    pub of: String,
    pub fields: Vec<FieldPath>,
}
