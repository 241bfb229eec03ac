//! YAML with spans, structural schemas, diagnostics, and the judgement of OLM bundles.
//!
//! Only [`bundle`] knows kinds of objects by name. No part touches files or sockets.

pub mod bundle;
pub mod diagnostic;
mod go_base64;
pub mod schema;
pub mod yaml;
