//! Version v1: the schedule is called `cronSpec`, and every schedule is in UTC.

use super::status::CronTabStatus;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What runs, and when.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "stable.example.com", version = "v1", kind = "CronTab", namespaced)]
#[kube(status = "CronTabStatus")]
#[kube(scale(spec_replicas_path = ".spec.replicas", status_replicas_path = ".status.replicas"))]
#[serde(rename_all = "camelCase")]
pub struct CronTabSpec {
    /// Minute, hour, day, month and weekday.
    pub cron_spec: String,
    /// What runs.
    pub image: String,
    /// How many run at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i32>,
    /// The `CronPolicy` that limits this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
}
