//! The second version: first and last name.

use gateward::prelude::*;
use serde::{Deserialize, Serialize};

use crate::metadata::Metadata;
use crate::text;

/// Somebody's name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TestEntity {
    /// The annotations.
    #[serde(default)]
    pub metadata: Metadata,
    /// The name.
    #[serde(default)]
    pub spec: TestEntitySpec,
}

/// The name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TestEntitySpec {
    /// The first name.
    #[serde(default, deserialize_with = "text::present", skip_serializing_if = "Option::is_none")]
    pub firstname: Option<String>,
    /// The last name.
    #[serde(default, deserialize_with = "text::present", skip_serializing_if = "Option::is_none")]
    pub lastname: Option<String>,
}

resource!(TestEntity, "conversionwebhook.dev/v2", "TestEntity", "testentitys");
