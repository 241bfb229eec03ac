//! A server from its start to its end: joins the listeners, who provides the certificate, and the operator's facts, and
//! reports their status. It decides when; how is decided elsewhere.

mod authorize;
mod certificate_dir;
mod claims;
mod conflicts;
mod controllers;
mod error;
mod facts;
mod given_certificate;
mod identity;
mod in_cluster;
mod injected_trust;
mod listen;
mod report;
mod setup;
mod shutdown;
#[cfg(feature = "cli")]
mod signals;
mod stop;
mod stores;

pub use error::ServerError;
pub(crate) use given_certificate::{CertificateSource, GivenCertificate};
pub(crate) use in_cluster::{App, InCluster};
pub(crate) use listen::{BoundListeners, ListenerSettings};
#[cfg(feature = "cli")]
pub(crate) use setup::setup;
#[cfg(feature = "cli")]
pub(crate) use shutdown::Shutdown;
pub(crate) use shutdown::Until;
#[cfg(feature = "cli")]
pub(crate) use signals::Signals;
#[cfg(feature = "cli")]
pub(crate) use stores::keep_stores;
