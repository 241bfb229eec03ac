//! When a replica goes over to a certificate that others have put into the serving Secret.
//!
//! Nothing orders what cert-manager, its cainjector and users write: a new certificate may come before the `caBundle`s
//! that verify it. So each replica holds it back until API servers take it.

use std::time::{Instant, SystemTime};

use gateward_certs::secret::{SecretData, ServingCertificate};
use gateward_certs::{ChainFault, ProvisionMode};
use rustls::pki_types::CertificateDer;

use super::own_pair::{STAYS, SecretUpdate};
use crate::injected::InjectedCaBundles;

/// What a replica knows when it reads the Secret.
pub(super) struct ProvidedPair<'a> {
    /// Who writes the Secret.
    pub(super) mode: ProvisionMode,
    /// The Secret, as `namespace/name`.
    pub(super) secret: &'a str,
    /// What is wrong with it.
    pub(super) faults: &'a [ChainFault],
    /// The certificate in use.
    pub(super) shown: Option<&'a ServingCertificate>,
    /// What API servers may verify by.
    pub(super) injected: &'a InjectedCaBundles,
    /// The present time by the API server's clock, and by the monotonic one.
    pub(super) now: (SystemTime, Instant),
}

impl ProvidedPair<'_> {
    /// What a state of the Secret means for the certificate in use.
    pub(super) fn judge(&self, data: Option<&SecretData>) -> SecretUpdate {
        let Self { mode, secret, shown, now: (now, _), .. } = *self;
        let Some(pair) = data.and_then(|data| ServingCertificate::read(data, secret).ok()) else {
            return SecretUpdate::Unusable(match shown {
                Some(_) => format!("Secret {secret} holds no usable certificate; {STAYS}"),
                None => format!("waiting until {} writes a usable certificate into Secret {secret}", mode.writer()),
            });
        };
        let Some(shown) = shown else { return SecretUpdate::Better(pair) };
        if pair.chain() == shown.chain() {
            return SecretUpdate::Same;
        }
        if !shown.validity().contains(now) {
            return SecretUpdate::Better(pair);
        }
        if self.faults.iter().any(ChainFault::is_refused) {
            let why = format!("Secret {secret} holds a certificate that API servers would refuse; {STAYS}");
            return SecretUpdate::Unusable(why);
        }
        match self.acceptance(&shown.chain(), &pair.chain()) {
            Acceptance::Verified => SecretUpdate::Better(pair),
            Acceptance::Unverified => SecretUpdate::Unusable(format!(
                "Secret {secret} holds a new certificate that some caBundle doesn't verify; {STAYS} until each does"
            )),
            Acceptance::Unsettled => SecretUpdate::Later,
        }
    }

    /// Whether API servers that accept the certificate in use accept a new one. Those that refuse the first lose nothing.
    fn acceptance(&self, shown: &[CertificateDer<'static>], new: &[CertificateDer<'static>]) -> Acceptance {
        let Self { injected, now: (_, now), .. } = self;
        if injected.would_refuse(shown, new) {
            return Acceptance::Unverified;
        }
        let settled = injected.valid_from.is_some_and(|from| from <= *now);
        if !settled && injected.all_accept(shown) { Acceptance::Unsettled } else { Acceptance::Verified }
    }
}

/// Whether API servers accept a new certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Acceptance {
    /// They do.
    Verified,
    /// Some don't.
    Unverified,
    /// They do, as soon as all of them have observed the `caBundle`s.
    Unsettled,
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use gateward_certs::{Ca, TEN_YEARS};

    use super::*;
    use crate::pairs::{ca, injected, now, pair as secret};

    fn judged(data: Option<&SecretData>, shown: Option<&SecretData>, injected: &InjectedCaBundles) -> SecretUpdate {
        judged_at(data, shown, injected, now())
    }

    fn judged_at(
        data: Option<&SecretData>,
        shown: Option<&SecretData>,
        injected: &InjectedCaBundles,
        now: SystemTime,
    ) -> SecretUpdate {
        let shown = shown.map(|data| ServingCertificate::read(data, "zoo/otter").unwrap());
        let pair = ProvidedPair {
            mode: ProvisionMode::CertManager,
            secret: "zoo/otter",
            faults: &[],
            shown: shown.as_ref(),
            injected,
            now: (now, Instant::now()),
        };
        pair.judge(data)
    }

    #[test]
    fn without_a_certificate_it_says_who_is_to_write_it() {
        let SecretUpdate::Unusable(why) = judged(None, None, &injected(&[], None)) else { panic!("a certificate") };
        assert_eq!(why, "waiting until cert-manager writes a usable certificate into Secret zoo/otter");
    }

    #[test]
    fn the_first_certificate_is_served_whoever_trusts_it() {
        let (old, new) = (ca(), ca());
        let pair = secret(&new, TEN_YEARS);
        assert!(matches!(judged(Some(&pair), None, &injected(&[&[&old]], None)), SecretUpdate::Better(_)));
    }

    #[test]
    fn a_new_certificate_is_held_back_until_each_bundle_verifies_it() {
        let (old, new) = (ca(), ca());
        let (shown, pair) = (secret(&old, TEN_YEARS), secret(&new, TEN_YEARS));
        let settled = Some(Instant::now());
        let update = |bundles: &[&[&Ca]]| judged(Some(&pair), Some(&shown), &injected(bundles, settled));
        assert!(matches!(update(&[&[&old], &[&old, &new]]), SecretUpdate::Unusable(why) if why.contains("until each")));
        assert!(matches!(update(&[&[&old, &new]]), SecretUpdate::Better(_)));
        assert!(matches!(update(&[]), SecretUpdate::Better(_)), "nothing calls");
    }

    #[test]
    fn a_new_certificate_is_held_back_until_every_api_server_has_observed_the_bundles() {
        let (old, new) = (ca(), ca());
        let (shown, pair) = (secret(&old, TEN_YEARS), secret(&new, TEN_YEARS));
        for valid_from in [None, Some(Instant::now() + Duration::from_secs(5))] {
            let bundles = injected(&[&[&old, &new]], valid_from);
            assert!(matches!(judged(Some(&pair), Some(&shown), &bundles), SecretUpdate::Later));
        }
    }

    #[test]
    fn where_the_old_certificate_is_refused_already_nothing_is_waited_for() {
        let (old, new) = (ca(), ca());
        let (shown, pair) = (secret(&old, TEN_YEARS), secret(&new, TEN_YEARS));
        let bundles = injected(&[&[&new], &[&old, &new]], None);
        assert!(matches!(judged(Some(&pair), Some(&shown), &bundles), SecretUpdate::Better(_)));
    }

    #[test]
    fn a_certificate_that_has_ended_is_replaced_by_any_other() {
        let (old, new) = (ca(), ca());
        let (shown, pair) = (secret(&old, Duration::from_mins(1)), secret(&new, TEN_YEARS));
        let later = now() + Duration::from_hours(1);
        let bundles = injected(&[&[&old]], Some(Instant::now()));
        assert!(matches!(judged_at(Some(&pair), Some(&shown), &bundles, later), SecretUpdate::Better(_)));
    }

    #[test]
    fn what_is_gone_or_damaged_replaces_nothing() {
        let old = ca();
        let shown = secret(&old, TEN_YEARS);
        let bundles = injected(&[&[&old]], Some(Instant::now()));
        for data in [None, Some(&shown.clone().without("tls.key"))] {
            let SecretUpdate::Unusable(why) = judged(data, Some(&shown), &bundles) else { panic!("{data:?}") };
            assert!(why.ends_with("that is in use stays"), "{why}");
        }
    }
}
