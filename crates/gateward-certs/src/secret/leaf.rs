//! The server's Secret.

use std::fmt;
use std::time::SystemTime;

use rustls_pki_types::{CertificateDer, ServerName};
use x509_parser::prelude::{FromDer as _, X509Certificate};

use super::{CERTIFICATE, Damage, Fault, PRIVATE_KEY, SecretData, TRUST, starts_too_late};
use crate::bundle::Bundle;
use crate::keys::PrivateKey;
use crate::names::ServerNames;
use crate::timestamp;
use crate::validity::Validity;

/// A server's certificate chain, leaf first, with the leaf's private key: what a listener can show.
#[derive(Debug, Clone)]
pub struct TlsPair {
    chain: Bundle,
    leaf: CertificateDer<'static>,
    key: PrivateKey,
    validity: Validity,
}

impl TlsPair {
    /// Reads chain and key from a Secret, which `secret` names for messages. Who signed, and when, is not looked at.
    pub fn read(data: &SecretData, secret: &str) -> Result<Self, Damage> {
        let damaged = |field, fault| Damage::new(secret, field, fault);
        let chain = certificates(data, CERTIFICATE).map_err(|fault| damaged(CERTIFICATE, fault))?;
        let key = private_key(data).map_err(|fault| damaged(PRIVATE_KEY, fault))?;
        let leaf = chain.iter().next().ok_or_else(|| damaged(CERTIFICATE, Fault::Absent))?.clone();
        if !key.belongs_to(leaf.certificate()).map_err(|why| damaged(PRIVATE_KEY, why.into()))? {
            return Err(damaged(PRIVATE_KEY, Fault::WrongKey));
        }
        if !is_for_servers(leaf.certificate()) {
            return Err(damaged(CERTIFICATE, Fault::NotForServers));
        }
        Ok(Self { leaf: leaf.certificate().clone(), validity: leaf.validity(), chain, key })
    }

    /// The server's own certificate.
    pub fn certificate(&self) -> &CertificateDer<'static> {
        &self.leaf
    }

    /// The chain, leaf first.
    pub fn chain(&self) -> Vec<CertificateDer<'static>> {
        self.chain.iter().map(|certificate| certificate.certificate().clone()).collect()
    }

    /// The leaf's private key.
    pub fn private_key(&self) -> &PrivateKey {
        &self.key
    }

    /// From when to when the leaf is valid.
    pub fn validity(&self) -> Validity {
        self.validity
    }
}

/// What a server's Secret is measured by.
#[derive(Debug, Clone, Copy)]
pub struct LeafRules<'a> {
    /// The Secret, as `namespace/name`: for messages.
    pub secret: &'a str,
    /// The names that the certificate has to carry. It may carry more.
    pub names: &'a ServerNames,
    /// The authorities of which one has to have signed the certificate.
    pub trusted: &'a Bundle,
    /// The present time; where it isn't known, dates are not judged.
    pub now: Option<SystemTime>,
}

/// What a server's Secret is worth. Of several faults the gravest is told.
#[derive(Debug, Clone)]
pub enum LeafState {
    /// Nothing is to be done.
    Complete(TlsPair),
    /// It is time for the next certificate, or past it.
    Expiring(TlsPair),
    /// The certificate doesn't carry these of the wanted names.
    LacksNames(TlsPair, Vec<ServerName<'static>>),
    /// The certificate's time is still to come, by more than [`CLOCK_TOLERANCE`](super::CLOCK_TOLERANCE): a clock was wrong when it was made.
    NotYetValid(TlsPair),
    /// None of the trusted authorities signed the certificate.
    NotSignedByCa(TlsPair),
    /// The private key is another certificate's.
    WrongKey,
    /// A field is missing or can't be used.
    Damaged(Damage),
    /// There is no Secret.
    Missing,
}

impl LeafState {
    /// Judges a Secret; `None` is one that doesn't exist.
    pub fn of(data: Option<&SecretData>, rules: &LeafRules<'_>) -> Self {
        let Some(data) = data else { return Self::Missing };
        match TlsPair::read(data, rules.secret) {
            Ok(pair) => Self::judged(pair, data, rules),
            Err(Damage { fault: Fault::WrongKey, .. }) => Self::WrongKey,
            Err(damage) => Self::Damaged(damage),
        }
    }

    /// What a listener can show meanwhile: also a certificate that is to be replaced is one.
    pub fn pair(&self) -> Option<&TlsPair> {
        match self {
            Self::Complete(pair)
            | Self::Expiring(pair)
            | Self::LacksNames(pair, _)
            | Self::NotYetValid(pair)
            | Self::NotSignedByCa(pair) => Some(pair),
            Self::WrongKey | Self::Damaged(_) | Self::Missing => None,
        }
    }

    /// Whether one of the trusted authorities signed what is there.
    pub fn is_signed_by_ca(&self) -> bool {
        matches!(self, Self::Complete(_) | Self::Expiring(_) | Self::LacksNames(..) | Self::NotYetValid(_))
    }

    fn judged(pair: TlsPair, data: &SecretData, rules: &LeafRules<'_>) -> Self {
        let damaged = |fault| Self::Damaged(Damage::new(rules.secret, TRUST, fault));
        let Some(signer) = rules.trusted.signer_of(pair.certificate()) else { return Self::NotSignedByCa(pair) };
        match certificates(data, TRUST) {
            Ok(trust) if trust.contains(signer) => Self::dated_and_named(pair, rules),
            Ok(_) => damaged(Fault::SignerAbsent),
            Err(fault) => damaged(fault),
        }
    }

    fn dated_and_named(pair: TlsPair, rules: &LeafRules<'_>) -> Self {
        let validity = pair.validity;
        if rules.now.is_some_and(|now| starts_too_late(validity, now)) {
            return Self::NotYetValid(pair);
        }
        let carried = ServerNames::carried_by(&pair.leaf);
        let lacking: Vec<_> = rules.names.iter().filter(|name| !carried.contains(name)).cloned().collect();
        if !lacking.is_empty() {
            return Self::LacksNames(pair, lacking);
        }
        if rules.now.is_some_and(|now| validity.renewal() <= now) { Self::Expiring(pair) } else { Self::Complete(pair) }
    }
}

impl fmt::Display for LeafState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let until = |pair: &TlsPair| timestamp::rfc3339(pair.validity.not_after());
        match self {
            Self::Complete(pair) => write!(f, "complete, valid until {}", until(pair)),
            Self::Expiring(pair) => write!(f, "to be renewed, valid until {}", until(pair)),
            Self::LacksNames(_, names) => {
                let names: Vec<_> = names.iter().map(ServerName::to_str).collect();
                write!(f, "lacks the names {}", names.join(", "))
            }
            Self::NotYetValid(pair) => {
                write!(f, "not valid before {}", timestamp::rfc3339(pair.validity.not_before()))
            }
            Self::NotSignedByCa(_) => f.write_str("signed by another authority than the present one"),
            Self::WrongKey => f.write_str("its private key belongs to another certificate"),
            Self::Damaged(damage) => damage.fmt(f),
            Self::Missing => f.write_str("missing"),
        }
    }
}

fn certificates(data: &SecretData, field: &'static str) -> Result<Bundle, Fault> {
    Ok(Bundle::parse(data.field(field).ok_or(Fault::Absent)?)?)
}

fn private_key(data: &SecretData) -> Result<PrivateKey, Fault> {
    Ok(PrivateKey::from_pem(data.field(PRIVATE_KEY).ok_or(Fault::Absent)?)?)
}

/// Without the extension a certificate is for everything.
fn is_for_servers(certificate: &CertificateDer<'_>) -> bool {
    let Ok((_, certificate)) = X509Certificate::from_der(certificate) else { return false };
    let usage = certificate.extended_key_usage();
    usage.is_ok_and(|usage| usage.is_none_or(|usage| usage.value.any || usage.value.server_auth))
}
