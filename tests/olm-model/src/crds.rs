//! What OLM asks before it replaces a CRD.

use std::fmt;

use gateward_lint::schema::{SchemaFault, VersionSchema, from_crd};
use serde_json::Value;

/// Why OLM leaves a CRD as it is, and stops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CrdRefusal {
    /// Objects are stored in a version that the new CRD lacks.
    StoredVersion(String),
    /// An object doesn't fit the new schema of its version.
    Object(String),
    /// The new CRD has a schema that can't be read.
    Schema(String),
}

impl fmt::Display for CrdRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StoredVersion(version) => {
                write!(f, "risk of data loss: the new CRD removes version {version}, which is a stored version")
            }
            Self::Object(name) => write!(f, "error validating existing CRs against the new CRD's schema: {name}"),
            Self::Schema(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for CrdRefusal {}

/// Whether a live CRD is replaced by a new one. `objects` are those that are there, each in every version in which it was
/// listed. What a webhook is to convert may break the new schema.
pub fn replaces(live: &Value, new: &Value, objects: &[Value]) -> Result<(), CrdRefusal> {
    let named = |versions: &Value, name: &str| {
        versions.as_array().into_iter().flatten().any(|version| version["name"].as_str() == Some(name))
    };
    let stored = live["status"]["storedVersions"].as_array().into_iter().flatten().filter_map(Value::as_str);
    for version in stored {
        if !named(&new["spec"]["versions"], version) {
            return Err(CrdRefusal::StoredVersion(version.to_owned()));
        }
    }
    if new["spec"]["conversion"]["strategy"] == "Webhook" {
        return Ok(());
    }
    let schemas = from_crd(new).map_err(|error| CrdRefusal::Schema(error.to_string()))?;
    let group = new["spec"]["group"].as_str().unwrap_or_default();
    let broken = objects.iter().find(|object| {
        let of = |schema: &&VersionSchema| object["apiVersion"] == format!("{group}/{}", schema.version);
        schemas.iter().find(of).is_some_and(|version| !fits(version, object))
    });
    broken.map_or(Ok(()), |object| {
        Err(CrdRefusal::Object(object["metadata"]["name"].as_str().unwrap_or_default().to_owned()))
    })
}

fn fits(version: &VersionSchema, object: &Value) -> bool {
    version.schema.validate(object).iter().all(|finding| finding.fault == SchemaFault::UnknownField)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn crd(versions: &[&str], stored: &[&str]) -> Value {
        let schema = json!({"openAPIV3Schema": {
            "type": "object",
            "properties": {"spec": {"type": "object", "properties": {"fish": {"type": "integer", "minimum": 1}}}},
        }});
        let versions = versions.iter().map(|name| json!({"name": name, "served": true, "schema": schema}));
        json!({
            "spec": {"group": "zoo.example.org", "versions": versions.collect::<Vec<_>>()},
            "status": {"storedVersions": stored},
        })
    }

    fn otter(fish: i32) -> Value {
        json!({
            "apiVersion": "zoo.example.org/v1", "kind": "Otter", "metadata": {"name": "finn"}, "spec": {"fish": fish, "a": 1},
        })
    }

    #[test]
    fn a_version_in_which_objects_are_stored_stays() {
        let live = crd(&["v1alpha1", "v1"], &["v1alpha1", "v1"]);
        assert_eq!(replaces(&live, &crd(&["v1"], &[]), &[]), Err(CrdRefusal::StoredVersion("v1alpha1".into())));
        assert_eq!(replaces(&crd(&["v1alpha1", "v1"], &["v1"]), &crd(&["v1"], &[]), &[]), Ok(()));
    }

    #[test]
    fn every_object_fits_the_new_schema_unless_a_webhook_converts() {
        let mut new = crd(&["v1", "v2"], &[]);
        let live = crd(&["v1"], &["v1"]);
        assert_eq!(replaces(&live, &new, &[otter(1)]), Ok(()));
        assert_eq!(replaces(&live, &new, &[otter(1), otter(0)]), Err(CrdRefusal::Object("finn".into())));
        new["spec"]["conversion"] = json!({"strategy": "Webhook"});
        assert_eq!(replaces(&live, &new, &[otter(0)]), Ok(()));
    }
}
