//! Failures of requests to the API server, as people read them.

use std::error::Error as _;
use std::time::Duration;

use kube::Error;
use kube::core::Status;

/// The reason in one line: the API server's own words, or the causes of a failed connection.
pub(crate) fn reason(error: &Error) -> String {
    match error {
        Error::Api(status) if status.message.is_empty() => format!("the API server answers {}", status.code),
        Error::Api(status) => status.message.trim_end().to_owned(),
        other => causes(other),
    }
}

/// The chain of causes, each text once: most causes repeat those below them.
fn causes(error: &Error) -> String {
    let mut texts: Vec<String> = Vec::new();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if !texts.iter().any(|said| said.contains(&text)) {
            texts.push(text);
        }
        cause = error.source();
    }
    if texts.is_empty() { error.to_string() } else { texts.join(": ") }
}

/// Sends a request with a timeout.
pub(crate) async fn with_timeout<T>(
    timeout: Duration,
    request: impl Future<Output = Result<T, Error>>,
) -> Result<T, RequestError> {
    match tokio::time::timeout(timeout, request).await {
        Ok(answered) => answered.map_err(RequestError::Failed),
        Err(_) => Err(RequestError::TimedOut(timeout)),
    }
}

/// A request to the API server failed; its text is one line.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RequestError {
    /// The API server refused it, or wasn't reached.
    #[error("{}", reason(.0))]
    Failed(Error),
    /// There was no answer in time.
    #[error("the API server gave no answer within {} s", .0.as_secs())]
    TimedOut(Duration),
}

impl RequestError {
    /// The HTTP status code, where there was an answer.
    pub(crate) fn code(&self) -> Option<u16> {
        self.status().map(|status| status.code)
    }

    /// Whether the object has changed, gone or appeared meanwhile, so that a retry of the same write is pointless.
    pub(crate) fn is_stale(&self) -> bool {
        self.status().is_some_and(|it| it.is_conflict() || it.is_already_exists() || it.is_not_found())
    }

    /// The same for a JSON Patch: where one of its tests fails, the API server calls it invalid.
    pub(crate) fn is_stale_patch(&self) -> bool {
        self.is_stale() || self.status().is_some_and(Status::is_invalid)
    }

    /// Whether RBAC forbids it.
    pub(crate) fn is_forbidden(&self) -> bool {
        self.status().is_some_and(Status::is_forbidden)
    }

    fn status(&self) -> Option<&Status> {
        match self {
            Self::Failed(Error::Api(status)) => Some(status),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_the_api_servers_message() {
        let status = Status::failure("otters.zoo.org is forbidden: no rule allows it", "Forbidden").with_code(403);
        let error = Error::Api(status.boxed());
        assert_eq!(reason(&error), "otters.zoo.org is forbidden: no rule allows it");
        assert_eq!(RequestError::Failed(error).code(), Some(403));
    }

    #[test]
    fn the_reason_names_the_root_cause() {
        let root = std::io::Error::new(std::io::ErrorKind::ConnectionRefused, "connection refused");
        assert_eq!(reason(&Error::ReadEvents(root)), "connection refused");
    }
}
