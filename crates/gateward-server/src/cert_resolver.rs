//! The serving certificate, which can be replaced while connections stay open.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use arc_swap::ArcSwapOption;
use gateward_certs::{IssuedCertificate, Validity};
use rustls::crypto::CryptoProvider;
use rustls::server::{ClientHello, NoServerSessionStorage, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

use crate::protocols::Protocols;

/// A certificate chain and its private key, which match.
#[derive(Clone)]
pub struct Identity {
    key: Arc<CertifiedKey>,
    validity: Validity,
}

impl Identity {
    /// Checks that the key matches the chain, end-entity certificate first.
    pub fn new(chain: Vec<CertificateDer<'static>>, key: PrivateKeyDer<'static>) -> Result<Self, IdentityError> {
        let end_entity = chain.first().ok_or(IdentityError::NoCertificate)?;
        let validity = Validity::of(end_entity).map_err(|_| IdentityError::Unreadable)?;
        let key = CertifiedKey::from_der(chain, key, &provider()).map_err(|error| IdentityError::of(&error))?;
        Ok(Self { key: Arc::new(key), validity })
    }

    /// Parses `tls.crt` and `tls.key` of a Secret of type `kubernetes.io/tls`.
    pub fn from_pem(chain: &[u8], key: &[u8]) -> Result<Self, IdentityError> {
        let chain = CertificateDer::pem_slice_iter(chain).collect::<Result<Vec<_>, _>>();
        let chain = chain.map_err(|_| IdentityError::Unreadable)?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| IdentityError::NoKey)?;
        Self::new(chain, key)
    }

    /// The validity of the end-entity certificate.
    pub fn validity(&self) -> Validity {
        self.validity
    }
}

impl TryFrom<&IssuedCertificate> for Identity {
    type Error = IdentityError;

    fn try_from(issued: &IssuedCertificate) -> Result<Self, IdentityError> {
        Self::new(vec![issued.certificate().clone()], issued.private_key().into())
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").field("validity", &self.validity).finish_non_exhaustive()
    }
}

/// Why a chain and a key can't serve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdentityError {
    /// There is no certificate.
    #[error("there is no certificate")]
    NoCertificate,
    /// A certificate can't be read.
    #[error("the certificate is not readable X.509 in PEM")]
    Unreadable,
    /// There is no private key, or none of a kind that TLS can use.
    #[error("there is no usable private key")]
    NoKey,
    /// The key belongs to another certificate.
    #[error("the private key does not belong to the certificate")]
    KeyMismatch,
}

impl IdentityError {
    fn of(error: &rustls::Error) -> Self {
        match error {
            rustls::Error::InconsistentKeys(_) => Self::KeyMismatch,
            rustls::Error::InvalidCertificate(_) => Self::Unreadable,
            _ => Self::NoKey,
        }
    }
}

/// Resolves the serving certificate of each handshake. Clones share the certificate.
///
/// Open connections keep theirs; the next handshake serves the certificate that was set last. While there is none,
/// handshakes fail.
#[derive(Debug, Clone, Default)]
pub struct CertResolver(Arc<ArcSwapOption<Identity>>);

impl CertResolver {
    /// No certificate: handshakes fail until one is set.
    pub fn empty() -> Self {
        Self::default()
    }

    /// Serves a certificate from the start.
    pub fn new(identity: Identity) -> Self {
        let resolver = Self::empty();
        resolver.set(identity);
        resolver
    }

    /// Serves another certificate from the next handshake on.
    pub fn set(&self, identity: Identity) {
        self.0.store(Some(Arc::new(identity)));
    }

    /// The validity of the current certificate; `None` while there is none.
    pub fn validity(&self) -> Option<Validity> {
        self.0.load().as_ref().map(|identity| identity.validity)
    }

    /// Whether the current certificate is valid at a time.
    pub fn is_valid(&self, now: SystemTime) -> bool {
        self.validity().is_some_and(|validity| validity.contains(now))
    }

    pub(crate) fn server_config(&self, protocols: &Protocols) -> Result<Arc<rustls::ServerConfig>, rustls::Error> {
        let mut config = rustls::ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(self.clone()));
        config.alpn_protocols = protocols.alpn();
        // A resumed session would never see a new certificate, and the API server resumes none.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok(Arc::new(config))
    }
}

impl ResolvesServerCert for CertResolver {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.0.load().as_ref().map(|identity| Arc::clone(&identity.key))
    }
}

/// The crypto provider, always passed explicitly: another crate may have set the process default.
pub(crate) fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::aws_lc_rs::default_provider())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use gateward_certs::{Ca, CommonName, ServerNames, SystemKeys, TEN_YEARS};

    use super::*;

    fn issued() -> IssuedCertificate {
        let validity = Validity::starting(SystemTime::now(), TEN_YEARS).unwrap();
        let ca = Ca::new(&CommonName::new("test").unwrap(), validity, &SystemKeys).unwrap();
        ca.issue(&ServerNames::parse(["localhost"]).unwrap(), validity, &SystemKeys).unwrap()
    }

    fn from_pem(chain: &str, key: &str) -> Result<Identity, IdentityError> {
        Identity::from_pem(chain.as_bytes(), key.as_bytes())
    }

    #[test]
    fn parses_a_tls_secret() {
        let issued = issued();
        let identity = from_pem(&issued.certificate_pem(), &issued.private_key_pem()).unwrap();
        assert_eq!(identity.validity(), issued.validity());
    }

    #[test]
    fn refuses_the_key_of_another_certificate() {
        let (one, other) = (issued(), issued());
        let error = from_pem(&one.certificate_pem(), &other.private_key_pem()).unwrap_err();
        assert_eq!(error, IdentityError::KeyMismatch);
    }

    #[test]
    fn names_what_is_missing() {
        let issued = issued();
        let (certificate, key) = (issued.certificate_pem(), issued.private_key_pem());
        assert_eq!(from_pem("", &key).unwrap_err(), IdentityError::NoCertificate);
        assert_eq!(from_pem(&certificate, "").unwrap_err(), IdentityError::NoKey);
        assert_eq!(from_pem(&certificate[..200], &key).unwrap_err(), IdentityError::Unreadable);
    }

    #[test]
    fn an_empty_resolver_is_never_valid() {
        let resolver = CertResolver::empty();
        assert!(!resolver.is_valid(SystemTime::now()));
        resolver.set(Identity::try_from(&issued()).unwrap());
        assert!(resolver.is_valid(SystemTime::now()));
        assert!(!resolver.is_valid(SystemTime::now() + TEN_YEARS + Duration::from_secs(1)));
    }

    #[test]
    fn debug_output_contains_no_key() {
        let text = format!("{:?}", Identity::try_from(&issued()).unwrap());
        assert!(!text.to_lowercase().contains("key"));
    }
}
