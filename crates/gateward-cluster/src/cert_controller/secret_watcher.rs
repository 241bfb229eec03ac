//! Watches the serving Secret, so that the certificate is served from memory.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use gateward_certs::secret::{CA_CRT, SecretData, ServingCertificate};
use gateward_certs::{CaBundle, Fingerprint, TrustAnchor, Validity};
use k8s_openapi::api::core::v1::Secret;
use tokio::sync::Notify;
use tracing::{debug, info};

use super::status_store::{StatusStore, StatusTopic};
use crate::connection::Connection;
use crate::request::{Backoff, ErrorStreak};
use crate::secrets::{ManagedSecret, SecretStore, data};

/// How often the Secret is read without an event: a watch can die unnoticed.
const UNASKED: Duration = Duration::from_secs(15);

const STAYS: &str = "the certificate that is in use stays";

/// Publishes the newest usable certificate of the serving Secret.
///
/// The watch only triggers a read of the API server.
pub(super) struct SecretWatcher {
    pub(super) store: SecretStore,
    pub(super) connection: Connection,
    /// The Secret, as `namespace/name`.
    pub(super) secret: String,
    pub(super) status: Arc<StatusStore>,
}

impl SecretWatcher {
    /// Reads the Secret whenever it changes.
    pub(super) async fn run(self, wakeup: Arc<Notify>) {
        let mut backoff = Backoff::new();
        loop {
            match self.store.read(ManagedSecret::Serving).await {
                Ok(secret) => {
                    backoff.reset();
                    self.update(secret.as_ref());
                    let _ = tokio::time::timeout(UNASKED, wakeup.notified()).await;
                }
                Err(why) => {
                    debug!(secret = self.secret, "the server's Secret can't be read: {why}");
                    let wait = backoff.fail();
                    if backoff.streak() == ErrorStreak::Long {
                        let fault = format!("Secret {} can't be read: {why}; {STAYS}", self.secret);
                        self.status.warn(StatusTopic::Secret, Some(fault));
                    }
                    tokio::time::sleep(wait).await;
                }
            }
        }
    }

    fn update(&self, secret: Option<&Secret>) {
        let now = self.connection.now();
        let data = secret.map(data);
        let update = judge(data.as_ref(), &self.secret, self.status.served.borrow().as_ref(), now);
        let usable = matches!(update, SecretUpdate::Same | SecretUpdate::Better(_));
        let fault = match update {
            SecretUpdate::Same => None,
            SecretUpdate::Better(pair) => {
                let shown = Fingerprint::of(pair.end_entity()).short();
                info!(secret = self.secret, certificate = shown, "a certificate is in use");
                self.status.served.send_replace(Some(pair));
                None
            }
            SecretUpdate::Unusable(fault) => Some(fault),
        };
        self.status.update(|facts| {
            facts.status.ca = data.as_ref().and_then(ca);
            if let Some(data) = data.as_ref().filter(|_| usable) {
                facts.status.own_bundle = trust(data);
            }
        });
        self.status.warn(StatusTopic::Secret, fault);
    }
}

/// What a change of the Secret means for the certificate in use.
#[derive(Debug)]
enum SecretUpdate {
    /// It holds the certificate in use.
    Same,
    /// It holds a certificate to use instead.
    Better(ServingCertificate),
    /// The certificate in use stays, for this reason.
    Unusable(String),
}

fn judge(data: Option<&SecretData>, secret: &str, shown: Option<&ServingCertificate>, now: SystemTime) -> SecretUpdate {
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
    if good(shown) && !(good(&pair) && is_verified(&pair, data)) {
        return SecretUpdate::Unusable(format!("Secret {secret} holds a certificate that clients would refuse{stays}"));
    }
    SecretUpdate::Better(pair)
}

/// Whether a CA in `ca.crt` signed the certificate, as in every Secret that this controller writes.
fn is_verified(pair: &ServingCertificate, data: &SecretData) -> bool {
    trust(data).verifies(pair.end_entity())
}

/// The validity of the CA in `ca.crt`.
fn ca(data: &SecretData) -> Option<Validity> {
    trust(data).iter().map(TrustAnchor::validity).max_by_key(Validity::not_after)
}

fn trust(data: &SecretData) -> CaBundle {
    CaBundle::parse_lossy(data.field(CA_CRT).unwrap_or_default()).0
}

#[cfg(test)]
mod tests {
    use gateward_certs::{Ca, CommonName, ServerNames, SystemKeys, TEN_YEARS};

    use super::*;

    fn now() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_hours(500_000)
    }

    fn ca() -> Ca {
        let validity = Validity::starting(now(), TEN_YEARS).unwrap();
        Ca::new(&CommonName::new("otter").unwrap(), validity, &SystemKeys).unwrap()
    }

    fn secret(signer: &Ca, trust: &Ca, lifetime: Duration) -> SecretData {
        let validity = Validity::starting(now(), lifetime).unwrap();
        let serving = signer.issue(&ServerNames::parse(["otter.zoo.svc"]).unwrap(), validity, &SystemKeys).unwrap();
        let data =
            SecretData::default().with("tls.crt", serving.certificate_pem()).with("tls.key", serving.private_key_pem());
        data.with("ca.crt", trust.certificate_pem())
    }

    fn pair(data: &SecretData) -> ServingCertificate {
        ServingCertificate::read(data, "zoo/otter").unwrap()
    }

    fn update(data: Option<&SecretData>, shown: Option<&SecretData>, now: SystemTime) -> SecretUpdate {
        judge(data, "zoo/otter", shown.map(pair).as_ref(), now)
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
