//! Reviews, verdicts, field paths, patches and the registry of webhooks: the pure part of Gateward.
//!
//! Nothing here opens a socket or a file or looks at a clock.

pub mod decode;
pub mod field;
pub mod patch;
pub mod raw;
pub mod resource;

pub use field::{FieldPath, Segment};
pub use raw::Raw;
pub use resource::{GroupVersionKind, Resource, Scope};
