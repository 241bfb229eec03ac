//! A manifest as it is printed or written.

use gateward_core::Ordered;
use gateward_core::manifest::yaml;
use serde_json::Value;

/// A Kubernetes object, or what describes one, and its text.
pub(crate) struct Manifest {
    object: Ordered,
    yaml: String,
}

impl Manifest {
    /// An object whose YAML is made here.
    pub(crate) fn of(object: &Value) -> Self {
        Self::in_order(Ordered::from(object))
    }

    /// The same of an object whose members have an order.
    pub(crate) fn in_order(object: Ordered) -> Self {
        Self { yaml: yaml::document_in_order(&object), object }
    }

    /// An object whose YAML says more than its members.
    pub(crate) fn with_yaml(object: Ordered, yaml: String) -> Self {
        Self { object, yaml }
    }

    pub(crate) fn object(&self) -> &Ordered {
        &self.object
    }

    pub(crate) fn yaml(&self) -> &str {
        &self.yaml
    }

    /// On one line.
    pub(crate) fn json(&self) -> String {
        format!("{}\n", self.object)
    }

    /// On as many lines as its members need.
    pub(crate) fn indented_json(&self) -> serde_json::Result<String> {
        Ok(serde_json::to_string_pretty(&self.object)? + "\n")
    }

    /// The text at a path of members.
    pub(crate) fn text(&self, path: &[&str]) -> &str {
        let found = path.iter().try_fold(&self.object, |object, member| object.member(member));
        match found {
            Some(Ordered::Scalar(Value::String(text))) => text,
            _ => "",
        }
    }
}
