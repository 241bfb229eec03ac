//! `status.generatedDeployment`: an embedded object, whose type and metadata the API server decodes in every read of the
//! request. The `selectedConfig` of v1beta1 is any JSON, and an object that the API server can't decode would fail the
//! list that it stands in.

use std::sync::LazyLock;

use dynamo_api::Json;
use gateward::schema::{Schema, SchemaFault, SchemaFinding};
use gateward::{FieldPath, INCOMPLETE, Issues};
use serde::Deserialize;
use serde_json::{Value, json};

use super::versions::HubStatus;

/// Of an object only what every object has.
static ANY_OBJECT: LazyLock<Option<Schema>> = LazyLock::new(|| {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    Schema::compile(&schema).ok()
});

/// What the API server decodes of an embedded object.
#[derive(Deserialize)]
struct Embedded {
    #[serde(rename = "apiVersion")]
    _api_version: Option<String>,
    #[serde(rename = "kind")]
    _kind: Option<String>,
    metadata: Option<Json>,
}

/// The deployment of a request with this status, where the API server can decode it. Otherwise it is left out, with a note.
pub(super) fn of(hub: &HubStatus, issues: &mut Issues) -> Option<Json> {
    let selected = hub.profiling_results.as_ref()?.selected_config.as_ref()?;
    if !is_decodable(selected) {
        let path = FieldPath::field("status") / "profilingResults" / "selectedConfig";
        issues.add(INCOMPLETE.note(
            path,
            "v1alpha1 holds an object here, and this isn't one of Kubernetes: its type or metadata is odd",
        ));
        return None;
    }
    Some(selected.clone())
}

fn is_decodable(object: &Json) -> bool {
    let Ok(Embedded { metadata, .. }) = serde_json::from_str(object.json()) else { return false };
    let Some(metadata) = metadata else { return true };
    let tree = metadata.tree();
    // Too large or too deep to be read.
    if tree.is_null() {
        return false;
    }
    let object = Value::from_iter([("metadata", tree.into_owned())]);
    let is_passed_over = |finding: &SchemaFinding| finding.fault == SchemaFault::UnknownField;
    ANY_OBJECT.as_ref().is_some_and(|schema| schema.validate(&object).iter().all(is_passed_over))
}
