//! Private keys: where new ones come from, and reading those that others wrote.

use std::fmt;

use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_RSA_SHA256, PublicKeyData as _, RsaKeySize};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use x509_parser::prelude::{FromDer as _, X509Certificate};

use crate::pem;

/// Makes private keys: the only randomness that issuing needs, so a test can hand out keys of its own.
pub trait KeySource {
    /// A fresh key, as PKCS#8.
    ///
    /// Each call gives another key: the serial number of a certificate is derived from its key.
    fn private_key(&self) -> Result<PrivatePkcs8KeyDer<'static>, KeyError>;
}

/// ECDSA keys on the curve P-256, from the random source of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemKeys;

impl KeySource for SystemKeys {
    fn private_key(&self) -> Result<PrivatePkcs8KeyDer<'static>, KeyError> {
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(|_| KeyError::Unavailable)?;
        Ok(key.serialize_der().into())
    }
}

/// RSA keys of 3072 bits, from the random source of the operating system: for clients that take no ECDSA.
///
/// Making one takes hundreds of milliseconds.
#[derive(Debug, Clone, Copy, Default)]
pub struct RsaKeys;

impl KeySource for RsaKeys {
    fn private_key(&self) -> Result<PrivatePkcs8KeyDer<'static>, KeyError> {
        let key = KeyPair::generate_rsa_for(&PKCS_RSA_SHA256, RsaKeySize::_3072);
        let key = key.map_err(|_| KeyError::Unavailable)?;
        Ok(key.serialize_der().into())
    }
}

/// A private key as it was read, in the encoding that it came in: PKCS#1, PKCS#8 or SEC 1.
///
/// ```
/// use gateward_certs::{KeySource, PrivateKey, SystemKeys};
///
/// let key = PrivateKey::from(SystemKeys.private_key()?);
/// let again = PrivateKey::from_pem(key.to_pem().as_bytes())?;
/// assert_eq!(again.to_pem(), key.to_pem());
/// # Ok::<(), gateward_certs::KeyError>(())
/// ```
pub struct PrivateKey(PrivateKeyDer<'static>);

impl PrivateKey {
    /// Reads the first private key of a PEM text.
    pub fn from_pem(text: &[u8]) -> Result<Self, KeyError> {
        if text.len() > pem::LONGEST {
            return Err(KeyError::NoKey);
        }
        let key = pem::sections(text).find_map(|section| PrivateKeyDer::from_pem_slice(section).ok());
        key.map(Self).ok_or(KeyError::NoKey)
    }

    /// The key as PEM, labelled by its encoding.
    pub fn to_pem(&self) -> String {
        let label = match self.0 {
            PrivateKeyDer::Pkcs1(_) => "RSA PRIVATE KEY",
            PrivateKeyDer::Sec1(_) => "EC PRIVATE KEY",
            _ => "PRIVATE KEY",
        };
        pem::encode(label, self.0.secret_der())
    }

    /// The key as a TLS library takes it.
    pub fn to_der(&self) -> PrivateKeyDer<'static> {
        self.0.clone_key()
    }

    /// Whether this is the key that a certificate was made for.
    ///
    /// An error is a key that can't be used at all.
    pub fn belongs_to(&self, certificate: &CertificateDer<'_>) -> Result<bool, KeyError> {
        let public = self.key_pair()?;
        let Ok((_, certificate)) = X509Certificate::from_der(certificate) else { return Ok(false) };
        Ok(certificate.public_key().subject_public_key.data.as_ref() == public.der_bytes())
    }

    pub(crate) fn key_pair(&self) -> Result<KeyPair, KeyError> {
        KeyPair::try_from(&self.0).map_err(|_| KeyError::Unreadable)
    }
}

impl From<PrivatePkcs8KeyDer<'static>> for PrivateKey {
    fn from(key: PrivatePkcs8KeyDer<'static>) -> Self {
        Self(key.into())
    }
}

impl Clone for PrivateKey {
    fn clone(&self) -> Self {
        Self(self.to_der())
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PrivateKey")
    }
}

/// Why there is no key to work with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The source could not make a key.
    #[error("the key source could not make a private key")]
    Unavailable,
    /// A text holds no private key.
    #[error("no private key in PEM: it takes PKCS#1, PKCS#8 or SEC 1, not encrypted")]
    NoKey,
    /// The key is damaged, or of a kind that can't sign here.
    #[error("the private key is damaged or of another kind than ECDSA, Ed25519 and RSA from 2048 bits on")]
    Unreadable,
}
