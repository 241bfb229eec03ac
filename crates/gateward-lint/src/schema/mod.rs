//! The structural schema of a CRD: what the API server checks of an object before any webhook is asked.
//!
//! Follows <https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema>.
//! CEL rules are listed, not evaluated.
//!
//! ```
//! use gateward_lint::schema::Schema;
//! use serde_json::json;
//!
//! let schema = Schema::compile(&json!({
//!     "type": "object",
//!     "properties": {"replicas": {"type": "integer", "minimum": 0}},
//! })).unwrap();
//! let findings = schema.validate(&json!({"replicas": -1}));
//! assert_eq!(
//!     findings[0].to_string(),
//!     "Invalid value: -1: replicas in body should be greater than or equal to 0",
//! );
//! ```

mod cel;
mod compile;
mod crd;
mod defaults;
mod finding;
mod format;
mod lists;
mod metadata;
mod node;
mod pattern;
mod validate;
mod values;

pub use cel::CelRule;
pub use crd::{VersionSchema, from_crd};
pub use finding::{SchemaFault, SchemaFinding};

use node::Node;
use serde_json::Value;

/// How deep schemas and objects may nest. Deeper nodes are not looked at; the API server's decoder stops far earlier.
const MAX_DEPTH: usize = 200;

/// A schema that can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {message}")]
pub struct SchemaError {
    /// The place in the schema.
    pub path: String,
    /// What is wrong there.
    pub message: String,
}

/// A structural schema, compiled once.
#[derive(Debug, Clone)]
pub struct Schema {
    root: Node,
}

impl Schema {
    /// Compiles an `openAPIV3Schema`.
    pub fn compile(schema: &Value) -> Result<Self, SchemaError> {
        Ok(Self { root: compile::root(schema)? })
    }

    /// Fills in the defaults of the schema, as the API server does before anything else. A null counts as absent where
    /// the schema allows none, but not as an item of a list.
    pub fn apply_defaults(&self, object: &mut Value) {
        defaults::drop_nulls(&self.root, object, MAX_DEPTH);
        defaults::apply(&self.root, object, MAX_DEPTH);
    }

    /// What the API server would refuse of an object that has its defaults, in the order of the object's members.
    ///
    /// A node of the wrong type has one finding, whatever else the API server adds to it. Where alternatives (`anyOf`
    /// and the like) fail, the finding stands at their node; the API server names no field there.
    pub fn validate(&self, object: &Value) -> Vec<SchemaFinding> {
        validate::object(&self.root, object)
    }

    /// The CEL rules that stand on nodes of this object. They are not evaluated.
    pub fn cel_rules_on(&self, object: &Value) -> Vec<CelRule> {
        cel::rules_on(&self.root, object)
    }
}
