//! The schemas of a CRD's versions.

use gateward_core::{Crd, FieldPath, Segment};
use serde_json::Value;

use super::Schema;
use super::error::SchemaError;
use super::finding::{SchemaFault, SchemaFinding};
use crate::yaml::{self, SyntaxFinding};

/// One version of a CRD.
#[derive(Debug, Clone)]
pub struct VersionSchema {
    /// The version's name.
    pub version: String,
    /// Whether clients can use it.
    pub served: bool,
    /// Its schema.
    pub schema: Schema,
    /// How the status of its objects is written.
    pub status: StatusWrites,
    /// The number of replicas, where objects can be scaled.
    pub replicas: Option<FieldPath>,
}

impl VersionSchema {
    /// Reads an item of the `spec.versions` of a `CustomResourceDefinition`.
    pub fn read(version: &Value) -> Result<Self, SchemaError> {
        let name = version.get("name").and_then(Value::as_str).unwrap_or_default();
        let open = Value::Object(serde_json::Map::new());
        let schema = version.pointer("/schema/openAPIV3Schema").unwrap_or(&open);
        let schema =
            Schema::compile(schema).map_err(|error| SchemaError { path: format!("{name}{}", error.path), ..error })?;
        let status = version.pointer("/subresources/status");
        Ok(Self {
            version: name.to_owned(),
            served: version.get("served") == Some(&Value::Bool(true)),
            schema,
            status: if status.is_some() { StatusWrites::Apart } else { StatusWrites::WithTheObject },
            replicas: version.pointer("/subresources/scale/specReplicasPath").and_then(Value::as_str).and_then(members),
        })
    }

    /// The finding for a number of replicas that the `scale` subresource can't represent: it is a 32-bit integer there,
    /// whatever the schema allows.
    pub fn unscalable(&self, object: &Value) -> Option<SchemaFinding> {
        let path = self.replicas.as_ref()?;
        let value = path.find(object)?;
        let why = match value.as_i64()? {
            ..0 => "should be a non-negative integer",
            number if number > i64::from(i32::MAX) => "should be less than or equal to 2147483647",
            _ => return None,
        };
        Some(SchemaFinding {
            path: path.clone(),
            fault: SchemaFault::Malformed { value: value.clone(), why: why.into() },
        })
    }
}

/// How the status of objects is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatusWrites {
    /// Like every other member.
    WithTheObject,
    /// By the `status` subresource. A write of the object drops its status, so it isn't validated.
    Apart,
}

/// The documents of a CRD's text, or what is wrong with it.
///
/// ```
/// use gateward_core::Crd;
/// use gateward_lint::schema::read_crd;
///
/// let read = |text: &'static str| read_crd(&Crd::from(text)).map_err(|finding| finding.message);
/// assert_eq!(read(r#"{"kind": "CustomResourceDefinition"}"#), read("kind: CustomResourceDefinition"));
/// assert!(read("kind: [").is_err());
/// ```
pub fn read_crd(crd: &Crd) -> Result<Vec<Value>, SyntaxFinding> {
    if let Some(definition) = crd.json() {
        return Ok(vec![definition]);
    }
    let source = yaml::read(&*crd.yaml());
    let documents = source.documents.into_iter().map(|document| document.value).collect();
    source.findings.into_iter().next().map_or(Ok(documents), Err)
}

/// The schemas of all versions of a `CustomResourceDefinition`.
pub fn from_crd(crd: &Value) -> Result<Vec<VersionSchema>, SchemaError> {
    let versions = crd
        .pointer("/spec/versions")
        .and_then(Value::as_array)
        .ok_or_else(|| SchemaError { path: "/spec/versions".into(), message: "a CRD has a list of versions".into() })?;
    versions.iter().map(VersionSchema::read).collect()
}

/// Parses a path like `.spec.replicas`; the API server accepts no array notation here.
fn members(path: &str) -> Option<FieldPath> {
    let mut names = path.strip_prefix('.')?.split('.');
    let first = FieldPath::field(names.next()?.to_owned());
    Some(names.fold(first, |path, name| path.child(Segment::Field(name.to_owned().into()))))
}
