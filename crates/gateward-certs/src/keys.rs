//! Where private keys come from.

use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256};
use rustls_pki_types::PrivatePkcs8KeyDer;

/// Makes private keys: the only randomness that issuing needs, so a test can hand out keys of its own.
pub trait KeySource {
    /// A fresh ECDSA key on the curve P-256, as PKCS#8.
    ///
    /// Each call gives another key: the serial number of a certificate is derived from its key.
    fn private_key(&self) -> Result<PrivatePkcs8KeyDer<'static>, KeyError>;
}

/// Keys from the random source of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemKeys;

impl KeySource for SystemKeys {
    fn private_key(&self) -> Result<PrivatePkcs8KeyDer<'static>, KeyError> {
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(|_| KeyError::Unavailable)?;
        Ok(key.serialize_der().into())
    }
}

/// Why there is no key to work with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The source could not make a key.
    #[error("the key source could not make a private key")]
    Unavailable,
    /// The source gave something else than an ECDSA P-256 key in PKCS#8.
    #[error("the key source gave no ECDSA P-256 key in PKCS#8")]
    Unreadable,
}

/// Reads what a source gave.
pub(crate) fn key_pair(der: &PrivatePkcs8KeyDer<'_>) -> Result<KeyPair, KeyError> {
    KeyPair::from_pkcs8_der_and_sign_algo(der, &PKCS_ECDSA_P256_SHA256).map_err(|_| KeyError::Unreadable)
}
