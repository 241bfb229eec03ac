//! A certificate authority of one's own, and what it issues.

use std::fmt;

use rcgen::{
    BasicConstraints, Certificate, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyPair, KeyUsagePurpose,
};
use rustls_pki_types::{CertificateDer, PrivatePkcs8KeyDer};

use crate::keys::{self, KeyError, KeySource};
use crate::names::{CommonName, NameError, ServerNames};
use crate::validity::{Validity, ValidityError};

/// A self-signed certificate authority with its private key (ECDSA P-256).
///
/// It may sign server certificates and nothing below them (path length 0).
pub struct Authority {
    certificate: Certificate,
    issuer: Issuer<'static, KeyPair>,
    validity: Validity,
}

impl Authority {
    /// Makes a new authority with a key of its own.
    pub fn new(name: &CommonName, validity: Validity, keys: &dyn KeySource) -> Result<Self, IssueError> {
        let key = keys::key_pair(&keys.private_key()?)?;
        let params = authority_params(name, validity)?;
        let certificate = params.self_signed(&key).map_err(|_| IssueError::Signing)?;
        Ok(Self { certificate, issuer: Issuer::new(params, key), validity })
    }

    /// Issues a certificate for a server, with a key of its own.
    ///
    /// `validity` has to lie within the authority's own: some verifiers don't look at the dates of the authority.
    pub fn issue(
        &self,
        names: &ServerNames,
        validity: Validity,
        keys: &dyn KeySource,
    ) -> Result<ServerCertificate, IssueError> {
        if !self.validity.covers(&validity) {
            return Err(IssueError::BeyondAuthority);
        }
        let key = keys::key_pair(&keys.private_key()?)?;
        let certificate =
            server_params(names, validity)?.signed_by(&key, &self.issuer).map_err(|_| IssueError::Signing)?;
        Ok(ServerCertificate { certificate, key, validity })
    }

    /// The authority's certificate: what clients are to trust.
    pub fn certificate(&self) -> &CertificateDer<'static> {
        self.certificate.der()
    }

    /// The authority's certificate as PEM: what goes into `caBundle`.
    pub fn certificate_pem(&self) -> String {
        self.certificate.pem()
    }

    /// The authority's private key as PEM (PKCS#8). Whoever reads it can pose as any server.
    pub fn private_key_pem(&self) -> String {
        self.issuer.key().serialize_pem()
    }

    /// From when to when the authority is valid.
    pub fn validity(&self) -> Validity {
        self.validity
    }
}

/// A server's certificate and private key.
pub struct ServerCertificate {
    certificate: Certificate,
    key: KeyPair,
    validity: Validity,
}

impl ServerCertificate {
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

impl fmt::Debug for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authority").field("validity", &self.validity).finish_non_exhaustive()
    }
}

impl fmt::Debug for ServerCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerCertificate").field("validity", &self.validity).finish_non_exhaustive()
    }
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
    /// The certificate would be valid when its authority is not.
    #[error("the certificate would be valid at times when its authority is not")]
    BeyondAuthority,
    /// The signature failed.
    #[error("the certificate could not be signed")]
    Signing,
}

fn authority_params(name: &CommonName, validity: Validity) -> Result<CertificateParams, IssueError> {
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
