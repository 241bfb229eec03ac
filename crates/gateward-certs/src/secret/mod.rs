//! The contents of the Secrets: the serving certificate and the CA, each with its private key.
//!
//! Pure functions evaluate them: [`ServingCertificateState::of`] and [`CaState::of`]. [`crate::rotation`] builds on
//! these.

mod ca;
mod serving;

use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, SystemTime};

pub use ca::{CaFields, CaState};
pub(crate) use serving::is_for_servers;
pub use serving::{ServingCertificate, ServingCertificateRules, ServingCertificateState};

use crate::ca::CaError;
use crate::ca_bundle::{CaBundle, CaBundleError};
use crate::keys::{KeyError, PrivateKey};
use crate::validity::Validity;

/// The field of a Secret that holds the certificate.
pub const TLS_CRT: &str = "tls.crt";
/// The field of a Secret that holds the certificate's private key.
pub const TLS_KEY: &str = "tls.key";
/// The field of the serving Secret that holds the CA's certificate.
pub const CA_CRT: &str = "ca.crt";
/// The field of the serving Secret in which the Go operator keeps the CA's private key: any pod that mounts the Secret
/// can read it there.
pub const CA_KEY: &str = "ca.key";

/// How far ahead a certificate's start may lie without being taken for a mistake: clocks differ by so much.
pub const CLOCK_TOLERANCE: Duration = Duration::from_mins(5);

/// The data of a Secret, decoded from base64. Its debug output names the fields and shows nothing of them.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct SecretData(BTreeMap<String, Vec<u8>>);

impl SecretData {
    /// The content of a field; `None` if it is missing or empty.
    pub fn field(&self, name: &str) -> Option<&[u8]> {
        self.0.get(name).map(Vec::as_slice).filter(|content| !content.is_empty())
    }

    pub(crate) fn certificates(&self, field: &str) -> Result<CaBundle, FieldError> {
        Ok(CaBundle::parse(self.field(field).ok_or(FieldError::Absent)?)?)
    }

    pub(crate) fn private_key(&self, field: &str) -> Result<PrivateKey, FieldError> {
        Ok(PrivateKey::from_pem(self.field(field).ok_or(FieldError::Absent)?)?)
    }

    /// Whether there is such a field, be it empty.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// With a field set.
    pub fn with(mut self, name: &str, content: impl Into<Vec<u8>>) -> Self {
        self.0.insert(name.to_owned(), content.into());
        self
    }

    /// Without a field.
    pub fn without(mut self, name: &str) -> Self {
        self.0.remove(name);
        self
    }

    /// The fields, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(name, content)| (name.as_str(), content.as_slice()))
    }
}

impl<K: Into<String>, V: Into<Vec<u8>>> FromIterator<(K, V)> for SecretData {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(fields: I) -> Self {
        Self(fields.into_iter().map(|(name, content)| (name.into(), content.into())).collect())
    }
}

impl fmt::Debug for SecretData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// A field of a Secret that can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Secret {secret}, field {field}: {error}; it is made anew, or put a valid one there")]
pub struct InvalidField {
    /// The Secret, as `namespace/name`.
    pub secret: String,
    /// The field.
    pub field: &'static str,
    /// What is wrong with it.
    pub error: FieldError,
}

impl InvalidField {
    fn new(secret: &str, field: &'static str, error: impl Into<FieldError>) -> Self {
        Self { secret: secret.to_owned(), field, error: error.into() }
    }
}

/// What is wrong with a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FieldError {
    /// The field is missing or empty.
    #[error("it is missing or empty")]
    Absent,
    /// The certificates can't be read.
    #[error(transparent)]
    CaBundle(#[from] CaBundleError),
    /// The private key can't be read.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// Certificate and key make no CA.
    #[error(transparent)]
    Ca(#[from] CaError),
    /// The private key is another certificate's.
    #[error("the private key does not belong to the certificate")]
    WrongKey,
    /// The certificate is not meant for servers.
    #[error("the certificate is not for servers (extended key usage)")]
    NotForServers,
    /// The CA that signed the certificate isn't there.
    #[error("the CA that signed the certificate is not among them")]
    SignerAbsent,
}

fn starts_too_late(validity: Validity, now: SystemTime) -> bool {
    validity.not_before().duration_since(now).is_ok_and(|ahead| ahead > CLOCK_TOLERANCE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_of_a_secret_holds_no_content() {
        let data = SecretData::default().with("tls.key", "otter").with("tls.crt", "");
        assert_eq!(format!("{data:?}"), r#"{"tls.crt", "tls.key"}"#);
        assert_eq!((data.field("tls.crt"), data.has("tls.crt")), (None, true));
    }

    #[test]
    fn damage_names_the_secret_the_field_the_fault_and_the_way_out() {
        let invalid = InvalidField::new("zoo/otter", TLS_KEY, KeyError::NoKey);
        assert_eq!(
            invalid.to_string(),
            "Secret zoo/otter, field tls.key: no private key in PEM: it takes PKCS#1, PKCS#8 or SEC 1, not encrypted; \
             it is made anew, or put a valid one there"
        );
    }
}
