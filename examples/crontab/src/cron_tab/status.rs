//! The status of a CronTab.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is there of a CronTab; the same in both versions.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct CronTabStatus {
    /// How many run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i32>,
}
