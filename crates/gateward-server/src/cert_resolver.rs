//! The serving certificate, which can be replaced while connections stay open.

use std::fmt;
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use gateward_certs::{IssuedCertificate, Validity};
use rustls::crypto::CryptoProvider;
use rustls::server::{ClientHello, NoServerSessionStorage, ResolvesServerCert};
use rustls::sign::CertifiedKey;
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
    use std::time::SystemTime;

    use gateward_certs::{Ca, CommonName, ServerNames, SystemKeys, TEN_YEARS};

    use super::*;

    fn issued() -> IssuedCertificate {
        let validity = Validity::starting(SystemTime::now(), TEN_YEARS).unwrap();
        let ca = Ca::new(&CommonName::new("test").unwrap(), validity, &SystemKeys).unwrap();
        ca.issue(&ServerNames::parse(["localhost"]).unwrap(), validity, &SystemKeys).unwrap()
    }

    #[test]
    fn refuses_what_does_not_go_together() {
        let (one, other) = (issued(), issued());
        let identity = |chain, issued: &IssuedCertificate| Identity::new(chain, issued.private_key().into());
        let chain = vec![one.certificate().clone()];
        assert_eq!(identity(chain.clone(), &one).unwrap().validity(), one.validity());
        assert_eq!(identity(chain, &other).unwrap_err(), IdentityError::KeyMismatch);
        assert_eq!(identity(Vec::new(), &one).unwrap_err(), IdentityError::NoCertificate);
        assert_eq!(identity(vec![vec![1].into()], &one).unwrap_err(), IdentityError::Unreadable);
        let key = PrivateKeyDer::Pkcs8(vec![1].into());
        assert_eq!(Identity::new(vec![one.certificate().clone()], key).unwrap_err(), IdentityError::NoKey);
    }

    #[test]
    fn an_empty_resolver_has_no_certificate() {
        let (resolver, issued) = (CertResolver::empty(), issued());
        assert_eq!(resolver.validity(), None);
        resolver.set(Identity::try_from(&issued).unwrap());
        assert_eq!(resolver.validity(), Some(issued.validity()));
    }

    #[test]
    fn debug_output_contains_no_key() {
        let text = format!("{:?}", Identity::try_from(&issued()).unwrap());
        assert!(!text.to_lowercase().contains("key"));
    }
}
