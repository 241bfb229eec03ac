//! Reading text that may be absent, but not null.

use serde::{Deserialize, Deserializer};

/// The text of a member that is there. Serde's own reading of an `Option` would take null for absent, and the schema
/// doesn't.
pub(crate) fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    String::deserialize(deserializer).map(Some)
}
