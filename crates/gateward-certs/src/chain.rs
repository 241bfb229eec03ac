//! The chain of a serving certificate: whether clients accept it, and what is wrong with one that others made.

use std::fmt;
use std::time::SystemTime;

use rustls_pki_types::{CertificateDer, ServerName};
use x509_parser::prelude::{FromDer as _, X509Certificate};

use crate::ca_bundle::{CaBundle, TrustAnchor};
use crate::names::ServerNames;
use crate::secret::{CA_CRT, CLOCK_TOLERANCE, FieldError, SecretData, TLS_CRT, TLS_KEY, is_for_servers};
use crate::timestamp::rfc3339;
use crate::validity::Validity;

/// No chain is longer; each certificate costs as many verifications as there are others.
const LONGEST: usize = 10;
/// So many names of a certificate are shown.
const SHOWN: usize = 10;

impl CaBundle {
    /// Whether a client with this bundle accepts a chain as a server sends it, the end-entity certificate first. The
    /// others may come in any order. Where the present time is given, each certificate on the way has to be valid.
    pub fn verifies_chain(&self, chain: &[CertificateDer<'static>], now: Option<SystemTime>) -> bool {
        let valid = |validity: Validity| now.is_none_or(|now| validity.contains(now));
        let Some((end_entity, others)) = chain.split_first() else { return false };
        if !Validity::of(end_entity).is_ok_and(valid) {
            return false;
        }
        let anchors = self.filtered(|anchor| valid(anchor.validity()));
        let others = others.iter().take(LONGEST).filter_map(|other| TrustAnchor::new(other.clone()).ok());
        let mut unreached: Vec<_> = others.filter(|other| valid(other.validity())).collect();
        let mut reached = vec![end_entity.clone()];
        while let Some(certificate) = reached.pop() {
            if anchors.verifies(&certificate) {
                return true;
            }
            let signed = |other: &mut TrustAnchor| other.signed(&certificate);
            reached.extend(unreached.extract_if(.., signed).map(|signer| signer.certificate().clone()));
        }
        false
    }
}

/// What API servers need of a serving Secret that others write.
#[derive(Debug, Clone, Copy)]
pub struct ChainRules<'a> {
    /// The Secret, as `namespace/name`: for messages.
    pub secret: &'a str,
    /// The name by which API servers call.
    pub name: &'a ServerName<'static>,
    /// The CAs that clients trust, or are to trust.
    pub trusted: &'a CaBundle,
    /// The present time.
    pub now: SystemTime,
}

/// A fault of a serving Secret that others write, for people: one sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainFault {
    /// The Secret, as `namespace/name`.
    pub secret: String,
    /// The fault.
    pub kind: ChainFaultKind,
}

/// What is wrong with a serving Secret that others write. Certificates of a chain count from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChainFaultKind {
    /// There is no Secret.
    NoSecret,
    /// A field is missing or can't be read.
    Field(&'static str, FieldError),
    /// The private key is that of none of the certificates.
    WrongKey,
    /// The private key is that of another certificate than the first.
    WrongOrder {
        /// Which one.
        position: usize,
    },
    /// A certificate stands before the one that it signed, or after one that it has nothing to do with.
    Unordered {
        /// Which one.
        position: usize,
    },
    /// The certificate lacks the name by which API servers call.
    LacksName {
        /// That name.
        name: String,
        /// The names that it has.
        present: Vec<String>,
    },
    /// The certificate has expired.
    Expired(SystemTime),
    /// The certificate is not valid yet.
    NotYetValid(SystemTime),
    /// An intermediate certificate has expired.
    ExpiredIntermediate {
        /// Which one.
        position: usize,
        /// When.
        at: SystemTime,
    },
    /// The certificate signed itself.
    OwnCa,
    /// The trusted CAs don't verify the chain.
    NotVerified {
        /// The fingerprints of the trusted CAs, shortened.
        trusted: Vec<String>,
    },
    /// `ca.crt` holds CAs that clients don't trust.
    UntrustedCa {
        /// Their fingerprints, shortened.
        untrusted: Vec<String>,
    },
    /// The certificate is valid for longer than what signed it.
    OutlivesCa(SystemTime),
}

impl ChainFault {
    /// Whether API servers refuse a certificate for this reason, whichever CAs they trust.
    pub fn is_refused(&self) -> bool {
        use ChainFaultKind::{
            Expired, ExpiredIntermediate, Field, LacksName, NoSecret, NotYetValid, WrongKey, WrongOrder,
        };
        match self.kind {
            Field(field, _) => field != CA_CRT,
            NoSecret
            | WrongKey
            | WrongOrder { .. }
            | LacksName { .. }
            | Expired(_)
            | NotYetValid(_)
            | ExpiredIntermediate { .. } => true,
            _ => false,
        }
    }
}

/// What is wrong with a serving Secret that others write; `None` is one that doesn't exist.
pub fn chain_faults(data: Option<&SecretData>, rules: &ChainRules<'_>) -> Vec<ChainFault> {
    let kinds = match data {
        None => vec![ChainFaultKind::NoSecret],
        Some(data) => match pair_faults(data, rules) {
            Ok(kinds) => kinds,
            Err(kind) => vec![kind],
        },
    };
    kinds.into_iter().map(|kind| ChainFault { secret: rules.secret.to_owned(), kind }).collect()
}

fn pair_faults(data: &SecretData, rules: &ChainRules<'_>) -> Result<Vec<ChainFaultKind>, ChainFaultKind> {
    let field = |field, error: FieldError| ChainFaultKind::Field(field, error);
    let chain = data.certificates(TLS_CRT).map_err(|error| field(TLS_CRT, error))?;
    let key = data.private_key(TLS_KEY).map_err(|error| field(TLS_KEY, error))?;
    let mut owner = None;
    for (at, certificate) in chain.iter().take(LONGEST).enumerate() {
        if key.belongs_to(certificate.certificate()).map_err(|why| field(TLS_KEY, why.into()))? {
            owner = Some(at);
            break;
        }
    }
    match owner {
        None => return Err(ChainFaultKind::WrongKey),
        Some(0) => {}
        Some(at) => return Err(ChainFaultKind::WrongOrder { position: at + 1 }),
    }
    let Some(first) = chain.iter().next() else { return Err(field(TLS_CRT, FieldError::Absent)) };
    if !is_for_servers(first.certificate()) {
        return Err(field(TLS_CRT, FieldError::NotForServers));
    }
    let ca_crt = match data.field(CA_CRT).map(CaBundle::parse).transpose() {
        Ok(ca_crt) => ca_crt.unwrap_or_default(),
        Err(error) => return Ok(vec![field(CA_CRT, error.into())]),
    };
    let mut kinds = certificate_faults(first, rules);
    kinds.extend(intermediate_faults(&chain, rules.now));
    kinds.extend(trust_faults(&chain, &ca_crt, rules));
    Ok(kinds)
}

/// What is wrong with the end-entity certificate by itself.
fn certificate_faults(first: &TrustAnchor, rules: &ChainRules<'_>) -> Vec<ChainFaultKind> {
    let (present, name) = (ServerNames::texts_of_certificate(first.certificate()), rules.name.to_str());
    let mut kinds = Vec::new();
    if !covers(&present, &name) {
        let present = present.into_iter().take(SHOWN).collect();
        kinds.push(ChainFaultKind::LacksName { name: name.into_owned(), present });
    }
    let validity = first.validity();
    if validity.not_after() < rules.now {
        kinds.push(ChainFaultKind::Expired(validity.not_after()));
    } else if validity.not_before() > rules.now + CLOCK_TOLERANCE {
        kinds.push(ChainFaultKind::NotYetValid(validity.not_before()));
    }
    if signed_itself(first.certificate()) {
        kinds.push(ChainFaultKind::OwnCa);
    }
    kinds
}

fn intermediate_faults(chain: &CaBundle, now: SystemTime) -> Option<ChainFaultKind> {
    let certificates: Vec<_> = chain.iter().take(LONGEST).collect();
    let expired = certificates.iter().enumerate().skip(1).find(|(_, it)| it.validity().not_after() < now);
    if let Some((at, certificate)) = expired {
        return Some(ChainFaultKind::ExpiredIntermediate { position: at + 1, at: certificate.validity().not_after() });
    }
    let unordered = certificates.windows(2).position(|pair| !pair[1].signed(pair[0].certificate()))?;
    Some(ChainFaultKind::Unordered { position: unordered + 2 })
}

fn trust_faults(chain: &CaBundle, ca_crt: &CaBundle, rules: &ChainRules<'_>) -> Vec<ChainFaultKind> {
    let certificates: Vec<_> = chain.iter().map(|certificate| certificate.certificate().clone()).collect();
    let short = |bundle: &CaBundle| bundle.iter().map(|anchor| anchor.fingerprint().short()).collect();
    let mut kinds = Vec::new();
    if !rules.trusted.verifies_chain(&certificates, None) {
        kinds.push(ChainFaultKind::NotVerified { trusted: short(rules.trusted) });
    } else if let Some(end) = chain.iter().next().map(|first| first.validity().not_after())
        && !rules.trusted.verifies_chain(&certificates, Some(end))
    {
        kinds.push(ChainFaultKind::OutlivesCa(end));
    }
    let untrusted = ca_crt.filtered(|anchor| !rules.trusted.contains(anchor));
    if !untrusted.is_empty() {
        kinds.push(ChainFaultKind::UntrustedCa { untrusted: short(&untrusted) });
    }
    kinds
}

/// Whether a name is among those of a certificate, of which one may begin with a wildcard.
fn covers(present: &[String], name: &str) -> bool {
    let parent = name.split_once('.').map(|(_, parent)| parent);
    let by_wildcard = |present: &String| present.strip_prefix("*.").is_some_and(|rest| Some(rest) == parent);
    present.iter().any(|present| present == name || by_wildcard(present))
}

fn signed_itself(certificate: &CertificateDer<'_>) -> bool {
    let Ok((_, parsed)) = X509Certificate::from_der(certificate) else { return false };
    parsed.issuer().as_raw() == parsed.subject().as_raw() && parsed.verify_signature(None).is_ok()
}

impl fmt::Display for ChainFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret {}", self.secret)?;
        self.kind.fmt(f)
    }
}

impl fmt::Display for ChainFaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSecret => f.write_str(" is not there; it needs tls.crt, tls.key and ca.crt"),
            Self::Field(field, error) => write!(f, ", field {field}: {error}"),
            Self::WrongKey => f.write_str(": tls.key belongs to no certificate of tls.crt; put a matching pair there"),
            Self::WrongOrder { position } => write!(
                f,
                ": tls.key belongs to certificate {position} of tls.crt; put that one first, and each signer after the \
                 certificate that it signed"
            ),
            Self::Unordered { position } => write!(
                f,
                ": certificate {position} of tls.crt did not sign the one before it; put each signer after the \
                 certificate that it signed"
            ),
            Self::LacksName { name, present } if present.is_empty() => {
                write!(f, ": the certificate lacks the name {name}, by which API servers call; it has no names")
            }
            Self::LacksName { name, present } => write!(
                f,
                ": the certificate lacks the name {name}, by which API servers call; it has {}",
                present.join(", ")
            ),
            Self::Expired(at) => write!(f, ": the certificate expired at {}; replace it", rfc3339(*at)),
            Self::NotYetValid(from) => write!(f, ": the certificate is not valid before {}", rfc3339(*from)),
            Self::ExpiredIntermediate { position, at } => write!(
                f,
                ": certificate {position} of tls.crt, an intermediate CA, expired at {}; put its successor there",
                rfc3339(*at)
            ),
            Self::OwnCa => f.write_str(
                ": the certificate is its own CA, so that each renewal needs another caBundle everywhere; have a CA sign \
                 it",
            ),
            Self::NotVerified { trusted } if trusted.is_empty() => {
                f.write_str(" names no CA in ca.crt, and webhook.caBundle is empty: no client can trust the certificate")
            }
            Self::NotVerified { trusted } => write!(
                f,
                ": the chain in tls.crt leads to none of the CAs that clients are to trust ({}); set webhook.caBundle to \
                 the CA that signed it, or put the intermediate CAs into tls.crt",
                trusted.join(", ")
            ),
            Self::UntrustedCa { untrusted } => write!(
                f,
                ": ca.crt names CAs that webhook.caBundle lacks ({}); they differ until it has them",
                untrusted.join(", ")
            ),
            Self::OutlivesCa(end) => write!(
                f,
                ": the certificate ends at {}, after what signed it; renew the CA first and then the certificate",
                rfc3339(*end)
            ),
        }
    }
}
