//! JSON below the types: reading with every fault in its place, structs inside structs, and patches.

pub use gateward_core::json::strict::StrictObjects;
pub use gateward_core::json::{decode, inline, patch};
