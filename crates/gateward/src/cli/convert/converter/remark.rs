//! What is said of a field of an object.

use std::fmt;

use gateward_core::{FieldPath, GroupVersionKind};
use serde_json::{Value, json};

/// Something about a field of an object.
#[derive(Debug, Clone)]
pub(crate) struct Remark {
    pub(super) file: String,
    pub(super) document: usize,
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) gvk: GroupVersionKind,
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) path: FieldPath,
    pub(super) message: String,
}

impl Remark {
    /// The same for scripts.
    pub(crate) fn json(&self) -> Value {
        json!({
            "file": self.file,
            "line": self.line,
            "column": self.column,
            "document": self.document,
            "apiVersion": self.gvk.api_version(),
            "kind": self.gvk.kind,
            "namespace": self.namespace,
            "name": self.name,
            "path": self.path.to_string(),
            "message": self.message,
        })
    }
}

/// One line, in the form that editors can jump to.
impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, document, line, column, gvk, namespace, name, path, message } = self;
        write!(f, "{file}:{line}:{column}: document {document}: ")?;
        let kind = if gvk.kind.is_empty() { "object" } else { &gvk.kind };
        match (namespace.as_str(), name.as_str()) {
            ("", "") => write!(f, "{kind}: ")?,
            ("", name) => write!(f, "{kind} {name}: ")?,
            (namespace, name) => write!(f, "{kind} {namespace}/{name}: ")?,
        }
        if !path.is_root() {
            write!(f, "{path}: ")?;
        }
        f.write_str(message)
    }
}
