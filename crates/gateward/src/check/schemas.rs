//! The structural schemas of the product's CRDs.

use gateward_core::GroupVersionKind;
use gateward_lint::schema::{self, Schema};
use gateward_lint::yaml;

/// A CRD of the product that can't be read; a fault of the product, not of the user's file.
#[derive(Debug, thiserror::Error)]
#[error("a CRD of this program can't be read: {0}")]
pub struct CrdError(String);

/// The schemas of all versions of all CRDs.
pub(super) struct Schemas(Vec<(GroupVersionKind, Schema)>);

impl Schemas {
    pub(super) fn read(crds: &[&str]) -> Result<Self, CrdError> {
        let mut schemas = Vec::new();
        for document in crds.iter().flat_map(|text| yaml::read(text).documents) {
            let (group, kind) = (text(&document.value, "/spec/group"), text(&document.value, "/spec/names/kind"));
            let versions = schema::from_crd(&document.value).map_err(|error| CrdError(error.to_string()))?;
            schemas.extend(versions.into_iter().filter(|version| version.served).map(|version| {
                let gvk = GroupVersionKind { group: group.clone(), version: version.version, kind: kind.clone() };
                (gvk, version.schema)
            }));
        }
        Ok(Self(schemas))
    }

    /// Whether the kind is one of ours, in whatever version.
    pub(super) fn knows(&self, gvk: &GroupVersionKind) -> bool {
        self.0.iter().any(|(known, _)| known.same_kind(gvk))
    }

    pub(super) fn of(&self, gvk: &GroupVersionKind) -> Option<&Schema> {
        self.0.iter().find(|(known, _)| known == gvk).map(|(_, schema)| schema)
    }
}

fn text(value: &serde_json::Value, pointer: &str) -> String {
    value.pointer(pointer).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()
}
