//! A type that says its group, version and kind to kube and to Gateward.

use gateward_core::resource;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, CustomResource, Deserialize, Serialize, JsonSchema)]
#[kube(group = "zoo.example.org", version = "v1", kind = "Otter", namespaced)]
struct OtterSpec {}

resource!(Otter, "zoo.example.org/v1", "Otter", "otters");

fn main() {}
