//! The structural schemas of the operator's CRDs.

use gateward_core::{Crd, GroupVersionKind};
use gateward_lint::schema::{self, VersionSchema};
use gateward_lint::yaml::SyntaxFinding;
use serde_json::Value;

use super::subject::may_be;

/// A CRD of the operator that can't be read; a fault of the operator, not of the user's file.
#[derive(Debug, thiserror::Error)]
#[error("a CRD of this program can't be read: {0}")]
pub struct CrdError(String);

/// The schemas of all served versions of all CRDs of an operator.
#[derive(Debug)]
pub struct Schemas(Vec<(GroupVersionKind, VersionSchema)>);

impl Schemas {
    /// Reads the CRDs of an operator.
    pub fn read(crds: &[Crd]) -> Result<Self, CrdError> {
        let mut schemas = Vec::new();
        for crd in crds {
            let wrong = |finding: SyntaxFinding| CrdError(format!("line {}: {}", finding.span.line(), finding.message));
            for document in schema::read_crd(crd).map_err(wrong)? {
                schemas.extend(served(&document)?);
            }
        }
        Ok(Self(schemas))
    }

    /// Whether the kind is one of ours, in whatever version.
    pub(super) fn know(&self, gvk: &GroupVersionKind) -> bool {
        self.0.iter().any(|(known, _)| may_be(gvk, known))
    }

    /// The versions of a kind with their group, as a choice.
    pub(super) fn api_versions(&self, kind: &str) -> String {
        let known = self.0.iter().filter(|(known, _)| known.kind == kind);
        let versions: Vec<String> = known.map(|(known, _)| format!("apiVersion: {}", known.api_version())).collect();
        if versions.is_empty() { "group and version of the kind".to_owned() } else { versions.join(" or ") }
    }

    /// The other versions of the kind.
    pub(super) fn others(&self, gvk: &GroupVersionKind) -> impl Iterator<Item = &(GroupVersionKind, VersionSchema)> {
        self.0.iter().filter(move |(known, _)| known.same_kind(gvk) && known != gvk)
    }

    pub(crate) fn of(&self, gvk: &GroupVersionKind) -> Option<&VersionSchema> {
        self.0.iter().find(|(known, _)| known == gvk).map(|(_, schema)| schema)
    }
}

fn served(crd: &Value) -> Result<impl Iterator<Item = (GroupVersionKind, VersionSchema)>, CrdError> {
    let (group, kind) = (text(crd, "/spec/group"), text(crd, "/spec/names/kind"));
    let versions = schema::from_crd(crd).map_err(|error| CrdError(error.to_string()))?;
    let served = versions.into_iter().filter(|version| version.served);
    Ok(served.map(move |version| {
        let gvk = GroupVersionKind { group: group.clone(), version: version.version.clone(), kind: kind.clone() };
        (gvk, version)
    }))
}

fn text(value: &Value, pointer: &str) -> String {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
}
