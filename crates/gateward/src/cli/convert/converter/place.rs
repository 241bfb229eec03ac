//! Where an object stands.

use gateward_core::{ConversionError, FieldPath, GroupVersionKind, Issues};
use gateward_lint::schema::SchemaDifference;
use gateward_lint::yaml::Document;
use serde_json::Value;

use super::annotations::Lost;
use super::remark::Remark;
use super::round_trip::{Change, said};
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
    pub(super) fn remark(&self, document: &Document, path: &FieldPath, message: impl Into<String>) -> Remark {
        let span = document.nearest(&self.at.join(path.segments())).underline;
        Remark {
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

    pub(super) fn notes(&self, document: &Document, issues: &Issues) -> Vec<Remark> {
        issues.iter().map(|issue| self.remark(document, &issue.path, issue.detail())).collect()
    }

    pub(super) fn refusal(&self, document: &Document, error: &ConversionError) -> Remark {
        self.remark(document, &error.path, error.message.clone())
    }

    /// What goes with the annotations of the object, field by field.
    pub(super) fn losses(&self, document: &Document, lost: &Lost) -> Vec<Remark> {
        let message = format!("lost: {} has it, and --clean leaves out the annotation that keeps it", lost.of);
        lost.fields.iter().map(|path| self.remark(document, path, message.clone())).collect()
    }

    /// The same as a line above the object.
    pub(super) fn head(&self, lost: &Lost) -> String {
        let fields: Vec<String> = lost.fields.iter().map(ToString::to_string).collect();
        let name = if self.at.is_root() { String::new() } else { format!("{} {}: ", self.gvk.kind, self.name) };
        format!("{name}lost in the conversion from {}: {}", lost.of, fields.join(", "))
    }

    pub(super) fn changes(&self, document: &Document, via: &str, differences: Vec<SchemaDifference>) -> Vec<Change> {
        let change = |difference: SchemaDifference| {
            let remark = self.remark(document, &difference.path, said(&difference, via));
            Change { remark, via: via.to_owned(), difference }
        };
        differences.into_iter().map(change).collect()
    }
}
