//! Version v2: the hub, for which rules are written, and the version that is stored.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the user asks for.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(kind = "__kind__", plural = "__plural__")]
#[kube(group = "__group__")]
#[kube(version = "v2", namespaced)]
#[kube(status = "__kind__Status")]
#[serde(rename_all = "camelCase")]
pub struct __kind__Spec {
    /// What is said.
    pub text: String,
    /// How often it is said; once, where nothing is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i32>,
    /// The language of the text, such as `en`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
}

/// What the controller has done; the same in both versions.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct __kind__Status {
    /// The generation of the object that the ConfigMap follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
}
