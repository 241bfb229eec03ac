//! Whether API servers reach an address, before anything depends on it: a webhook that none but a request of ours calls,
//! at a path where nothing is served. Where the API server repeats what a server of ours says to that, it reaches it and
//! trusts it.

use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, ObjectMeta, PostParams};
use kube::core::Status;
use kube::{Client, Error};
use serde_json::{Value, json};

use super::destination::Destination;
use crate::failure::{RequestError, with_timeout};

/// How long the API server waits for the server.
const CALL_SECONDS: u8 = 5;
/// How long one answer may take.
const TIMEOUT: Duration = Duration::from_secs(15);
/// Every cluster has it.
const NAMESPACE: &str = "default";
/// Where nothing is served.
const PATH: &str = "/dev-probe";
/// How servers of ours answer there.
const ANSWER: &str = "no webhook is served at /dev-probe";
/// What stands before the reason.
const FAILED: &str = "failed to call webhook: ";

/// A webhook for `ConfigMap`s with a label, which none has.
pub(super) struct Probe {
    /// The name of the configuration.
    pub(super) name: String,
    label: String,
    webhook: String,
}

/// What the API server's answer says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reach {
    /// It reaches the server.
    Reached,
    /// It doesn't know the configuration yet.
    Uncalled,
    /// It doesn't reach the server.
    Unreached(String),
    /// It doesn't say.
    Unknown(String),
}

impl Probe {
    pub(super) fn new(name: String, prefix: &str) -> Self {
        Self { name, label: format!("{prefix}/dev-probe"), webhook: format!("probe.dev.{prefix}") }
    }

    /// The configuration that has the API server call a destination.
    pub(super) fn configuration(&self, destination: &Destination) -> Value {
        let rule =
            json!({"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]});
        json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": self.name},
            "webhooks": [{
                "name": self.webhook,
                "admissionReviewVersions": ["v1"],
                "clientConfig": destination.client_config(PATH),
                "failurePolicy": "Fail",
                "objectSelector": {"matchLabels": {&self.label: "true"}},
                "rules": [rule],
                "sideEffects": "None",
                "timeoutSeconds": CALL_SECONDS,
            }],
        })
    }

    /// Has the API server call the webhook. Nothing is stored.
    pub(super) async fn call(&self, client: Client) -> Reach {
        let metadata = ObjectMeta {
            generate_name: Some("dev-probe-".to_owned()),
            labels: Some([(self.label.clone(), "true".to_owned())].into()),
            ..ObjectMeta::default()
        };
        let object = ConfigMap { metadata, ..ConfigMap::default() };
        let dry = PostParams { dry_run: true, ..PostParams::default() };
        let api: Api<ConfigMap> = Api::namespaced(client, NAMESPACE);
        match with_timeout(TIMEOUT, api.create(&dry, &object)).await {
            Ok(_) => Reach::Uncalled,
            Err(RequestError::Failed(Error::Api(status))) => self.read(&status),
            Err(why) => Reach::Unknown(why.to_string()),
        }
    }

    fn read(&self, status: &Status) -> Reach {
        let message = status.message.as_str();
        match message.split_once(FAILED) {
            Some((_, why)) if why.contains(ANSWER) => Reach::Reached,
            Some((before, why)) if before.contains(&self.webhook) => Reach::Unreached(why.to_owned()),
            _ => Reach::Unknown(message.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(message: &str) -> Reach {
        let status = Status::failure(message, "InternalError").with_code(500);
        Probe::new("otter-dev-probe".into(), "zoo.org").read(&status)
    }

    #[test]
    fn an_answer_of_our_server_shows_that_it_is_reached() {
        let answer = "Internal error occurred: failed calling webhook \"probe.dev.zoo.org\": failed to call webhook: no \
                      webhook is served at /dev-probe";
        assert_eq!(read(answer), Reach::Reached);
    }

    #[test]
    fn every_other_failure_of_the_call_is_the_reason() {
        for why in [
            "Post \"https://10.0.0.7:9443/dev-probe?timeout=5s\": dial tcp 10.0.0.7:9443: connect: connection refused",
            "Post \"https://10.0.0.7:9443/dev-probe?timeout=5s\": context deadline exceeded",
            "Post \"https://a:9443/dev-probe?timeout=5s\": tls: failed to verify certificate: x509: certificate is valid \
             for localhost, not a",
            "the server could not find the requested resource",
        ] {
            let before =
                "Internal error occurred: failed calling webhook \"probe.dev.zoo.org\": failed to call webhook: ";
            assert_eq!(read(&format!("{before}{why}")), Reach::Unreached(why.into()));
        }
    }

    #[test]
    fn what_others_say_is_no_word_on_us() {
        for message in [
            "configmaps is forbidden: User \"otter\" cannot create resource",
            "Internal error occurred: failed calling webhook \"other.zoo.org\": failed to call webhook: EOF",
        ] {
            assert_eq!(read(message), Reach::Unknown(message.into()));
        }
    }
}
