//! The stored version, and the hub: first, middle and last name.

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
#[serde(rename_all = "camelCase")]
pub struct TestEntitySpec {
    /// The first name.
    #[serde(default, deserialize_with = "text::present", skip_serializing_if = "Option::is_none")]
    pub firstname: Option<String>,
    /// The last name.
    #[serde(default, deserialize_with = "text::present", skip_serializing_if = "Option::is_none")]
    pub lastname: Option<String>,
    /// The middle name.
    #[serde(default, skip_serializing_if = "MiddleName::is_absent")]
    pub middle_name: MiddleName,
}

/// A member that the schema calls nullable: absent, null and text are three things.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Option<String>", into = "Option<String>")]
pub enum MiddleName {
    /// Nothing is written.
    #[default]
    Absent,
    /// Null is written.
    Null,
    /// A name is written.
    Given(String),
}

impl MiddleName {
    /// Whether nothing is written.
    pub const fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }
}

impl From<Option<String>> for MiddleName {
    fn from(name: Option<String>) -> Self {
        name.map_or(Self::Null, Self::Given)
    }
}

impl From<MiddleName> for Option<String> {
    fn from(name: MiddleName) -> Self {
        match name {
            MiddleName::Absent | MiddleName::Null => None,
            MiddleName::Given(name) => Some(name),
        }
    }
}

resource!(TestEntity, "conversionwebhook.dev/v3", "TestEntity", "testentitys");
