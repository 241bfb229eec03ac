//! A self-signed CA, and the certificates that it issues.

use std::fmt;

use rcgen::{
    BasicConstraints, Certificate, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyPair, KeyUsagePurpose,
};
use rustls_pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use x509_parser::prelude::{FromDer as _, X509Certificate};

use crate::ca_bundle::TrustAnchor;
use crate::keys::{KeyError, KeySource, PrivateKey};
use crate::names::{CommonName, NameError, ServerNames};
use crate::validity::{Validity, ValidityError};

/// A CA with its private key.
///
/// One that is made here signs itself, and may sign serving certificates and nothing below them (path length 0).
pub struct Ca {
    anchor: TrustAnchor,
    key: PrivateKey,
    issuer: Issuer<'static, KeyPair>,
}

impl Ca {
    /// Makes a new CA with a key of its own.
    pub fn new(name: &CommonName, validity: Validity, keys: &dyn KeySource) -> Result<Self, IssueError> {
        let key = PrivateKey::from(keys.private_key()?);
        let pair = key.key_pair()?;
        let params = ca_params(name, validity)?;
        let certificate = params.self_signed(&pair).map_err(|_| IssueError::Signing)?;
        let anchor = TrustAnchor::new(certificate.into()).map_err(|_| IssueError::Signing)?;
        Ok(Self { anchor, key, issuer: Issuer::new(params, pair) })
    }

    /// Loads a CA that was created before, here or elsewhere.
    ///
    /// A certificate that it signs has to verify against its own certificate.
    pub fn from_parts(certificate: CertificateDer<'static>, key: PrivateKey) -> Result<Self, CaError> {
        let anchor = TrustAnchor::new(certificate)?;
        if !anchor.may_sign() {
            return Err(CaError::NotACa);
        }
        if !key.belongs_to(anchor.certificate())? {
            return Err(CaError::WrongKey);
        }
        if !subject_can_be_written(anchor.certificate()) {
            return Err(CaError::CannotSign);
        }
        let issuer = Issuer::from_ca_cert_der(anchor.certificate(), key.key_pair()?);
        let ca = Self { issuer: issuer.map_err(|_| CaError::CannotSign)?, anchor, key };
        if ca.signs() { Ok(ca) } else { Err(CaError::CannotSign) }
    }

    /// Issues a certificate for a server, with a key of its own.
    ///
    /// `validity` has to lie within the CA's own: some verifiers don't look at the dates of the CA.
    pub fn issue(
        &self,
        names: &ServerNames,
        validity: Validity,
        keys: &dyn KeySource,
    ) -> Result<IssuedCertificate, IssueError> {
        if !self.validity().covers(&validity) {
            return Err(IssueError::OutsideCaValidity);
        }
        let key = PrivateKey::from(keys.private_key()?).key_pair()?;
        let certificate =
            server_params(names, validity)?.signed_by(&key, &self.issuer).map_err(|_| IssueError::Signing)?;
        Ok(IssuedCertificate { certificate, key, validity })
    }

    /// The trust anchor for clients.
    pub fn trust_anchor(&self) -> &TrustAnchor {
        &self.anchor
    }

    /// The CA's certificate.
    pub fn certificate(&self) -> &CertificateDer<'static> {
        self.anchor.certificate()
    }

    /// The CA's certificate as PEM: what goes into `caBundle`.
    pub fn certificate_pem(&self) -> String {
        self.anchor.to_pem()
    }

    /// The CA's private key as PEM, in the encoding that it came in. It can impersonate any server.
    pub fn private_key_pem(&self) -> String {
        self.key.to_pem()
    }

    /// From when to when the CA is valid.
    pub fn validity(&self) -> Validity {
        self.anchor.validity()
    }

    /// Whether a certificate signed with the key verifies. It does not where the key is of an unsupported kind,
    /// or where the subject can't be repeated byte for byte as issuer.
    fn signs(&self) -> bool {
        let mut trial = CertificateParams::default();
        trial.distinguished_name = DistinguishedName::new();
        trial.signed_by(self.issuer.key(), &self.issuer).is_ok_and(|certificate| self.anchor.signed(certificate.der()))
    }
}

/// A new serving certificate with its private key.
pub struct IssuedCertificate {
    certificate: Certificate,
    key: KeyPair,
    validity: Validity,
}

impl IssuedCertificate {
    /// The certificate.
    pub fn certificate(&self) -> &CertificateDer<'static> {
        self.certificate.der()
    }

    /// The certificate as PEM.
    pub fn certificate_pem(&self) -> String {
        self.certificate.pem()
    }

    /// The private key in PKCS#8.
    pub fn private_key(&self) -> PrivatePkcs8KeyDer<'static> {
        self.key.serialize_der().into()
    }

    /// The private key as PEM (PKCS#8).
    pub fn private_key_pem(&self) -> String {
        self.key.serialize_pem()
    }

    /// From when to when the certificate is valid.
    pub fn validity(&self) -> Validity {
        self.validity
    }
}

impl fmt::Debug for Ca {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ca").field("validity", &self.validity()).finish_non_exhaustive()
    }
}

impl fmt::Debug for IssuedCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IssuedCertificate").field("validity", &self.validity).finish_non_exhaustive()
    }
}

/// Why a certificate and a key are no CA.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CaError {
    /// The certificate can't be read.
    #[error(transparent)]
    Certificate(#[from] ValidityError),
    /// The key can't be read.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The certificate may not sign others.
    #[error("the certificate is no CA: it may not sign certificates")]
    NotACa,
    /// The key is another certificate's.
    #[error("the private key does not belong to the certificate")]
    WrongKey,
    /// What the CA signs doesn't verify.
    #[error("what the CA signs does not verify: its kind of key or its subject is not supported")]
    CannotSign,
}

/// Why no certificate was issued.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IssueError {
    /// There is no key to sign or to be certified.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A name cannot stand in a certificate.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The dates cannot stand in a certificate.
    #[error(transparent)]
    Validity(#[from] ValidityError),
    /// The certificate would be valid when its CA is not.
    #[error("the certificate would be valid at times when its CA is not")]
    OutsideCaValidity,
    /// The signature failed.
    #[error("the certificate could not be signed")]
    Signing,
}

/// Whether the library that signs can repeat a subject as issuer: it panics at an empty set of attributes, and at an
/// object identifier with a first number above 2. (Its reader takes the second from the same byte: it is below 40.)
fn subject_can_be_written(certificate: &CertificateDer<'_>) -> bool {
    let Ok((_, certificate)) = X509Certificate::from_der(certificate) else { return false };
    certificate.subject().iter().all(|set| {
        let mut types = set.iter().map(|attribute| attribute.attr_type().iter().map(Iterator::collect::<Vec<u64>>));
        set.iter().next().is_some() && types.all(|arcs| matches!(arcs.as_deref(), Some([0..=2, 0..40, ..])))
    })
}

fn ca_params(name: &CommonName, validity: Validity) -> Result<CertificateParams, IssueError> {
    let mut params = params(validity)?;
    params.distinguished_name.push(DnType::CommonName, name.as_str());
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign, KeyUsagePurpose::DigitalSignature];
    Ok(params)
}

fn server_params(names: &ServerNames, validity: Validity) -> Result<CertificateParams, IssueError> {
    let mut params = params(validity)?;
    params.subject_alt_names = names.alternative_names()?;
    params.is_ca = IsCa::ExplicitNoCa;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params.use_authority_key_identifier_extension = true;
    Ok(params)
}

/// No subject, and both ends of the validity set: the library's own defaults run from 1975 to 4096.
fn params(validity: Validity) -> Result<CertificateParams, IssueError> {
    let mut params = CertificateParams::default();
    (params.not_before, params.not_after) = validity.dates()?;
    params.distinguished_name = DistinguishedName::new();
    Ok(params)
}
