//! What becomes of requests that a webhook does not answer.

use serde::Serialize;

/// What the API server does when a webhook doesn't answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub enum FailurePolicy {
    /// The request is denied.
    #[default]
    Fail,
    /// The request passes unjudged.
    Ignore,
}
