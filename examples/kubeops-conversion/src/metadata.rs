//! Metadata, as far as a conversion edits it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The annotations. Whatever else stands in an object's metadata passes by untouched.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Metadata {
    /// The annotations, in which a conversion keeps what the object's version can't say.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}
