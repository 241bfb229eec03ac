//! The `caBundle`s that API servers use, for the self-check of a replica.

use std::time::Instant;

use gateward_certs::CaBundle;
use rustls::pki_types::CertificateDer;

/// The `caBundle`s by which API servers may verify a replica at present.
///
/// A replica is ready once each of these verifies its certificate and [`InjectedCaBundles::valid_from`] is past: until
/// then some API server may not have observed them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InjectedCaBundles {
    /// Each bundle once, as PEM: the present ones of the injection targets, and those replaced a moment ago. Empty
    /// bundles are left out.
    pub bundles: Vec<Vec<u8>>,
    /// When every API server has observed them; `None` until all watches have synced.
    pub valid_from: Option<Instant>,
}

impl InjectedCaBundles {
    /// Whether some API server that accepts the certificate in use would refuse a new one, each with its chain.
    pub(crate) fn would_refuse(&self, shown: &[CertificateDer<'static>], new: &[CertificateDer<'static>]) -> bool {
        let mut bundles = self.parsed();
        bundles.any(|bundle| bundle.verifies_chain(shown, None) && !bundle.verifies_chain(new, None))
    }

    /// Whether every API server accepts a certificate with its chain.
    pub(crate) fn all_accept(&self, chain: &[CertificateDer<'static>]) -> bool {
        self.parsed().all(|bundle| bundle.verifies_chain(chain, None))
    }

    fn parsed(&self) -> impl Iterator<Item = CaBundle> + '_ {
        self.bundles.iter().map(|pem| CaBundle::parse_lossy(pem).0)
    }
}
