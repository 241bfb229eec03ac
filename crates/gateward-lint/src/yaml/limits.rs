//! How much of a text is read.

/// The longest text that is read.
pub const MAX_BYTES: usize = 32 << 20;

/// How deep a document may nest.
pub const MAX_DEPTH: usize = 256;

/// How many nodes a text may hold.
pub(super) const MAX_NODES: usize = 4_000_000;
