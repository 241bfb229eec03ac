//! What can't be decided: an HTTP error, never dressed as a denial, so that `failurePolicy` decides.

use serde::Serialize;

use crate::terminal;
use crate::wire::status_reason::reason_of;

/// Why a request got no verdict.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WebhookError {
    /// The body is no review that can be read (400).
    #[error("the request can't be read: {0}")]
    Unreadable(String),
    /// No webhook is served at the path (404).
    #[error("no webhook is served at {0}")]
    UnknownPath(String),
    /// Only POST is answered (405).
    #[error("a review is sent by POST")]
    MethodNotAllowed,
    /// The body is larger than the limit (413).
    #[error("the request's body is larger than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// The body is no plain JSON (415).
    #[error("{0}")]
    UnsupportedMediaType(String),
    /// The body did not arrive in time (408).
    #[error("the request's body did not arrive in time")]
    SlowBody,
    /// Too many requests at once (429).
    #[error("too many requests at once; try again")]
    Overloaded,
    /// Something that a rule must look up can't be read at the moment (503).
    #[error("{0}")]
    Unavailable(String),
    /// The caller's time ran out (504).
    #[error("no verdict within the time that the caller allowed")]
    Deadline,
    /// A handler reads the texts of the review, which are not kept (500).
    #[error("a handler reads the raw review, which isn't kept: say `.with_raw_review()` on its webhook")]
    NoRawReview,
    /// A handler panicked (500).
    #[error("the webhook failed while it judged the request; its log says where")]
    Panicked,
}

impl WebhookError {
    /// The HTTP status.
    pub const fn status(&self) -> u16 {
        match self {
            Self::Unreadable(_) => 400,
            Self::UnknownPath(_) => 404,
            Self::MethodNotAllowed => 405,
            Self::SlowBody => 408,
            Self::TooLarge { .. } => 413,
            Self::UnsupportedMediaType(_) => 415,
            Self::Overloaded => 429,
            Self::NoRawReview | Self::Panicked => 500,
            Self::Unavailable(_) => 503,
            Self::Deadline => 504,
        }
    }

    /// The HTTP body: a Kubernetes `Status`, whose message the API server shows to the user.
    pub fn body(&self) -> Vec<u8> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Status<'a> {
            kind: &'a str,
            api_version: &'a str,
            #[serde(rename = "status")]
            outcome: &'a str,
            message: String,
            reason: &'a str,
            code: u16,
        }
        let code = self.status();
        let (kind, api_version, outcome) = ("Status", "v1", "Failure");
        let message = terminal::lines(&self.to_string()).into_owned();
        let body = Status { kind, api_version, outcome, message, reason: reason_of(code), code };
        serde_json::to_vec(&body).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_body_is_a_status_that_names_the_code() {
        let body: serde_json::Value = serde_json::from_slice(&WebhookError::TooLarge { limit: 7 }.body()).unwrap();
        assert_eq!(body["kind"], "Status");
        assert_eq!(body["code"], 413);
        assert_eq!(body["reason"], "RequestEntityTooLarge");
    }
}
