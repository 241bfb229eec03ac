//! What happens to objects, and what goes wrong.

use std::fmt;

/// What happened to an object, or is waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DevEvent {
    /// An object leads here that wasn't there before.
    Created(String),
    /// The objects of a CRD are converted here.
    Redirected {
        /// The CRD.
        object: String,
        /// How they were converted before.
        before: String,
    },
    /// An object that was made here is gone.
    Deleted(String),
    /// An object is as before.
    Restored(String),
    /// An object stays otherwise than it was before, with the reason.
    Kept {
        /// The object.
        object: String,
        /// The reason, and what a person can do.
        why: String,
    },
    /// An object could not be put back, with the reason.
    Remains(String),
    /// It is not known whether the API server reaches this machine, with the reason.
    Unproven(String),
    /// Something is waited for.
    Waiting(String),
}

impl fmt::Display for DevEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Created(object) => write!(f, "{object}: created"),
            Self::Redirected { object, before } => write!(f, "{object}: objects are converted here; before, {before}"),
            Self::Deleted(object) => write!(f, "{object}: deleted"),
            Self::Restored(object) => write!(f, "{object}: as before"),
            Self::Kept { object, why } => write!(f, "{object}: {why}"),
            Self::Remains(why) => write!(f, "not put back: {why}"),
            Self::Unproven(why) => write!(f, "it can't be shown that the API server reaches this machine: {why}"),
            Self::Waiting(what) => write!(f, "waiting: {what}"),
        }
    }
}

/// Why something can't be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DevError {
    /// Another process has the cluster.
    #[error(
        "{0} develops against this cluster; end it there, or pass --take-over, which puts back what it has changed"
    )]
    Held(String),
    /// Other processes can't see that this one lives.
    #[error("the Lease {name} in the namespace default can't be written: {why}")]
    Lease {
        /// Its name.
        name: String,
        /// The reason.
        why: String,
    },
    /// An object can't be read or written.
    #[error("{object}: {why}")]
    Object {
        /// The object, or the kind.
        object: String,
        /// The reason.
        why: String,
    },
    /// The API server can't call this machine.
    #[error("the API server doesn't reach {origin}: {why}; name an address by which it does with --address")]
    Unreachable {
        /// Where it would call.
        origin: String,
        /// The reason.
        why: String,
    },
    /// A manifest is of a kind that doesn't lead to webhooks.
    #[error("{0} is neither a webhook configuration nor a CRD")]
    Kind(String),
}

impl DevError {
    pub(super) fn object(object: &str, why: impl fmt::Display) -> Self {
        Self::Object { object: object.to_owned(), why: why.to_string() }
    }
}
