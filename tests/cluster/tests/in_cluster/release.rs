//! The names of the release, and how its objects are applied.

use cluster_tests::Bed;
use serde_json::Value;

pub const RELEASE: &str = "otter";
pub const NAMESPACE: &str = "zoo";
pub const SERVICE: &str = "otter-dynamo-operator-webhook-service";

/// Applies an object as the installing user does.
pub async fn apply(bed: &Bed, path: &str, object: &Value) -> anyhow::Result<Value> {
    bed.client().apply(&format!("{path}?fieldManager=installer&force=true"), object).await?.granted()
}
