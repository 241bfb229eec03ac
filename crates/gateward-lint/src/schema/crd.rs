//! The schemas of a CRD's versions.

use serde_json::Value;

use super::{Schema, SchemaError};

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
}

/// How the status of objects is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatusWrites {
    /// Like every other member.
    WithTheObject,
    /// By an endpoint of its own: what a write of the object says of it is dropped, and never judged.
    Apart,
}

/// The schemas of all versions of a `CustomResourceDefinition`.
pub fn from_crd(crd: &Value) -> Result<Vec<VersionSchema>, SchemaError> {
    let versions = crd
        .pointer("/spec/versions")
        .and_then(Value::as_array)
        .ok_or_else(|| SchemaError { path: "/spec/versions".into(), message: "a CRD has a list of versions".into() })?;
    versions.iter().map(version).collect()
}

fn version(version: &Value) -> Result<VersionSchema, SchemaError> {
    let name = version.get("name").and_then(Value::as_str).unwrap_or_default();
    let open = Value::Object(serde_json::Map::new());
    let schema = version.pointer("/schema/openAPIV3Schema").unwrap_or(&open);
    let schema =
        Schema::compile(schema).map_err(|error| SchemaError { path: format!("{name}{}", error.path), ..error })?;
    let status = version.pointer("/subresources/status");
    Ok(VersionSchema {
        version: name.to_owned(),
        served: version.get("served") == Some(&Value::Bool(true)),
        schema,
        status: if status.is_some() { StatusWrites::Apart } else { StatusWrites::WithTheObject },
    })
}
