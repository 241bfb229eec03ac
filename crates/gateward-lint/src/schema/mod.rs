//! The structural schema of a CRD: what the API server checks before it calls webhooks.
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
mod differences;
mod error;
mod finding;
mod format;
mod guard;
mod help;
mod lists;
mod metadata;
mod naming;
mod node;
mod pattern;
mod validate;
mod values;
mod walk;

pub use cel::{CelRule, WriteKind};
pub use crd::{StatusWrites, VersionSchema, from_crd, read_crd};
pub use differences::SchemaDifference;
pub use error::SchemaError;
pub use finding::{SchemaFault, SchemaFinding};
pub use help::nearest_name;
pub use naming::malformed_metadata;

use defaults::Nulls;
use node::{MAX_DEPTH, SchemaNode, Unknown};
use serde_json::Value;

/// A structural schema, compiled once.
#[derive(Debug, Clone)]
pub struct Schema {
    root: SchemaNode,
}

impl Schema {
    /// Compiles an `openAPIV3Schema`.
    pub fn compile(schema: &Value) -> Result<Self, SchemaError> {
        Ok(Self { root: compile::root(schema)? })
    }

    /// The schema of any object.
    pub fn anything() -> Self {
        Self { root: SchemaNode { unknown: Unknown::Preserved, ..SchemaNode::default() } }
    }

    /// Takes out nulls where the schema allows none: they count as absent. Those in lists stay.
    pub fn drop_nulls(&self, object: &mut Value) {
        defaults::drop_nulls(&self.root, object, Nulls::All, MAX_DEPTH);
    }

    /// Fills in the defaults of the schema, as the API server does before anything else. A null counts as absent where
    /// the schema allows none, but not as an item of a list.
    pub fn apply_defaults(&self, object: &mut Value) {
        defaults::drop_nulls(&self.root, object, Nulls::WithoutDefault, MAX_DEPTH);
        defaults::apply(&self.root, object, MAX_DEPTH);
    }

    /// The errors that the API server would return for an object that has its defaults, in the order of its members.
    ///
    /// A node of the wrong type has one finding, whatever else the API server adds to it. Where alternatives (`anyOf`
    /// and the like) fail, the finding has the path of the node that has them; the API server names no field.
    pub fn validate(&self, object: &Value) -> Vec<SchemaFinding> {
        validate::object(&self.root, object)
    }

    /// The errors that the API server would return for an update, with ratcheting: an unchanged node that violates the
    /// schema is accepted. A node has a counterpart where members lead to it, and keys where it is an item of a list.
    pub fn validate_update(&self, old: &Value, new: &Value) -> Vec<SchemaFinding> {
        validate::update(&self.root, old, new)
    }

    /// The CEL rules that the object may break, transition rules on updates only. They are not evaluated; those that are
    /// known to hold, mostly because the field that they guard is absent, are left out.
    pub fn cel_rules_on(&self, object: &Value, write: WriteKind) -> Vec<CelRule> {
        cel::rules_on(&self.root, object, write)
    }
}
