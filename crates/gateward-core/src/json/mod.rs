//! JSON from outside: read within bounds, compared, patched, and kept as it came.

pub mod decode;
pub mod inline;
pub(crate) mod meaning;
pub(crate) mod members;
pub(crate) mod nullable;
pub mod ordered;
pub mod patch;
pub mod raw;
pub(crate) mod reading;
pub(crate) mod shallow;
pub mod strict;
pub(crate) mod total_length;
