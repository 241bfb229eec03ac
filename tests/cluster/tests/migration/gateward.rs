//! Our release beside the Go operator's.

use std::time::Duration;

use cluster_tests::{CONVERTED, Chart, Release, Sandbox, until};
use serde_json::{Value, json};

use crate::NAMESPACE;
use crate::cluster_objects::{SECRET, Undecided, crd};
use crate::go_operator::{self, GoOperator};

/// Our release.
pub struct Gateward {
    pub release: Release,
    sandbox: Sandbox,
}

impl Gateward {
    pub fn new(sandbox: &Sandbox) -> Self {
        Self { release: Release::of(sandbox, "gateward", NAMESPACE), sandbox: sandbox.clone() }
    }

    fn values(undecided: Undecided) -> Value {
        json!({"dynamo-operator": {
            // Each replica has an init container that applies CRDs, which takes the API server longest of all.
            "controllerManager": {"replicas": 1},
            "webhook": {
                "failurePolicy": undecided.policy(),
                "certificateSecret": {"name": SECRET},
                "certificates": {"dnsNames": [format!("{}.{NAMESPACE}.svc", go_operator::SERVICE)]},
                "operatorPrincipals": [GoOperator::account()],
            },
        }})
    }

    /// What is checked before it is installed has no fault: the webhooks of the Go operator are to be handed over.
    pub async fn may_take_over(&self) {
        let file = self.sandbox.bed().folder().join("preflight.json");
        std::fs::write(&file, Self::values(Undecided::Refused).to_string()).unwrap();
        let command = ["doctor", "--preflight", "--values", file.to_str().unwrap()];
        let said = self.release.gateward(&command).await.unwrap();
        for kind in ["Validating", "Mutating"] {
            let name = format!("{kind}WebhookConfiguration {}", go_operator::FULLNAME);
            assert!(said.contains(&name) && said.contains("go on as docs/migration.md says"), "{said}");
        }
    }

    /// Installs it, and waits until it converts.
    pub async fn install(&self, undecided: Undecided) {
        self.release.install(Chart::Current, &Self::values(undecided)).await.unwrap();
        self.converts_by(&self.service()).await;
    }

    pub async fn upgrade(&self, undecided: Undecided) {
        self.release.upgrade(Chart::Current, &Self::values(undecided)).await.unwrap();
    }

    /// Waits until all objects are converted by a Service.
    pub async fn converts_by(&self, service: &str) {
        let calls = |config: &Value| config["service"]["name"] == service;
        self.every_stanza(&format!("{service} converts"), calls).await;
    }

    /// Waits until all objects are converted by it, and every stanza names its CA alone.
    pub async fn converts_with(&self, ca_crt: &Value) {
        self.converts_by(&self.service()).await;
        self.every_stanza("every stanza has our CA alone", |config| config["caBundle"] == *ca_crt).await;
    }

    fn service(&self) -> String {
        format!("{}-webhook-service", self.release.fullname())
    }

    async fn every_stanza(&self, what: &str, holds: impl Fn(&Value) -> bool) {
        let client = self.sandbox.bed().client();
        until(what, Duration::from_mins(4), async || {
            for plural in CONVERTED {
                let crd = client.get(&crd(plural)).await.unwrap().granted().unwrap();
                if !holds(&crd["spec"]["conversion"]["webhook"]["clientConfig"]) {
                    return false;
                }
            }
            true
        })
        .await;
    }

    /// The CA that it has every client trust, as it is in its Secret.
    pub async fn ca_crt(&self) -> Value {
        let secret = self.sandbox.bed().client().get(&self.release.secret(SECRET)).await.unwrap().granted().unwrap();
        secret["data"]["ca.crt"].clone()
    }

    /// No configuration of it has the label by which the Go operator finds those that it injects into.
    pub async fn is_not_found_by_the_go_operator(&self) {
        for path in self.release.configurations() {
            let configuration = self.sandbox.bed().client().get(&path).await.unwrap().granted().unwrap();
            let labels = &configuration["metadata"]["labels"];
            assert!(labels[go_operator::NAMESPACE_LABEL].is_null(), "{labels}");
        }
    }

    /// Removes what helm leaves of it.
    pub async fn is_forgotten(&self) {
        for secret in [SECRET.to_owned(), format!("{SECRET}-ca")] {
            self.release.delete_secret(&secret).await.unwrap();
        }
    }
}
