//! A patch and its operations.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One operation of a patch. Paths are JSON pointers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum PatchOperation {
    /// Sets a member that isn't there, or inserts an item.
    Add {
        /// Where.
        path: String,
        /// What.
        value: Value,
    },
    /// Takes a member or an item away.
    Remove {
        /// Where.
        path: String,
    },
    /// Sets a member or an item that is there.
    Replace {
        /// Where.
        path: String,
        /// What.
        value: Value,
    },
}

impl PatchOperation {
    /// The JSON pointer of the node that changes.
    pub fn path(&self) -> &str {
        match self {
            Self::Add { path, .. } | Self::Remove { path } | Self::Replace { path, .. } => path,
        }
    }

    /// What the node becomes; `None` where it goes away.
    pub const fn value(&self) -> Option<&Value> {
        match self {
            Self::Add { value, .. } | Self::Replace { value, .. } => Some(value),
            Self::Remove { .. } => None,
        }
    }
}

/// A JSON Patch.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Patch(pub(super) Vec<PatchOperation>);

impl Patch {
    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many operations it has.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The operations, in order.
    pub fn operations(&self) -> &[PatchOperation] {
        &self.0
    }

    /// Reads the patch of an AdmissionReview's answer.
    pub fn from_base64(text: &str) -> Result<Self, PatchError> {
        use base64::Engine;
        let json =
            base64::engine::general_purpose::STANDARD.decode(text).map_err(|error| PatchError(error.to_string()))?;
        serde_json::from_slice(&json).map_err(|error| PatchError(error.to_string()))
    }

    /// This patch, and then another of the result.
    pub(crate) fn then(mut self, further: Self) -> Self {
        self.0.extend(further.0);
        self
    }

    pub(super) fn set(&mut self, path: String, value: &str, present: Presence) -> serde_json::Result<()> {
        let value = serde_json::from_str(value)?;
        self.0.push(match present {
            Presence::Present => PatchOperation::Replace { path, value },
            Presence::Missing => PatchOperation::Add { path, value },
        });
        Ok(())
    }
}

/// Text that is no JSON Patch in base64.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no JSON Patch: {0}")]
pub struct PatchError(String);

/// A patch that doesn't fit the document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the document has no node at {path:?}")]
pub struct ApplyError {
    /// The JSON pointer of the node that isn't there.
    pub path: String,
}

/// Whether the node is there already.
#[derive(Clone, Copy)]
pub(super) enum Presence {
    Present,
    Missing,
}
