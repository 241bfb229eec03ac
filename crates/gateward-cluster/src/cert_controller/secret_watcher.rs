//! Watches the serving Secret, so that the certificate is served from memory.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gateward_certs::secret::SecretData;
use gateward_certs::{
    CaBundle, ChainFault, ChainRules, Fingerprint, Provision, ProvisionMode, TrustAnchor, Validity, chain_faults,
};
use k8s_openapi::api::core::v1::Secret;
use rustls::pki_types::ServerName;
use tokio::sync::Notify;
use tracing::{debug, info};

use super::own_pair::{STAYS, SecretUpdate, judge, trust};
use super::provided_pair::ProvidedPair;
use super::status_store::{StatusStore, StatusTopic};
use crate::connection::Connection;
use crate::lease::LOG_TARGET;
use crate::request::{Backoff, ErrorStreak};
use crate::secrets::{ManagedSecret, SecretStore, data};

/// How often the Secret is read without an event: a watch can die unnoticed.
const UNASKED: Duration = Duration::from_secs(15);
/// The same while a certificate waits until API servers have observed the `caBundle`s.
const SOON: Duration = Duration::from_millis(500);

/// Publishes the newest usable certificate of the serving Secret.
///
/// The watch only triggers a read of the API server.
pub(super) struct SecretWatcher {
    pub(super) store: SecretStore,
    pub(super) connection: Connection,
    /// The Secret, as `namespace/name`.
    pub(super) secret: String,
    /// The name by which API servers call.
    pub(super) name: ServerName<'static>,
    pub(super) provision: Provision,
    pub(super) status: Arc<StatusStore>,
}

impl SecretWatcher {
    /// Reads the Secret whenever it or a `caBundle` changes.
    pub(super) async fn run(&self, wakeup: &Notify) {
        let mut backoff = Backoff::new();
        let mut status = self.status.status();
        loop {
            match self.store.read(ManagedSecret::Serving).await {
                Ok(secret) => {
                    backoff.reset();
                    let injected = status.borrow_and_update().injected.clone();
                    let wait = self.update(secret.as_ref());
                    let changed = async {
                        if status.wait_for(|status| status.injected != injected).await.is_err() {
                            std::future::pending::<()>().await;
                        }
                    };
                    tokio::select! {
                        () = tokio::time::sleep(wait) => {}
                        () = wakeup.notified() => {}
                        () = changed => {}
                    }
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

    /// Returns after which time to look again, if nothing changes.
    fn update(&self, secret: Option<&Secret>) -> Duration {
        let data = secret.map(data);
        let faults = self.faults(data.as_ref());
        let (mut fault, mut wait, mut usable) = (None, UNASKED, true);
        match self.judge(data.as_ref(), &faults) {
            SecretUpdate::Same => {}
            SecretUpdate::Better(pair) => {
                let shown = Fingerprint::of(pair.end_entity()).short();
                info!(target: LOG_TARGET, secret = self.secret, certificate = shown, "a certificate is in use");
                self.status.served.send_replace(Some(pair));
            }
            SecretUpdate::Later => (wait, usable) = (SOON, false),
            SecretUpdate::Unusable(why) => (fault, usable) = (Some(why), false),
        }
        self.status.update(|facts| {
            facts.status.secret_faults = faults.len() + usize::from(fault.is_some());
            facts.status.ca = data.as_ref().and_then(|data| self.ca(data));
            if let Some(data) = data.as_ref().filter(|_| usable) {
                facts.status.own_bundle = self.own_bundle(data);
            }
        });
        self.status.warn(StatusTopic::Secret, fault);
        let faults: Vec<_> = faults.iter().map(ToString::to_string).collect();
        self.status.warn(StatusTopic::Chain, Some(faults.join("; ")).filter(|faults| !faults.is_empty()));
        wait
    }

    fn judge(&self, data: Option<&SecretData>, faults: &[ChainFault]) -> SecretUpdate {
        let (now, served) = (self.connection.now(), self.status.served.borrow());
        let (mode, secret, shown) = (self.provision.mode(), &self.secret, served.as_ref());
        if mode == ProvisionMode::Automatic {
            // The leader waits for each replica, and would for one that believes a watch of yesterday.
            return judge(data, secret, shown, &self.status.present_bundles(), now);
        }
        let injected = self.status.injected();
        ProvidedPair { mode, secret, faults, shown, injected: &injected, now: (now, Instant::now()) }.judge(data)
    }

    /// What is wrong with a Secret that others write. The leader mends its own.
    fn faults(&self, data: Option<&SecretData>) -> Vec<ChainFault> {
        let configured = self.provision.configured();
        let trusted = match (&self.provision, data) {
            (Provision::Automatic, _) => return Vec::new(),
            (Provision::External { ca_bundle }, _) if !ca_bundle.is_empty() => configured,
            (_, Some(data)) => trust(data).merged(&configured),
            (_, None) => configured,
        };
        let rules =
            ChainRules { secret: &self.secret, name: &self.name, trusted: &trusted, now: self.connection.now() };
        chain_faults(data, &rules)
    }

    /// The CAs that the Secret and the configuration name.
    fn own_bundle(&self, data: &SecretData) -> CaBundle {
        trust(data).merged(&self.provision.configured())
    }

    /// The validity of the CA that ends last.
    fn ca(&self, data: &SecretData) -> Option<Validity> {
        self.own_bundle(data).iter().map(TrustAnchor::validity).max_by_key(Validity::not_after)
    }
}
