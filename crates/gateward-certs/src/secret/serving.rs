//! The serving Secret.

use std::fmt;
use std::time::SystemTime;

use rustls_pki_types::{CertificateDer, ServerName};
use x509_parser::prelude::{FromDer as _, X509Certificate};

use super::{CA_CRT, FieldError, InvalidField, SecretData, TLS_CRT, TLS_KEY, starts_too_late};
use crate::ca_bundle::CaBundle;
use crate::keys::PrivateKey;
use crate::names::ServerNames;
use crate::timestamp;
use crate::validity::Validity;

/// A serving certificate: its chain, end-entity certificate first, and its private key.
#[derive(Debug, Clone)]
pub struct ServingCertificate {
    chain: CaBundle,
    end_entity: CertificateDer<'static>,
    key: PrivateKey,
    validity: Validity,
}

impl ServingCertificate {
    /// Reads chain and key from a Secret, which `secret` names for messages. Who signed, and when, is not looked at.
    pub fn read(data: &SecretData, secret: &str) -> Result<Self, InvalidField> {
        let damaged = |field, error| InvalidField::new(secret, field, error);
        let chain = data.certificates(TLS_CRT).map_err(|error| damaged(TLS_CRT, error))?;
        let key = data.private_key(TLS_KEY).map_err(|error| damaged(TLS_KEY, error))?;
        let end_entity = chain.iter().next().ok_or_else(|| damaged(TLS_CRT, FieldError::Absent))?.clone();
        if !key.belongs_to(end_entity.certificate()).map_err(|why| damaged(TLS_KEY, why.into()))? {
            return Err(damaged(TLS_KEY, FieldError::WrongKey));
        }
        if !is_for_servers(end_entity.certificate()) {
            return Err(damaged(TLS_CRT, FieldError::NotForServers));
        }
        Ok(Self { end_entity: end_entity.certificate().clone(), validity: end_entity.validity(), chain, key })
    }

    /// The end-entity certificate.
    pub fn end_entity(&self) -> &CertificateDer<'static> {
        &self.end_entity
    }

    /// The chain, end-entity certificate first.
    pub fn chain(&self) -> Vec<CertificateDer<'static>> {
        self.chain.iter().map(|certificate| certificate.certificate().clone()).collect()
    }

    /// The private key.
    pub fn private_key(&self) -> &PrivateKey {
        &self.key
    }

    /// The validity of the end-entity certificate.
    pub fn validity(&self) -> Validity {
        self.validity
    }
}

/// What a serving Secret has to fulfil.
#[derive(Debug, Clone, Copy)]
pub struct ServingCertificateRules<'a> {
    /// The Secret, as `namespace/name`: for messages.
    pub secret: &'a str,
    /// The names that the certificate has to have. It may have more.
    pub names: &'a ServerNames,
    /// The CAs of which one has to have signed the certificate.
    pub trusted: &'a CaBundle,
    /// The present time; where it isn't known, dates are not checked.
    pub now: Option<SystemTime>,
}

/// The state of a serving Secret: of several faults, the gravest.
#[derive(Debug, Clone)]
pub enum ServingCertificateState {
    /// Nothing is to be done.
    Complete(ServingCertificate),
    /// It is time for the next certificate, or past it.
    Expiring(ServingCertificate),
    /// The certificate lacks these names.
    LacksNames(ServingCertificate, Vec<ServerName<'static>>),
    /// The certificate's time is still to come, by more than [`CLOCK_TOLERANCE`](super::CLOCK_TOLERANCE): a clock was
    /// wrong when it was made.
    NotYetValid(ServingCertificate),
    /// None of the trusted CAs signed the certificate.
    NotSignedByCa(ServingCertificate),
    /// The private key is another certificate's.
    WrongKey,
    /// A field is missing or can't be used.
    Invalid(InvalidField),
    /// There is no Secret.
    Missing,
}

impl ServingCertificateState {
    /// The state of a Secret; `None` is one that doesn't exist.
    pub fn of(data: Option<&SecretData>, rules: &ServingCertificateRules<'_>) -> Self {
        let Some(data) = data else { return Self::Missing };
        match ServingCertificate::read(data, rules.secret) {
            Ok(certificate) => Self::judged(certificate, data, rules),
            Err(InvalidField { error: FieldError::WrongKey, .. }) => Self::WrongKey,
            Err(invalid) => Self::Invalid(invalid),
        }
    }

    /// The certificate to serve meanwhile, also one that is to be replaced.
    pub fn certificate(&self) -> Option<&ServingCertificate> {
        match self {
            Self::Complete(certificate)
            | Self::Expiring(certificate)
            | Self::LacksNames(certificate, _)
            | Self::NotYetValid(certificate)
            | Self::NotSignedByCa(certificate) => Some(certificate),
            Self::WrongKey | Self::Invalid(_) | Self::Missing => None,
        }
    }

    /// Whether one of the trusted CAs signed what is there.
    pub fn is_signed_by_ca(&self) -> bool {
        matches!(self, Self::Complete(_) | Self::Expiring(_) | Self::LacksNames(..) | Self::NotYetValid(_))
    }

    fn judged(certificate: ServingCertificate, data: &SecretData, rules: &ServingCertificateRules<'_>) -> Self {
        let damaged = |error| Self::Invalid(InvalidField::new(rules.secret, CA_CRT, error));
        let Some(signer) = rules.trusted.signer_of(certificate.end_entity()) else {
            return Self::NotSignedByCa(certificate);
        };
        match data.certificates(CA_CRT) {
            Ok(trust) if trust.contains(signer) => Self::dated_and_named(certificate, rules),
            Ok(_) => damaged(FieldError::SignerAbsent),
            Err(error) => damaged(error),
        }
    }

    fn dated_and_named(certificate: ServingCertificate, rules: &ServingCertificateRules<'_>) -> Self {
        let validity = certificate.validity;
        if rules.now.is_some_and(|now| starts_too_late(validity, now)) {
            return Self::NotYetValid(certificate);
        }
        let carried = ServerNames::of_certificate(&certificate.end_entity);
        let lacking: Vec<_> = rules.names.iter().filter(|name| !carried.contains(name)).cloned().collect();
        if !lacking.is_empty() {
            return Self::LacksNames(certificate, lacking);
        }
        if rules.now.is_some_and(|now| validity.renewal_time() <= now) {
            Self::Expiring(certificate)
        } else {
            Self::Complete(certificate)
        }
    }
}

impl fmt::Display for ServingCertificateState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let until = |certificate: &ServingCertificate| timestamp::rfc3339(certificate.validity.not_after());
        match self {
            Self::Complete(certificate) => write!(f, "complete, valid until {}", until(certificate)),
            Self::Expiring(certificate) => write!(f, "to be renewed, valid until {}", until(certificate)),
            Self::LacksNames(_, names) => {
                let names: Vec<_> = names.iter().map(ServerName::to_str).collect();
                write!(f, "lacks the names {}", names.join(", "))
            }
            Self::NotYetValid(certificate) => {
                write!(f, "not valid before {}", timestamp::rfc3339(certificate.validity.not_before()))
            }
            Self::NotSignedByCa(_) => f.write_str("signed by another CA than the present one"),
            Self::WrongKey => f.write_str("its private key belongs to another certificate"),
            Self::Invalid(invalid) => invalid.fmt(f),
            Self::Missing => f.write_str("missing"),
        }
    }
}

/// Without the extension a certificate is for everything.
pub(crate) fn is_for_servers(certificate: &CertificateDer<'_>) -> bool {
    let Ok((_, certificate)) = X509Certificate::from_der(certificate) else { return false };
    let usage = certificate.extended_key_usage();
    usage.is_ok_and(|usage| usage.is_none_or(|usage| usage.value.any || usage.value.server_auth))
}
