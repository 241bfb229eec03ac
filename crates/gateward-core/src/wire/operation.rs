//! What is being done to an object.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The operation of an admission request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Operation {
    /// A new object.
    Create,
    /// A change of a stored object.
    Update,
    /// The removal of a stored object.
    Delete,
    /// A connection to an object (exec, attach, proxy).
    Connect,
}

/// Both operations that carry a new object.
pub const CREATE_AND_UPDATE: &[Operation] = &[Operation::Create, Operation::Update];
/// Only the creation of an object.
pub const CREATE: &[Operation] = &[Operation::Create];
/// Only the change of a stored object.
pub const UPDATE: &[Operation] = &[Operation::Update];

impl Operation {
    /// The operation of this name, in upper case as the API server writes it.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Create, Self::Update, Self::Delete, Self::Connect].into_iter().find(|known| known.as_str() == name)
    }

    /// The upper-case name, as in an AdmissionReview.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
            Self::Connect => "CONNECT",
        }
    }

    /// The lower-case name, as log lines have it.
    pub const fn verb(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Connect => "connect",
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
