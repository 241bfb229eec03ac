//! When a replica goes over to a certificate that the leader has put into the serving Secret.
//!
//! The leader has brought its CA to every `caBundle` before.

use std::time::SystemTime;

use gateward_certs::CaBundle;
use gateward_certs::secret::{CA_CRT, SecretData, ServingCertificate};

use crate::injected::InjectedCaBundles;

/// What becomes of the certificate in use.
pub(super) const STAYS: &str = "the certificate that is in use stays";

/// What a change of the Secret means for the certificate in use.
#[derive(Debug)]
pub(super) enum SecretUpdate {
    /// It holds the certificate in use.
    Same,
    /// It holds a certificate to use instead.
    Better(ServingCertificate),
    /// The certificate in use stays, for this reason.
    Unusable(String),
    /// The certificate in use stays for a moment.
    Later,
}

/// What a state of the Secret means for the certificate in use.
pub(super) fn judge(
    data: Option<&SecretData>,
    secret: &str,
    shown: Option<&ServingCertificate>,
    injected: &InjectedCaBundles,
    now: SystemTime,
) -> SecretUpdate {
    let stays = if shown.is_some() { format!("; {STAYS}") } else { String::new() };
    let Some(data) = data else { return SecretUpdate::Unusable(format!("Secret {secret} is not there{stays}")) };
    let pair = match ServingCertificate::read(data, secret) {
        Ok(pair) => pair,
        Err(damage) => return SecretUpdate::Unusable(format!("{damage}{stays}")),
    };
    let Some(shown) = shown else { return SecretUpdate::Better(pair) };
    if pair.chain() == shown.chain() {
        return SecretUpdate::Same;
    }
    // A valid certificate is not replaced by one that clients would reject.
    let good = |pair: &ServingCertificate| pair.validity().contains(now);
    if good(shown) {
        if !(good(&pair) && is_verified(&pair, data)) {
            let why = format!("Secret {secret} holds a certificate that clients would refuse{stays}");
            return SecretUpdate::Unusable(why);
        }
        // The CA of a backup, or of another release, fits its own Secret and may be in no caBundle.
        if injected.would_refuse(&shown.chain(), &pair.chain()) {
            let why = format!("Secret {secret} holds a certificate that some caBundle doesn't verify{stays}");
            return SecretUpdate::Unusable(why);
        }
    }
    SecretUpdate::Better(pair)
}

/// Whether a CA in `ca.crt` signed the certificate, as in every Secret that this controller writes.
fn is_verified(pair: &ServingCertificate, data: &SecretData) -> bool {
    trust(data).verifies(pair.end_entity())
}

/// The CAs in `ca.crt`.
pub(super) fn trust(data: &SecretData) -> CaBundle {
    CaBundle::parse_lossy(data.field(CA_CRT).unwrap_or_default()).0
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use gateward_certs::{Ca, TEN_YEARS};

    use super::*;
    use crate::pairs::{self, ca, now};

    fn secret(signer: &Ca, trust: &Ca, lifetime: Duration) -> SecretData {
        pairs::pair(signer, lifetime).with("ca.crt", trust.certificate_pem())
    }

    fn pair(data: &SecretData) -> ServingCertificate {
        ServingCertificate::read(data, "zoo/otter").unwrap()
    }

    fn update(data: Option<&SecretData>, shown: Option<&SecretData>, now: SystemTime) -> SecretUpdate {
        judge(data, "zoo/otter", shown.map(pair).as_ref(), &InjectedCaBundles::default(), now)
    }

    #[test]
    fn the_first_usable_certificate_is_served_whichever_ca_signed_it() {
        let data = secret(&ca(), &ca(), TEN_YEARS);
        assert!(matches!(update(Some(&data), None, now()), SecretUpdate::Better(_)));
        assert!(matches!(update(Some(&data), Some(&data), now()), SecretUpdate::Same));
    }

    #[test]
    fn a_renewed_certificate_replaces_the_one_before() {
        let ca = ca();
        let [first, second] = [0, 1].map(|_| secret(&ca, &ca, TEN_YEARS));
        assert!(matches!(update(Some(&second), Some(&first), now()), SecretUpdate::Better(_)));
    }

    #[test]
    fn what_is_damaged_half_written_or_gone_replaces_nothing() {
        let ca = ca();
        let [good, other] = [0, 1].map(|_| secret(&ca, &ca, TEN_YEARS));
        let mixed = good.clone().with("tls.key", other.field("tls.key").unwrap());
        for data in [None, Some(&good.clone().without("tls.key")), Some(&mixed)] {
            let SecretUpdate::Unusable(note) = update(data, Some(&good), now()) else { panic!("{data:?}") };
            assert!(note.starts_with("Secret zoo/otter") && note.ends_with("that is in use stays"), "{note}");
        }
    }

    #[test]
    fn a_certificate_that_some_ca_bundle_does_not_verify_does_not_replace_one_that_all_verify() {
        let [ours, strangers] = [0, 1].map(|_| ca());
        let (shown, strange) = (secret(&ours, &ours, TEN_YEARS), secret(&strangers, &strangers, TEN_YEARS));
        let update = |shown: &SecretData, now, bundles: &[&[&Ca]]| {
            judge(Some(&strange), "zoo/otter", Some(&pair(shown)), &pairs::injected(bundles, None), now)
        };
        let held_back = update(&shown, now(), &[&[&ours, &strangers], &[&ours]]);
        assert!(matches!(held_back, SecretUpdate::Unusable(why) if why.contains("some caBundle doesn't verify")));
        assert!(matches!(update(&shown, now(), &[&[&ours, &strangers]]), SecretUpdate::Better(_)));
        assert!(matches!(update(&shown, now(), &[&[&strangers]]), SecretUpdate::Better(_)), "nobody accepts the other");
        let (short, later) = (secret(&ours, &ours, Duration::from_mins(1)), now() + Duration::from_hours(1));
        assert!(matches!(update(&short, later, &[&[&ours]]), SecretUpdate::Better(_)), "the other has ended");
    }

    #[test]
    fn a_certificate_that_clients_reject_does_not_replace_a_valid_one() {
        let [ca, stranger] = [0, 1].map(|_| ca());
        let good = secret(&ca, &ca, TEN_YEARS);
        let strange = secret(&stranger, &ca, TEN_YEARS);
        assert!(matches!(update(Some(&strange), Some(&good), now()), SecretUpdate::Unusable(_)));
        let short = secret(&ca, &ca, Duration::from_mins(1));
        let later = now() + Duration::from_hours(1);
        assert!(matches!(update(Some(&short), Some(&good), later), SecretUpdate::Unusable(_)));
        assert!(matches!(update(Some(&good), Some(&short), later), SecretUpdate::Better(_)));
    }
}
