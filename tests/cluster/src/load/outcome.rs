//! What an answer of the API server says about our webhooks.

use serde_json::Value;

use gateward_testbed::Response;

/// How a request has to be answered where all is well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    Granted,
    /// One of our webhooks says no.
    Denied,
}

/// What came of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    Granted,
    Denied,
    /// The API server could not ask a webhook, or got no use out of its answer.
    AdmissionFailed(String),
    /// Granted, though a webhook had to say no: what was granted.
    FailedOpen(String),
    /// The API server itself is not there, or not ready yet.
    NotServed(String),
    /// Anything else: a wrong denial, a lost object.
    Astray(String),
}

/// What the API server says where a webhook couldn't be asked.
const FAILED: [&str; 3] = ["failed calling webhook", "failed to call webhook", "conversion webhook for"];

impl Outcome {
    pub(super) fn of(expected: Expected, answer: &anyhow::Result<Response>) -> Self {
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => return Self::NotServed(format!("{error:#}")),
        };
        if answer.status.is_success() {
            return match expected {
                Expected::Granted => Self::Granted,
                Expected::Denied => Self::FailedOpen(named(&answer.body)),
            };
        }
        let text = text(&answer.body);
        if FAILED.iter().any(|phrase| text.contains(phrase)) {
            return Self::AdmissionFailed(text);
        }
        match (expected, answer.status.as_u16()) {
            (Expected::Denied, 422) if text.contains("denied the request") => Self::Denied,
            (_, 429 | 503 | 504) => Self::NotServed(text),
            // Before the CRDs are served nobody knows their paths; a missing object would be named.
            (_, 404) if answer.body["details"]["name"].is_null() => Self::NotServed(text),
            (_, status) => Self::Astray(format!("{status}: {text}")),
        }
    }

    pub(super) fn is_as_expected(&self) -> bool {
        matches!(self, Self::Granted | Self::Denied)
    }
}

fn named(object: &Value) -> String {
    format!("{} {} {}", object["apiVersion"], object["kind"], object["metadata"]["name"])
}

fn text(body: &Value) -> String {
    body["message"].as_str().map_or_else(|| body.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use http::StatusCode;
    use serde_json::json;

    use super::*;

    fn outcome(expected: Expected, status: u16, body: Value) -> Outcome {
        let status = StatusCode::from_u16(status).unwrap();
        Outcome::of(expected, &Ok(Response { status, body, warnings: Vec::new() }))
    }

    #[test]
    fn tells_a_denial_from_a_webhook_that_was_not_reached() {
        let denied = json!({"message": "admission webhook \"v.kb.io\" denied the request: no"});
        assert_eq!(outcome(Expected::Denied, 422, denied.clone()), Outcome::Denied);
        assert!(matches!(outcome(Expected::Granted, 422, denied), Outcome::Astray(_)));
        for text in [
            "Internal error occurred: failed calling webhook \"v.kb.io\": failed to call webhook: EOF",
            "conversion webhook for nvidia.com/v1alpha1, Kind=DynamoModel failed: EOF",
        ] {
            for expected in [Expected::Granted, Expected::Denied] {
                let failed = outcome(expected, 500, json!({"message": text}));
                assert_eq!(failed, Outcome::AdmissionFailed(text.to_owned()));
            }
        }
    }

    #[test]
    fn notices_what_no_webhook_looked_at() {
        let otter = json!({"apiVersion": "zoo.org/v1", "kind": "Otter", "metadata": {"name": "otter"}});
        let granted = r#""zoo.org/v1" "Otter" "otter""#.to_owned();
        assert_eq!(outcome(Expected::Denied, 201, otter), Outcome::FailedOpen(granted));
        // The schema's no is not a webhook's.
        let refused = json!({"message": "DynamoModel \"a\" is invalid: spec.b: Required value"});
        assert!(matches!(outcome(Expected::Denied, 422, refused), Outcome::Astray(_)));
    }

    #[test]
    fn does_not_blame_the_webhooks_for_an_api_server_that_starts() {
        let error: anyhow::Result<Response> = Err(anyhow::anyhow!("connection refused"));
        assert!(matches!(Outcome::of(Expected::Granted, &error), Outcome::NotServed(_)));
        for (status, body) in [
            (503, json!({"message": "the server is currently unable to handle the request"})),
            (429, json!({"message": "storage is (re)initializing"})),
            (404, json!("404 page not found\n")),
        ] {
            assert!(matches!(outcome(Expected::Granted, status, body), Outcome::NotServed(_)), "{status}");
        }
        let lost = json!({"message": "not found", "details": {"name": "load-1", "kind": "dynamomodels"}});
        assert!(matches!(outcome(Expected::Granted, 404, lost), Outcome::Astray(_)));
    }
}
