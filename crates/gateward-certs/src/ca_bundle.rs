//! `caBundle`: the CAs that a client trusts.

use std::fmt;
use std::time::SystemTime;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject as _;
use x509_parser::prelude::{FromDer as _, X509Certificate};

use crate::fingerprint::Fingerprint;
use crate::pem;
use crate::validity::{Validity, ValidityError};

/// A certificate that clients trust, or are to trust.
#[derive(Clone, PartialEq, Eq)]
pub struct TrustAnchor {
    certificate: CertificateDer<'static>,
    validity: Validity,
}

impl TrustAnchor {
    /// Takes a certificate whose X.509 and dates can be read.
    pub fn new(certificate: CertificateDer<'static>) -> Result<Self, ValidityError> {
        let validity = Validity::of(&certificate)?;
        Ok(Self { certificate, validity })
    }

    /// The certificate.
    pub fn certificate(&self) -> &CertificateDer<'static> {
        &self.certificate
    }

    /// From when to when the certificate is valid.
    pub fn validity(&self) -> Validity {
        self.validity
    }

    /// The SHA-256 of the certificate.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&self.certificate)
    }

    /// The certificate as PEM.
    pub fn to_pem(&self) -> String {
        pem::encode("CERTIFICATE", &self.certificate)
    }

    /// Whether it is the certificate of a CA.
    pub fn is_ca(&self) -> bool {
        X509Certificate::from_der(&self.certificate).is_ok_and(|(_, certificate)| certificate.is_ca())
    }

    /// Whether the certificate allows itself to sign others.
    pub fn may_sign(&self) -> bool {
        X509Certificate::from_der(&self.certificate).is_ok_and(|(_, certificate)| may_sign(&certificate))
    }

    /// Whether this certificate, as a CA, signed another one. Dates are not looked at.
    ///
    /// A certificate that signed itself is not signed by a CA: replacing it would need a new trust as well.
    pub fn signed(&self, other: &CertificateDer<'_>) -> bool {
        let (Ok((_, ca)), Ok((_, child))) =
            (X509Certificate::from_der(&self.certificate), X509Certificate::from_der(other))
        else {
            return false;
        };
        *other != self.certificate
            && child.issuer().as_raw() == ca.subject().as_raw()
            && may_sign(&ca)
            && child.verify_signature(Some(ca.public_key())).is_ok()
    }

    /// Whether a client that trusts this certificate accepts another one, dates aside.
    fn verifies(&self, other: &CertificateDer<'_>) -> bool {
        *other == self.certificate || self.signed(other)
    }
}

impl fmt::Debug for TrustAnchor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TrustAnchor({})", self.fingerprint().short())
    }
}

/// The certificates that a client trusts: each once, in a stable order.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use gateward_certs::{Ca, CaBundle, CommonName, SystemKeys, TEN_YEARS, Validity};
///
/// let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
/// let new = Ca::new(&CommonName::new("otter")?, Validity::starting(now, TEN_YEARS)?, &SystemKeys)?;
/// let carried = CaBundle::default();
///
/// let wanted = carried.merged(&new.trust_anchor().clone().into());
/// assert_eq!(wanted.len(), 1);
/// assert_eq!(CaBundle::parse(wanted.to_pem().as_bytes())?, wanted);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CaBundle(Vec<TrustAnchor>);

impl CaBundle {
    /// Reads PEM of which every section has to be a readable certificate. Text between the sections is passed over.
    pub fn parse(text: &[u8]) -> Result<Self, CaBundleError> {
        let (bundle, flaws) = Self::parse_lossy(text);
        flaws.into_iter().next().map_or(Ok(bundle), Err)
    }

    /// Reads a `caBundle` as configurations write it: PEM in base64, which may be wrapped. It has to hold a certificate.
    pub fn from_base64(text: &str) -> Result<Self, CaBundleError> {
        let text: String = text.split_whitespace().collect();
        let pem = BASE64_STANDARD.decode(text).map_err(|_| CaBundleError::NotBase64)?;
        let bundle = Self::parse(&pem)?;
        if bundle.is_empty() { Err(CaBundleError::NotPem) } else { Ok(bundle) }
    }

    /// Reads what can be read; returns the errors of the rest.
    ///
    /// The API server trusts the readable part of a damaged bundle; so what is merged from here loses nothing that it
    /// trusts.
    pub fn parse_lossy(text: &[u8]) -> (Self, Vec<CaBundleError>) {
        let (mut bundle, mut flaws) = (Self::default(), Vec::new());
        if text.len() > pem::LONGEST {
            return (bundle, vec![CaBundleError::TooLong]);
        }
        for (at, section) in pem::sections(text).enumerate() {
            match certificate(section).map(TrustAnchor::new) {
                Some(Ok(anchor)) => bundle.add(anchor),
                Some(Err(why)) => flaws.push(CaBundleError::Certificate { section: at + 1, why }),
                None => flaws.push(CaBundleError::Section { section: at + 1 }),
            }
        }
        if bundle.is_empty() && flaws.is_empty() && !text.trim_ascii().is_empty() {
            flaws.push(CaBundleError::NotPem);
        }
        (bundle, flaws)
    }

    /// Adds a certificate at the end, unless it is there.
    pub fn add(&mut self, anchor: TrustAnchor) {
        if !self.contains(&anchor) {
            self.0.push(anchor);
        }
    }

    /// These certificates, then those of the other bundle that are not among them.
    pub fn merged(&self, other: &Self) -> Self {
        self.iter().chain(other.iter()).cloned().collect()
    }

    /// The certificates for which a condition holds.
    pub fn filtered(&self, keep: impl Fn(&TrustAnchor) -> bool) -> Self {
        Self(self.iter().filter(|anchor| keep(anchor)).cloned().collect())
    }

    /// Without the certificates whose time is over. One whose time is still to come stays.
    pub fn without_expired(&self, now: SystemTime) -> Self {
        self.filtered(|anchor| now <= anchor.validity.not_after())
    }

    /// Whether a certificate is among them.
    pub fn contains(&self, anchor: &TrustAnchor) -> bool {
        self.0.contains(anchor)
    }

    /// Whether all certificates of another bundle are among them.
    pub fn contains_all(&self, other: &Self) -> bool {
        other.iter().all(|anchor| self.contains(anchor))
    }

    /// The certificate that signed another one. Dates are not looked at.
    pub fn signer_of(&self, certificate: &CertificateDer<'_>) -> Option<&TrustAnchor> {
        self.iter().find(|anchor| anchor.signed(certificate))
    }

    /// Whether a client with this bundle accepts a certificate, dates aside: one of these signed it, or it is among
    /// them.
    pub fn verifies(&self, certificate: &CertificateDer<'_>) -> bool {
        self.iter().any(|anchor| anchor.verifies(certificate))
    }

    /// The certificates, in their order.
    pub fn iter(&self) -> std::slice::Iter<'_, TrustAnchor> {
        self.0.iter()
    }

    /// How many certificates there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The certificates as PEM: what goes into `caBundle`.
    pub fn to_pem(&self) -> String {
        self.iter().map(TrustAnchor::to_pem).collect()
    }

    /// The same in base64, as manifests have it.
    pub fn to_base64(&self) -> String {
        BASE64_STANDARD.encode(self.to_pem())
    }
}

impl From<TrustAnchor> for CaBundle {
    fn from(anchor: TrustAnchor) -> Self {
        Self(vec![anchor])
    }
}

impl FromIterator<TrustAnchor> for CaBundle {
    fn from_iter<I: IntoIterator<Item = TrustAnchor>>(anchors: I) -> Self {
        let mut bundle = Self::default();
        anchors.into_iter().for_each(|anchor| bundle.add(anchor));
        bundle
    }
}

impl<'a> IntoIterator for &'a CaBundle {
    type Item = &'a TrustAnchor;
    type IntoIter = std::slice::Iter<'a, TrustAnchor>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Why a text, or a part of it, is no bundle. Sections count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CaBundleError {
    /// The text is larger than an object of a cluster can be.
    #[error("the bundle is larger than 1 MiB")]
    TooLong,
    /// A text is no base64.
    #[error("the bundle is not base64")]
    NotBase64,
    /// There is no section.
    #[error("the bundle holds no PEM")]
    NotPem,
    /// A section is cut off, damaged, or something else than a certificate.
    #[error("section {section} of the bundle is no certificate in PEM")]
    Section {
        /// Which one.
        section: usize,
    },
    /// A section's content is no certificate that can be used.
    #[error("section {section} of the bundle: {why}")]
    Certificate {
        /// Which one.
        section: usize,
        /// What is wrong with it.
        why: ValidityError,
    },
}

fn certificate(section: &[u8]) -> Option<CertificateDer<'static>> {
    CertificateDer::from_pem_slice(section).ok()
}

fn may_sign(certificate: &X509Certificate<'_>) -> bool {
    certificate.is_ca() && certificate.key_usage().is_ok_and(|usage| usage.is_none_or(|it| it.value.key_cert_sign()))
}
