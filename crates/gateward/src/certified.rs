//! A new CA with a serving certificate for this machine, in memory.

use std::net::IpAddr;
use std::time::SystemTime;

use gateward_certs::{Ca, CommonName, ServerNames, SystemKeys, TEN_YEARS, Validity};
use gateward_server::{CertResolver, ClientTrust, Identity, IdentityError};

/// A new CA with a serving certificate for this machine.
pub(crate) struct Certified {
    pub(crate) ca: Ca,
    pub(crate) certificate: CertResolver,
    pub(crate) trust: ClientTrust,
}

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CertifiedError {
    /// No certificate can be made.
    #[error("cannot make a certificate: {0}")]
    Certificate(String),
    /// The certificate can't be used.
    #[error(transparent)]
    Identity(#[from] IdentityError),
}

impl Certified {
    /// For clients that call this machine by its usual names, or by this address.
    pub(crate) fn new(address: IpAddr) -> Result<Self, CertifiedError> {
        Self::with_name(address, None)
    }

    /// The same for clients that have a further name for it.
    pub(crate) fn with_name(address: IpAddr, further: Option<&str>) -> Result<Self, CertifiedError> {
        let failed = |error: &dyn std::error::Error| CertifiedError::Certificate(error.to_string());
        let validity = Validity::starting(SystemTime::now(), TEN_YEARS).map_err(|error| failed(&error))?;
        let name = CommonName::new("local CA").map_err(|error| failed(&error))?;
        let ca = Ca::new(&name, validity, &SystemKeys).map_err(|error| failed(&error))?;
        let names = ServerNames::parse(names(address, further)).map_err(|error| failed(&error))?;
        let leaf = ca.issue(&names, validity, &SystemKeys).map_err(|error| failed(&error))?;
        let certificate = CertResolver::new(Identity::try_from(&leaf)?);
        let server_name =
            "localhost".try_into().map_err(|error: rustls_pki_types::InvalidDnsNameError| failed(&error))?;
        let trust = ClientTrust { ca_certificates: vec![ca.certificate().clone()], server_name };
        Ok(Self { ca, certificate, trust })
    }
}

/// How clients on this machine may call it, the address that was asked for, and how others call it.
fn names(address: IpAddr, further: Option<&str>) -> Vec<String> {
    let mut names: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).into();
    let address = Some(address).filter(|address| !address.is_unspecified());
    for name in address.map(|address| address.to_string()).into_iter().chain(further.map(str::to_owned)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}
