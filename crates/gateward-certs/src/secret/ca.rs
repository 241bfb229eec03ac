//! The CA in its Secret, or in the serving Secret, where the Go operator keeps its key.

use std::fmt;
use std::time::SystemTime;

use super::{CA_CRT, CA_KEY, FieldError, InvalidField, SecretData, TLS_CRT, TLS_KEY, starts_too_late};
use crate::ca::{Ca, CaError};
use crate::ca_bundle::CaBundle;
use crate::keys::PrivateKey;
use crate::timestamp;

/// The fields of a Secret that hold a CA.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CaFields {
    /// The field with the certificate, which may be among others.
    pub certificate: &'static str,
    /// The field with the private key.
    pub private_key: &'static str,
}

impl CaFields {
    /// In a Secret of the CA's own.
    pub const OWN: Self = Self { certificate: TLS_CRT, private_key: TLS_KEY };
    /// In the serving Secret, where the Go operator keeps it.
    pub const LEGACY: Self = Self { certificate: CA_CRT, private_key: CA_KEY };
}

/// The state of a CA in a Secret.
#[derive(Debug)]
pub enum CaState {
    /// It signs.
    Usable(Box<Ca>),
    /// It signs, but it is time for the next one.
    Expiring(Box<Ca>),
    /// Its time is over.
    Expired(Box<Ca>),
    /// Its time is still to come, by more than [`CLOCK_TOLERANCE`](super::CLOCK_TOLERANCE): a clock was wrong when it
    /// was made.
    NotYetValid(Box<Ca>),
    /// The private key is another certificate's.
    WrongKey,
    /// A field is missing or can't be used.
    Invalid(InvalidField),
    /// There is no Secret, or neither of the fields in it.
    Missing,
}

impl CaState {
    /// The state of the CA in some fields of a Secret, which `secret` names for messages.
    ///
    /// Where the present time isn't known, dates are not checked.
    pub fn of(data: Option<&SecretData>, secret: &str, fields: CaFields, now: Option<SystemTime>) -> Self {
        let CaFields { certificate, private_key } = fields;
        let Some(data) = data.filter(|data| data.has(certificate) || data.has(private_key)) else {
            return Self::Missing;
        };
        let damaged = |field, error| Self::Invalid(InvalidField::new(secret, field, error));
        let certificates = match data.certificates(certificate) {
            Ok(certificates) => certificates,
            Err(error) => return damaged(certificate, error),
        };
        let read = || {
            let key = data.private_key(private_key)?;
            key.key_pair()?;
            Ok(find(&certificates, &key)?)
        };
        match read() {
            Ok(ca) => Self::dated(Box::new(ca), now),
            Err(FieldError::Ca(CaError::WrongKey)) => Self::WrongKey,
            Err(error @ FieldError::Ca(_)) => damaged(certificate, error),
            Err(error) => damaged(private_key, error),
        }
    }

    /// The CA, if clients accept what it signs; also one that is to be replaced.
    pub fn usable(&self) -> Option<&Ca> {
        match self {
            Self::Usable(ca) | Self::Expiring(ca) => Some(ca),
            _ => None,
        }
    }

    fn dated(ca: Box<Ca>, now: Option<SystemTime>) -> Self {
        let validity = ca.validity();
        match now {
            Some(now) if validity.not_after() < now => Self::Expired(ca),
            Some(now) if starts_too_late(validity, now) => Self::NotYetValid(ca),
            Some(now) if validity.renewal_time() <= now => Self::Expiring(ca),
            _ => Self::Usable(ca),
        }
    }
}

impl fmt::Display for CaState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let until = |ca: &Ca| timestamp::rfc3339(ca.validity().not_after());
        match self {
            Self::Usable(ca) => write!(f, "usable, valid until {}", until(ca)),
            Self::Expiring(ca) => write!(f, "to be renewed, valid until {}", until(ca)),
            Self::Expired(ca) => write!(f, "expired at {}", until(ca)),
            Self::NotYetValid(ca) => {
                write!(f, "not valid before {}", timestamp::rfc3339(ca.validity().not_before()))
            }
            Self::WrongKey => f.write_str("its private key belongs to another certificate"),
            Self::Invalid(invalid) => invalid.fmt(f),
            Self::Missing => f.write_str("missing"),
        }
    }
}

/// The certificate that the key belongs to.
fn find(certificates: &CaBundle, key: &PrivateKey) -> Result<Ca, CaError> {
    let tried = certificates.iter().map(|anchor| Ca::from_parts(anchor.certificate().clone(), key.clone()));
    tried.reduce(|best, next| best.or_else(|why| better(why, next))).unwrap_or(Err(CaError::WrongKey))
}

/// The more specific error: that another certificate is no CA matters less than what is wrong with this one.
fn better(why: CaError, next: Result<Ca, CaError>) -> Result<Ca, CaError> {
    next.map_err(|other| if other == CaError::WrongKey { why } else { other })
}
