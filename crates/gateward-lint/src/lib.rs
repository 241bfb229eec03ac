//! YAML with spans, structural schemas and diagnostics.
//!
//! The parts know no kind of object by name, and touch neither files nor sockets.

pub mod diagnostic;
mod go_base64;
pub mod schema;
pub mod yaml;
