//! The record of an object that was changed.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Who has changed an object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DevHolder {
    /// The name of the machine.
    pub host: String,
    /// The process there.
    pub process: u32,
    /// When it started, in RFC 3339.
    pub since: String,
}

impl fmt::Display for DevHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} on {} (since {})", self.process, self.host, self.since)
    }
}

/// What stands in the annotation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Record {
    pub(super) holder: DevHolder,
    pub(super) before: Before,
}

/// How an object was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum Before {
    /// There was none.
    Absent {
        /// Where the objects of the CRD are converted now.
        #[serde(skip_serializing_if = "Option::is_none")]
        url: Option<String>,
    },
    /// The objects of the CRD were converted otherwise.
    Conversion {
        /// Where they are converted now.
        url: String,
        /// `spec.conversion` as it was.
        stanza: Value,
        /// The annotation that names the Service which converts, as it was.
        #[serde(skip_serializing_if = "Option::is_none")]
        converted_by: Option<String>,
    },
}
