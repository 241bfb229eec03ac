//! The objects that are stored already.

use std::collections::HashMap;

use gateward_lint::yaml;
use serde_json::Value;

use super::subject::{Subject, gvk_of, meta, objects};

/// A text of stored objects that can't be read.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct StoredError {
    /// The line; the first is 1.
    pub line: usize,
    /// What is wrong there.
    pub message: String,
}

/// Group, kind and name.
type Identity = (String, String, String);

/// The objects, by what identifies them.
#[derive(Debug, Default)]
pub(super) struct Stored(HashMap<Identity, Vec<Value>>);

impl Stored {
    pub(super) fn read(text: &[u8]) -> Result<Self, StoredError> {
        let source = yaml::read(text);
        if let Some(finding) = source.findings.first() {
            return Err(StoredError { line: finding.span.line(), message: finding.message.clone() });
        }
        let mut stored = Self::default();
        for object in source.documents.iter().flat_map(|document| objects(&document.value).map(|(_, object)| object)) {
            let gvk = gvk_of(object);
            let identity = (gvk.group, gvk.kind, meta(object, "name").to_owned());
            stored.0.entry(identity).or_default().push(object.clone());
        }
        Ok(stored)
    }

    /// All of them.
    pub(super) fn all(&self) -> impl Iterator<Item = &Value> {
        self.0.values().flatten()
    }

    /// The stored state of an object. One without a namespace may be in any: the namespace comes from the context of
    /// the user who applies the manifest.
    pub(super) fn state_of(&self, subject: &Subject<'_>) -> Option<&Value> {
        let (gvk, name) = (&subject.gvk, subject.name());
        let named = self.0.get(&(gvk.group.clone(), gvk.kind.clone(), name.to_owned())).filter(|_| !name.is_empty())?;
        let in_same_namespace = named.iter().find(|old| meta(old, "namespace") == subject.namespace());
        let in_any = || match named.as_slice() {
            [only] if subject.namespace().is_empty() || meta(only, "namespace").is_empty() => Some(only),
            _ => None,
        };
        in_same_namespace.or_else(in_any)
    }
}
