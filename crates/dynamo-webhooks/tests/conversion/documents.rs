//! Objects in files.

use std::path::Path;

use gateward::schema::{Schema, from_crd};
use gateward::yaml;
use serde_json::Value;

use crate::kinds::{ADAPTER, COMPONENT, GRAPH, Kind, REQUEST};

pub const KINDS: [Kind; 4] = [GRAPH, COMPONENT, REQUEST, ADAPTER];

/// An object of a kind that converts.
pub struct Found {
    pub file: String,
    pub kind: &'static Kind,
    pub object: Value,
}

impl Found {
    pub fn version(&self) -> &str {
        self.object["apiVersion"].as_str().unwrap().rsplit('/').next().unwrap()
    }

    /// The version that it isn't of.
    pub fn other(&self) -> &'static str {
        if self.version() == "v1alpha1" { "v1beta1" } else { "v1alpha1" }
    }
}

/// All objects of our kinds in the YAML files of a folder and those below it, also where they are members of an example.
pub fn under(folder: &Path) -> Vec<Found> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(under(&path));
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            found.extend(of_file(&path));
        }
    }
    found
}

fn of_file(path: &Path) -> Vec<Found> {
    let source = yaml::read(std::fs::read(path).unwrap());
    let candidates = source.documents.iter().flat_map(|document| {
        let value = &document.value;
        [Some(value), value.get("object"), value.get("old")]
    });
    let file = path.file_name().unwrap().to_str().unwrap();
    candidates.flatten().filter_map(|object| found(file, object)).collect()
}

fn found(file: &str, object: &Value) -> Option<Found> {
    static OURS: [Kind; 4] = KINDS;
    let ours = matches!(object["apiVersion"].as_str(), Some("nvidia.com/v1alpha1" | "nvidia.com/v1beta1"));
    let kind = OURS.iter().find(|kind| ours && object["kind"] == kind.crd.kind)?;
    Some(Found { file: file.to_owned(), kind, object: object.clone() })
}

/// The schemas of the kinds, by kind and version.
pub struct Schemas(Vec<(&'static str, String, Schema)>);

impl Schemas {
    pub fn read() -> Self {
        let mut schemas = Vec::new();
        for kind in KINDS {
            let crd = &yaml::read(kind.crd.json).documents[0].value;
            for version in from_crd(crd).unwrap() {
                schemas.push((kind.crd.kind, version.version, version.schema));
            }
        }
        Self(schemas)
    }

    /// The schema of a version of a kind.
    pub fn of(&self, kind: &Kind, version: &str) -> Option<&Schema> {
        let mut schemas = self.0.iter().filter(|(known, _, _)| *known == kind.crd.kind);
        schemas.find(|(_, known, _)| known == version).map(|(_, _, schema)| schema)
    }

    /// The object with its defaults, if it is admitted.
    pub fn admitted(&self, found: &Found) -> Option<Value> {
        let schema = self.of(found.kind, found.version())?;
        let mut object = found.object.clone();
        schema.apply_defaults(&mut object);
        schema.validate(&object).is_empty().then_some(object)
    }
}
