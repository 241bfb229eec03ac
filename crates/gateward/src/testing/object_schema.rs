//! What is worked out once of the schema of a version.

use gateward_lint::schema::Schema;
use serde_json::Value;

use super::node::Node;

/// The schema of a version, compiled.
#[derive(Debug)]
pub(super) struct ObjectSchema {
    pub node: Node,
    pub schema: Schema,
}

impl ObjectSchema {
    /// Whether the object is still one, whatever it holds that the schema doesn't know.
    pub fn admits(&self, object: &Value) -> bool {
        let mut known = object.clone();
        self.node.prune(&mut known);
        object["apiVersion"].is_string() && object["kind"].is_string() && self.schema.validate(&known).is_empty()
    }
}
