//! The structural schemas of the operator's CRDs.

use std::sync::OnceLock;

use gateward_core::{ConversionError, Crd, FieldPath, GroupVersionKind};
use gateward_lint::schema::{self, VersionSchema};
use gateward_lint::yaml::SyntaxFinding;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::subject::may_be;

/// A CRD of the operator that can't be read; a fault of the operator, not of the user's file.
#[derive(Debug, Clone, thiserror::Error)]
#[error("a CRD of this program can't be read: {0}")]
pub struct CrdError(String);

impl From<CrdError> for ConversionError {
    fn from(error: CrdError) -> Self {
        Self { path: FieldPath::root(), message: error.to_string() }
    }
}

/// The schemas of all served versions of all CRDs of an operator. Each is compiled when the first object of its version
/// comes: most files are of one kind, and a schema takes milliseconds.
#[derive(Debug)]
pub struct Schemas(Vec<ServedVersion>);

#[derive(Debug)]
struct ServedVersion {
    gvk: GroupVersionKind,
    definition: Box<RawValue>,
    schema: OnceLock<Result<VersionSchema, CrdError>>,
}

impl Schemas {
    /// Reads the CRDs of an operator, their schemas apart.
    pub fn read(crds: &[Crd]) -> Result<Self, CrdError> {
        let mut served = Vec::new();
        for crd in crds {
            for definition in definitions(crd)? {
                served.extend(definition.served()?);
            }
        }
        Ok(Self(served))
    }

    /// Whether the kind is one of ours, in whatever version.
    pub(super) fn know(&self, gvk: &GroupVersionKind) -> bool {
        self.0.iter().any(|version| may_be(gvk, &version.gvk))
    }

    /// The versions of a kind with their group, as a choice.
    pub(super) fn api_versions(&self, kind: &str) -> String {
        let known = self.0.iter().map(|version| &version.gvk).filter(|known| known.kind == kind);
        let versions: Vec<String> = known.map(|known| format!("apiVersion: {}", known.api_version())).collect();
        if versions.is_empty() { "group and version of the kind".to_owned() } else { versions.join(" or ") }
    }

    /// The other versions of the kind.
    pub(super) fn others(&self, gvk: &GroupVersionKind) -> Result<Vec<(&GroupVersionKind, &VersionSchema)>, CrdError> {
        let others = self.0.iter().filter(|version| version.gvk.same_kind(gvk) && version.gvk != *gvk);
        others.map(|version| Ok((&version.gvk, version.schema()?))).collect()
    }

    pub(crate) fn of(&self, gvk: &GroupVersionKind) -> Result<Option<&VersionSchema>, CrdError> {
        self.0.iter().find(|version| version.gvk == *gvk).map(ServedVersion::schema).transpose()
    }
}

impl ServedVersion {
    fn schema(&self) -> Result<&VersionSchema, CrdError> {
        let compile = || {
            let definition = read(self.definition.get())?;
            VersionSchema::read(&definition).map_err(|error| CrdError(error.to_string()))
        };
        self.schema.get_or_init(compile).as_ref().map_err(Clone::clone)
    }
}

/// What a CRD says of its kind, with versions whose schemas are not read yet.
#[derive(Deserialize)]
struct Definition {
    spec: Spec,
}

#[derive(Deserialize)]
struct Spec {
    group: String,
    names: Names,
    versions: Vec<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Names {
    kind: String,
}

#[derive(Deserialize)]
struct Version {
    name: String,
    #[serde(default)]
    served: bool,
}

impl Definition {
    fn served(self) -> Result<Vec<ServedVersion>, CrdError> {
        let Spec { group, names, versions } = self.spec;
        let mut served = Vec::with_capacity(versions.len());
        for definition in versions {
            let version: Version = read(definition.get())?;
            let gvk = GroupVersionKind { group: group.clone(), version: version.name, kind: names.kind.clone() };
            served.extend(version.served.then(|| ServedVersion { gvk, definition, schema: OnceLock::new() }));
        }
        Ok(served)
    }
}

fn definitions(crd: &Crd) -> Result<Vec<Definition>, CrdError> {
    if let Some(definition) = crd.json() {
        return Ok(vec![definition]);
    }
    let wrong = |finding: SyntaxFinding| CrdError(format!("line {}: {}", finding.span.line(), finding.message));
    let documents = schema::read_crd(crd).map_err(wrong)?;
    documents.iter().map(|document| read(&document.to_string())).collect()
}

fn read<'j, T: Deserialize<'j>>(json: &'j str) -> Result<T, CrdError> {
    serde_json::from_str(json).map_err(|error| CrdError(error.to_string()))
}
