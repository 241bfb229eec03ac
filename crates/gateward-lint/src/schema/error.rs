//! Why a schema can't be compiled.

/// A schema that can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {message}")]
pub struct SchemaError {
    /// The place in the schema.
    pub path: String,
    /// What is wrong there.
    pub message: String,
}
