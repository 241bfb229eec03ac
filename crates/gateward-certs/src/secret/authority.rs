//! The authority's Secret, and the old place of its key.

use std::fmt;
use std::time::SystemTime;

use super::{
    CERTIFICATE, Damage, Fault, OLD_PLACE_OF_THE_AUTHORITYS_KEY, PRIVATE_KEY, SecretData, TRUST, starts_too_late,
};
use crate::authority::{Authority, AuthorityError};
use crate::bundle::Bundle;
use crate::keys::PrivateKey;
use crate::timestamp;

/// In which fields of a Secret an authority stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuthorityFields {
    /// The field with the certificate, which may stand among others.
    pub certificate: &'static str,
    /// The field with the private key.
    pub private_key: &'static str,
}

impl AuthorityFields {
    /// In a Secret of the authority's own.
    pub const OWN: Self = Self { certificate: CERTIFICATE, private_key: PRIVATE_KEY };
    /// In the server's Secret, where others keep it.
    pub const OLD_PLACE: Self = Self { certificate: TRUST, private_key: OLD_PLACE_OF_THE_AUTHORITYS_KEY };
}

/// What an authority in a Secret is worth.
#[derive(Debug)]
pub enum AuthorityState {
    /// It signs.
    Usable(Box<Authority>),
    /// It signs, but it is time for the next one.
    Expiring(Box<Authority>),
    /// Its time is over.
    Expired(Box<Authority>),
    /// Its time is still to come, by more than [`CLOCK_TOLERANCE`](super::CLOCK_TOLERANCE): a clock was wrong when it was made.
    NotYetValid(Box<Authority>),
    /// The private key is another certificate's.
    WrongKey,
    /// A field is missing or can't be used.
    Damaged(Damage),
    /// There is no Secret, or neither of the fields in it.
    Missing,
}

impl AuthorityState {
    /// Judges the authority in some fields of a Secret, which `secret` names for messages.
    ///
    /// Where the present time isn't known, dates are not judged.
    pub fn of(data: Option<&SecretData>, secret: &str, fields: AuthorityFields, now: Option<SystemTime>) -> Self {
        let AuthorityFields { certificate, private_key } = fields;
        let Some(data) = data.filter(|data| data.has(certificate) || data.has(private_key)) else {
            return Self::Missing;
        };
        let damaged = |field, fault| Self::Damaged(Damage::new(secret, field, fault));
        let certificates = match certificates(data, certificate) {
            Ok(certificates) => certificates,
            Err(fault) => return damaged(certificate, fault),
        };
        match key(data, private_key).and_then(|key| Ok(find(&certificates, &key)?)) {
            Ok(authority) => Self::dated(Box::new(authority), now),
            Err(Fault::Authority(AuthorityError::WrongKey)) => Self::WrongKey,
            Err(fault @ Fault::Authority(_)) => damaged(certificate, fault),
            Err(fault) => damaged(private_key, fault),
        }
    }

    /// The authority, if it can sign what clients take: also one that is to be replaced.
    pub fn usable(&self) -> Option<&Authority> {
        match self {
            Self::Usable(authority) | Self::Expiring(authority) => Some(authority),
            _ => None,
        }
    }

    fn dated(authority: Box<Authority>, now: Option<SystemTime>) -> Self {
        let validity = authority.validity();
        match now {
            Some(now) if validity.not_after() < now => Self::Expired(authority),
            Some(now) if starts_too_late(validity, now) => Self::NotYetValid(authority),
            Some(now) if validity.renewal() <= now => Self::Expiring(authority),
            _ => Self::Usable(authority),
        }
    }
}

impl fmt::Display for AuthorityState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let until = |authority: &Authority| timestamp::rfc3339(authority.validity().not_after());
        match self {
            Self::Usable(authority) => write!(f, "usable, valid until {}", until(authority)),
            Self::Expiring(authority) => write!(f, "to be renewed, valid until {}", until(authority)),
            Self::Expired(authority) => write!(f, "expired at {}", until(authority)),
            Self::NotYetValid(authority) => {
                write!(f, "not valid before {}", timestamp::rfc3339(authority.validity().not_before()))
            }
            Self::WrongKey => f.write_str("its private key belongs to another certificate"),
            Self::Damaged(damage) => damage.fmt(f),
            Self::Missing => f.write_str("missing"),
        }
    }
}

fn certificates(data: &SecretData, field: &'static str) -> Result<Bundle, Fault> {
    Ok(Bundle::parse(data.field(field).ok_or(Fault::Absent)?)?)
}

fn key(data: &SecretData, field: &'static str) -> Result<PrivateKey, Fault> {
    let key = PrivateKey::from_pem(data.field(field).ok_or(Fault::Absent)?)?;
    key.key_pair()?;
    Ok(key)
}

/// The one of some certificates that the key belongs to.
fn find(certificates: &Bundle, key: &PrivateKey) -> Result<Authority, AuthorityError> {
    let tried = certificates.iter().map(|anchor| Authority::from_parts(anchor.certificate().clone(), key.clone()));
    tried.reduce(|best, next| best.or_else(|why| better(why, next))).unwrap_or(Err(AuthorityError::WrongKey))
}

/// The reason that tells more: that another certificate is no authority matters less than what is wrong with this one.
fn better(why: AuthorityError, next: Result<Authority, AuthorityError>) -> Result<Authority, AuthorityError> {
    next.map_err(|other| if other == AuthorityError::WrongKey { why } else { other })
}
