//! Certificate authorities and server certificates for webhooks.
//!
//! Nothing here opens a file, asks the network or looks at a clock: the present time and the keys come in as arguments,
//! certificates go out as values.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//! use gateward_certs::{Authority, CommonName, ServerNames, SystemKeys, TEN_YEARS, Validity};
//!
//! let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
//! let validity = Validity::starting(now, TEN_YEARS)?;
//! let authority = Authority::new(&CommonName::new("otter webhooks")?, validity, &SystemKeys)?;
//! let server = authority.issue(&ServerNames::parse(["otter.zoo.svc", "127.0.0.1"])?, validity, &SystemKeys)?;
//!
//! assert!(authority.certificate_pem().starts_with("-----BEGIN CERTIFICATE-----"));
//! assert!(server.private_key_pem().starts_with("-----BEGIN PRIVATE KEY-----"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod authority;
mod bundle;
mod derived_names;
mod fingerprint;
mod keys;
mod names;
mod pem;
pub mod rotation;
pub mod secret;
mod timestamp;
mod validity;

pub use authority::{Authority, AuthorityError, IssueError, ServerCertificate};
pub use bundle::{Anchor, Bundle, BundleError};
pub use derived_names::{DerivedNameError, NameLimit};
pub use fingerprint::{Fingerprint, FingerprintError};
pub use keys::{KeyError, KeySource, PrivateKey, RsaKeys, SystemKeys};
pub use names::{CommonName, NameError, ServerNames};
pub use timestamp::rfc3339;
pub use validity::{
    CLOCK_SKEW, Lifetime, LifetimeError, Lifetimes, RENEWED_BEFORE_THE_END, TEN_YEARS, Validity, ValidityError,
};
