//! The first version: a whole name.

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
    /// First and last name in one.
    #[serde(default, deserialize_with = "text::present", skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

resource!(TestEntity, "conversionwebhook.dev/v1", "TestEntity", "testentitys");
