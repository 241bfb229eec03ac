//! Who sent a request.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Who sent the request, as the API server authenticated them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserInfo {
    /// The user's name; `system:serviceaccount:<namespace>:<name>` for a service account.
    #[serde(default, deserialize_with = "crate::json::nullable::null_as_default")]
    pub username: String,
    /// The user's id, where the authenticator gives one.
    #[serde(default, deserialize_with = "crate::json::nullable::null_as_default")]
    pub uid: String,
    /// The groups.
    #[serde(default, deserialize_with = "crate::json::nullable::null_as_default")]
    pub groups: Vec<String>,
    /// What else the authenticator says.
    #[serde(default, deserialize_with = "crate::json::nullable::null_as_default")]
    pub extra: BTreeMap<String, Vec<String>>,
}
