//! CAs and serving certificates for webhooks.
//!
//! Nothing here opens a file, asks the network or looks at a clock: the present time and the keys come in as arguments,
//! certificates go out as values.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//! use gateward_certs::{Ca, CommonName, ServerNames, SystemKeys, TEN_YEARS, Validity};
//!
//! let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
//! let validity = Validity::starting(now, TEN_YEARS)?;
//! let ca = Ca::new(&CommonName::new("otter webhooks")?, validity, &SystemKeys)?;
//! let serving = ca.issue(&ServerNames::parse(["otter.zoo.svc", "127.0.0.1"])?, validity, &SystemKeys)?;
//!
//! assert!(ca.certificate_pem().starts_with("-----BEGIN CERTIFICATE-----"));
//! assert!(serving.private_key_pem().starts_with("-----BEGIN PRIVATE KEY-----"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod ca;
mod ca_bundle;
mod chain;
mod derived_names;
mod fingerprint;
mod keys;
mod names;
mod pem;
mod provision;
pub mod rotation;
pub mod secret;
mod timestamp;
pub mod trust;
mod validity;

pub use ca::{Ca, CaError, IssueError, IssuedCertificate};
pub use ca_bundle::{CaBundle, CaBundleError, TrustAnchor};
pub use chain::{ChainFault, ChainFaultKind, ChainRules, chain_faults};
pub use derived_names::{DerivedNameError, NameLimit};
pub use fingerprint::{Fingerprint, FingerprintError};
pub use keys::{KeyError, KeySource, PrivateKey, RsaKeys, SystemKeys};
pub use names::{CommonName, NameError, ServerNames};
pub use provision::{CaInjection, IssuerRef, Provision, ProvisionMode};
pub use timestamp::rfc3339;
pub use validity::{CLOCK_SKEW, Lifetime, LifetimeError, Lifetimes, RENEW_BEFORE, TEN_YEARS, Validity, ValidityError};
