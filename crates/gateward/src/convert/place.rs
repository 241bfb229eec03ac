//! Where an object stands, and what is told of it.

use std::fmt;

use gateward_core::{ConversionError, FieldPath, GroupVersionKind, Issues};
use gateward_lint::yaml::Document;
use serde_json::{Value, json};

use super::round_trip::{Change, Difference};
use crate::check::subject::{meta, shown_name_of};

/// Where an object stands.
#[derive(Debug, Clone)]
pub(crate) struct Place<'a> {
    file: &'a str,
    /// The first one is 1.
    document: usize,
    at: FieldPath,
    gvk: GroupVersionKind,
    namespace: String,
    name: String,
}

/// Something about a field of an object.
#[derive(Debug, Clone)]
pub(crate) struct Told {
    file: String,
    document: usize,
    line: usize,
    column: usize,
    gvk: GroupVersionKind,
    namespace: String,
    name: String,
    path: FieldPath,
    message: String,
}

impl<'a> Place<'a> {
    /// A document of which nothing else is known yet.
    pub(super) fn document(file: &'a str, document: usize) -> Self {
        let (at, gvk) = (FieldPath::root(), GroupVersionKind::default());
        Self { file, document, at, gvk, namespace: String::new(), name: String::new() }
    }

    /// An object of the document.
    pub(super) fn of(&self, document: &Document, at: &FieldPath, gvk: &GroupVersionKind) -> Self {
        let object = at.find(&document.value).unwrap_or(&Value::Null);
        let (namespace, name) = (meta(object, "namespace").to_owned(), shown_name_of(object).to_owned());
        Self { at: at.clone(), gvk: gvk.clone(), namespace, name, ..self.clone() }
    }

    /// Something about the field at `path`, which is shown at the nearest line that the author wrote.
    pub(super) fn tell(&self, document: &Document, path: &FieldPath, message: impl Into<String>) -> Told {
        let span = document.nearest(&self.at.join(path.segments())).underline;
        Told {
            file: self.file.to_owned(),
            document: self.document,
            line: span.line(),
            column: span.column(),
            gvk: self.gvk.clone(),
            namespace: self.namespace.clone(),
            name: self.name.clone(),
            path: path.clone(),
            message: message.into(),
        }
    }

    pub(super) fn notes(&self, document: &Document, issues: &Issues) -> Vec<Told> {
        issues.iter().map(|issue| self.tell(document, &issue.path, issue.detail())).collect()
    }

    pub(super) fn refusal(&self, document: &Document, error: &ConversionError) -> Told {
        self.tell(document, &error.path, error.message.clone())
    }

    pub(super) fn changes(&self, document: &Document, via: &str, differences: Vec<Difference>) -> Vec<Change> {
        let change = |difference: Difference| {
            let told = self.tell(document, difference.path(), difference.said(via));
            Change { told, via: via.to_owned(), difference }
        };
        differences.into_iter().map(change).collect()
    }
}

impl Told {
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
impl fmt::Display for Told {
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
