//! Version v1: `replicas` is called `size`, and there is no `language`.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::v2::__kind__Status;

/// What the user asks for.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(kind = "__kind__", plural = "__plural__")]
#[kube(group = "__group__")]
#[kube(version = "v1", namespaced)]
#[kube(status = "__kind__Status")]
#[serde(rename_all = "camelCase")]
pub struct __kind__Spec {
    /// What is said.
    pub text: String,
    /// How often it is said; once, where nothing is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<i32>,
}
