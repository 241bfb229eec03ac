//! What conversion asks of a kind's structural schemas.

use serde_json::Value;

use crate::rule::field::FieldPath;

/// How much of a schema must hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strictness {
    /// All of it.
    Whole,
    /// The values of all but the status; neither that members are there nor that items stand there once. What another
    /// operator's conversion kept may have been of an object that lacked them.
    Values,
}

/// The structural schemas of a kind, one a version.
///
/// Conversion asks them only about results that an annotation had a part in, so an implementation may compile them on
/// first use. Core has no schema checker of its own.
///
/// ```
/// use gateward_core::FieldPath;
/// use gateward_core::conversion::{Strictness, StructuralSchemas};
/// use serde_json::{Value, json};
///
/// fn replicas_is_a_number(_version: &str, object: &Value, _: Strictness) -> Vec<FieldPath> {
///     let replicas = &object["spec"]["replicas"];
///     if replicas.is_null() || replicas.is_u64() { Vec::new() } else { vec![FieldPath::field("spec") / "replicas"] }
/// }
///
/// let schemas: &dyn StructuralSchemas = &replicas_is_a_number;
/// assert_eq!(schemas.violations("v1", &json!({"spec": {"replicas": "x"}}), Strictness::Whole).len(), 1);
/// ```
pub trait StructuralSchemas: Send + Sync + 'static {
    /// The nodes of `object` that break the schema of its version. Neither a field that the schema doesn't know
    /// nor a null breaks it: the API server drops both.
    fn violations(&self, version: &str, object: &Value, strictness: Strictness) -> Vec<FieldPath>;
}

impl<F: Fn(&str, &Value, Strictness) -> Vec<FieldPath> + Send + Sync + 'static> StructuralSchemas for F {
    fn violations(&self, version: &str, object: &Value, strictness: Strictness) -> Vec<FieldPath> {
        self(version, object, strictness)
    }
}
