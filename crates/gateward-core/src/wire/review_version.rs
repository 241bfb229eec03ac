//! The versions of AdmissionReview.

/// Version of the AdmissionReview API.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ReviewVersion {
    /// `admission.k8s.io/v1`.
    #[default]
    V1,
    /// `admission.k8s.io/v1beta1`, from API servers and tools of before Kubernetes 1.22.
    V1Beta1,
}

impl ReviewVersion {
    pub(crate) const fn api_version(self) -> &'static str {
        match self {
            Self::V1 => "admission.k8s.io/v1",
            Self::V1Beta1 => "admission.k8s.io/v1beta1",
        }
    }

    /// The name in a webhook configuration.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::V1 => "v1",
            Self::V1Beta1 => "v1beta1",
        }
    }

    pub(crate) fn parse(api_version: &str) -> Option<Self> {
        [Self::V1, Self::V1Beta1].into_iter().find(|version| version.api_version() == api_version)
    }
}
