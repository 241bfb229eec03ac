//! Why nothing could be inspected.

use crate::request::RequestError;

/// Why an inspection or a request failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InspectError {
    /// A request to the API server failed.
    #[error("{0}")]
    Request(String),
    /// cert-manager makes the certificates.
    #[error(
        "cert-manager provides the certificate: there is nothing of ours to rotate; renew it with `cmctl renew -n \
         {namespace} {certificate}`"
    )]
    ByCertManager {
        /// The namespace.
        namespace: String,
        /// The Certificate.
        certificate: String,
    },
    /// The user makes the certificates.
    #[error(
        "the user provides the certificate: there is nothing of ours to rotate; add the new CA to webhook.caBundle, then \
         replace Secret {secret}, then remove the old CA from webhook.caBundle"
    )]
    ByTheUser {
        /// The Secret.
        secret: String,
    },
    /// There is no usable CA to rotate.
    #[error("there is no usable CA in Secret {secret}: {state}; the leader makes one by itself")]
    NoCa {
        /// The Secret.
        secret: String,
        /// What is there.
        state: String,
    },
    /// The Secret was changed at the same moment.
    #[error("Secret {secret} was changed at the same moment; try again")]
    Changed {
        /// The Secret.
        secret: String,
    },
}

impl From<RequestError> for InspectError {
    fn from(why: RequestError) -> Self {
        Self::Request(why.to_string())
    }
}
