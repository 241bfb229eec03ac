//! Failures of requests to the API server, as people read them.

use std::error::Error as _;
use std::time::Duration;

use kube::Error;

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

/// The HTTP status of the API server's answer; `None` where there was no answer.
pub(crate) fn status(error: &Error) -> Option<u16> {
    match error {
        Error::Api(status) => Some(status.code),
        _ => None,
    }
}

/// Sends a request with a timeout.
pub(crate) async fn with_timeout<T>(
    timeout: Duration,
    request: impl Future<Output = Result<T, Error>>,
) -> Result<T, RequestFailure> {
    match tokio::time::timeout(timeout, request).await {
        Ok(answered) => answered.map_err(RequestFailure::Failed),
        Err(_) => Err(RequestFailure::TimedOut(timeout)),
    }
}

/// Why a request has no result.
#[derive(Debug)]
pub(crate) enum RequestFailure {
    /// The API server refused it, or wasn't reached.
    Failed(Error),
    /// There was no answer in time.
    TimedOut(Duration),
}

impl RequestFailure {
    /// The reason in one line.
    pub(crate) fn reason(&self) -> String {
        match self {
            Self::Failed(error) => reason(error),
            Self::TimedOut(timeout) => format!("the API server gave no answer within {} s", timeout.as_secs()),
        }
    }

    /// The HTTP status, where there was an answer.
    pub(crate) fn status(&self) -> Option<u16> {
        match self {
            Self::Failed(error) => status(error),
            Self::TimedOut(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use kube::core::Status;

    use super::*;

    #[test]
    fn the_reason_is_the_api_servers_message() {
        let status = Status::failure("otters.zoo.org is forbidden: no rule allows it", "Forbidden").with_code(403);
        let error = Error::Api(status.boxed());
        assert_eq!(reason(&error), "otters.zoo.org is forbidden: no rule allows it");
        assert_eq!(RequestFailure::Failed(error).status(), Some(403));
    }

    #[test]
    fn the_reason_names_the_root_cause() {
        let root = std::io::Error::new(std::io::ErrorKind::ConnectionRefused, "connection refused");
        assert_eq!(reason(&Error::ReadEvents(root)), "connection refused");
    }
}
