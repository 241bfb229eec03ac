//! What both releases have to do with: the CRDs, and the policy of webhooks.

/// Where a CRD is.
pub fn crd(plural: &str) -> String {
    format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{plural}.nvidia.com")
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
