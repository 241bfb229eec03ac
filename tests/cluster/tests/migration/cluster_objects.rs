//! What both releases have to do with: the CRDs, and the policy of webhooks.

use cluster_tests::{CONVERTED, Sandbox};

/// The Secret of our certificate: the Go operator has another.
pub const SECRET: &str = "gateward-webhook-cert";

/// Where a CRD is.
pub fn crd(plural: &str) -> String {
    format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{plural}.nvidia.com")
}

/// The CRDs that have an annotation by which the cainjector of cert-manager writes their `caBundle`.
pub async fn injected_by_cert_manager(sandbox: &Sandbox) -> Vec<&'static str> {
    let mut injected = Vec::new();
    for plural in CONVERTED {
        let crd = sandbox.bed().client().get(&crd(plural)).await.unwrap().granted().unwrap();
        let annotations = crd["metadata"]["annotations"].as_object();
        if annotations.is_some_and(|all| all.keys().any(|name| name.starts_with("cert-manager.io/inject-"))) {
            injected.push(plural);
        }
    }
    injected
}

/// What becomes of requests that the webhooks can't judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undecided {
    Refused,
    Admitted,
}

impl Undecided {
    pub fn policy(self) -> &'static str {
        match self {
            Self::Refused => "Fail",
            Self::Admitted => "Ignore",
        }
    }
}
