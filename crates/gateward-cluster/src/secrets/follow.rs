//! Follows the server's Secret, so that certificates are served from memory.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use gateward_certs::secret::{CA_CRT, SecretData, ServingCertificate};
use gateward_certs::{CaBundle, Fingerprint, TrustAnchor, Validity};
use k8s_openapi::api::core::v1::Secret;
use tokio::sync::{Notify, watch};
use tracing::{debug, info};

use super::{SecretStore, Which, data};
use crate::changes::send_change;
use crate::connection::Connection;
use crate::patience::{Backoff, Trouble};

/// How often the Secret is read although nothing was heard of it: a watch can die without a sound.
const UNASKED: Duration = Duration::from_secs(15);

const STAYS: &str = "the certificate that is in use stays";

/// Publishes the newest usable pair of the server's Secret.
///
/// A watch only tells that there is something to read; what counts is read from the API server each time.
pub(crate) struct Follower {
    store: SecretStore,
    connection: Connection,
    secret: String,
    served: watch::Sender<Option<ServingCertificate>>,
    beside: watch::Sender<CaBundle>,
    told: watch::Sender<Told>,
}

/// What else a state of the Secret tells.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Told {
    /// What is wrong with it, while an older pair stays in use.
    pub(crate) fault: Option<String>,
    /// From when to when the authority is valid that stands beside the certificate.
    pub(crate) authority: Option<Validity>,
}

impl Follower {
    pub(crate) fn new(connection: &Connection, store: SecretStore, secret: String) -> Self {
        let (served, told) = (watch::Sender::new(None), watch::Sender::new(Told::default()));
        Self { store, connection: connection.clone(), secret, served, beside: watch::Sender::default(), told }
    }

    pub(crate) fn served(&self) -> watch::Receiver<Option<ServingCertificate>> {
        self.served.subscribe()
    }

    /// The authorities that stand beside the certificate.
    pub(crate) fn beside(&self) -> watch::Receiver<CaBundle> {
        self.beside.subscribe()
    }

    pub(crate) fn told(&self) -> watch::Receiver<Told> {
        self.told.subscribe()
    }

    /// Reads the Secret whenever there is news of it.
    pub(crate) async fn follow(self, news: Arc<Notify>) {
        let mut backoff = Backoff::new();
        loop {
            match self.store.read(Which::Leaf).await {
                Ok(secret) => {
                    backoff.reset();
                    self.hear(secret.as_ref());
                    let _ = tokio::time::timeout(UNASKED, news.notified()).await;
                }
                Err(why) => {
                    debug!(secret = self.secret, "the server's Secret can't be read: {why}");
                    let wait = backoff.fail();
                    if backoff.trouble() == Trouble::Lasting {
                        let fault = format!("Secret {} can't be read: {why}; {STAYS}", self.secret);
                        let authority = self.told.borrow().authority;
                        self.tell(Told { fault: Some(fault), authority });
                    }
                    tokio::time::sleep(wait).await;
                }
            }
        }
    }

    fn hear(&self, secret: Option<&Secret>) {
        let now = self.connection.now();
        let data = secret.map(data);
        let heard = judge(data.as_ref(), &self.secret, self.served.borrow().as_ref(), now);
        let mut told = Told { fault: None, authority: data.as_ref().and_then(authority) };
        if let (Some(data), Heard::Same | Heard::Better(_)) = (&data, &heard) {
            self.beside.send_replace(trust(data));
        }
        match heard {
            Heard::Same => {}
            Heard::Better(pair) => {
                let shown = Fingerprint::of(pair.end_entity()).short();
                info!(secret = self.secret, certificate = shown, "a certificate is in use");
                self.served.send_replace(Some(pair));
            }
            Heard::Unusable(fault) => told.fault = Some(fault),
        }
        self.tell(told);
    }

    fn tell(&self, told: Told) {
        send_change(&self.told, told);
    }
}

/// What a state of the Secret means for a server that shows something.
#[derive(Debug)]
enum Heard {
    /// It holds what is shown.
    Same,
    /// It holds something to show instead.
    Better(ServingCertificate),
    /// What is shown stays.
    Unusable(String),
}

fn judge(data: Option<&SecretData>, secret: &str, shown: Option<&ServingCertificate>, now: SystemTime) -> Heard {
    let stays = if shown.is_some() { format!("; {STAYS}") } else { String::new() };
    let Some(data) = data else { return Heard::Unusable(format!("Secret {secret} is not there{stays}")) };
    let pair = match ServingCertificate::read(data, secret) {
        Ok(pair) => pair,
        Err(damage) => return Heard::Unusable(format!("{damage}{stays}")),
    };
    let Some(shown) = shown else { return Heard::Better(pair) };
    if pair.chain() == shown.chain() {
        return Heard::Same;
    }
    // What is valid is not given up for what no client would take.
    let good = |pair: &ServingCertificate| pair.validity().contains(now);
    if good(shown) && !(good(&pair) && is_vouched_for(&pair, data)) {
        return Heard::Unusable(format!("Secret {secret} holds a certificate that clients would refuse{stays}"));
    }
    Heard::Better(pair)
}

/// Whether the Secret itself holds an authority of the certificate, as every one does that is written here.
fn is_vouched_for(pair: &ServingCertificate, data: &SecretData) -> bool {
    trust(data).verifies(pair.end_entity())
}

/// The authority that stands beside the certificate.
fn authority(data: &SecretData) -> Option<Validity> {
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

    fn authority() -> Ca {
        let validity = Validity::starting(now(), TEN_YEARS).unwrap();
        Ca::new(&CommonName::new("otter").unwrap(), validity, &SystemKeys).unwrap()
    }

    fn secret(signer: &Ca, trust: &Ca, lifetime: Duration) -> SecretData {
        let validity = Validity::starting(now(), lifetime).unwrap();
        let leaf = signer.issue(&ServerNames::parse(["otter.zoo.svc"]).unwrap(), validity, &SystemKeys).unwrap();
        let data =
            SecretData::default().with("tls.crt", leaf.certificate_pem()).with("tls.key", leaf.private_key_pem());
        data.with("ca.crt", trust.certificate_pem())
    }

    fn pair(data: &SecretData) -> ServingCertificate {
        ServingCertificate::read(data, "zoo/otter").unwrap()
    }

    fn heard(data: Option<&SecretData>, shown: Option<&SecretData>, now: SystemTime) -> Heard {
        judge(data, "zoo/otter", shown.map(pair).as_ref(), now)
    }

    #[test]
    fn the_first_usable_pair_is_shown_whoever_signed_it() {
        let data = secret(&authority(), &authority(), TEN_YEARS);
        assert!(matches!(heard(Some(&data), None, now()), Heard::Better(_)));
        assert!(matches!(heard(Some(&data), Some(&data), now()), Heard::Same));
    }

    #[test]
    fn a_renewed_pair_replaces_the_one_before() {
        let authority = authority();
        let [first, second] = [0, 1].map(|_| secret(&authority, &authority, TEN_YEARS));
        assert!(matches!(heard(Some(&second), Some(&first), now()), Heard::Better(_)));
    }

    #[test]
    fn what_is_damaged_half_written_or_gone_replaces_nothing() {
        let authority = authority();
        let [good, other] = [0, 1].map(|_| secret(&authority, &authority, TEN_YEARS));
        let mixed = good.clone().with("tls.key", other.field("tls.key").unwrap());
        for data in [None, Some(&good.clone().without("tls.key")), Some(&mixed)] {
            let Heard::Unusable(note) = heard(data, Some(&good), now()) else { panic!("{data:?}") };
            assert!(note.starts_with("Secret zoo/otter") && note.ends_with("that is in use stays"), "{note}");
        }
    }

    #[test]
    fn a_pair_that_no_client_would_take_does_not_replace_one_that_they_take() {
        let [authority, stranger] = [0, 1].map(|_| authority());
        let good = secret(&authority, &authority, TEN_YEARS);
        let strange = secret(&stranger, &authority, TEN_YEARS);
        assert!(matches!(heard(Some(&strange), Some(&good), now()), Heard::Unusable(_)));
        let short = secret(&authority, &authority, Duration::from_mins(1));
        let later = now() + Duration::from_hours(1);
        assert!(matches!(heard(Some(&short), Some(&good), later), Heard::Unusable(_)));
        assert!(matches!(heard(Some(&good), Some(&short), later), Heard::Better(_)));
    }
}
