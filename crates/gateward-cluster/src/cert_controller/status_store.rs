//! Collects what the parts of the controller report into one [`ControllerStatus`].

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use gateward_certs::secret::ServingCertificate;
use tokio::sync::watch;
use tracing::{info, warn};

use crate::config::InjectionRules;
use crate::injected::InjectedCaBundles;
use crate::injection::{TargetObject, WatchScope, target_statuses};
use crate::lease::LOG_TARGET;
use crate::send_if_changed::send_if_changed;
use crate::status::ControllerStatus;

/// The topic of a warning: each has one at a time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum StatusTopic {
    /// The API server doesn't answer.
    ApiServer,
    /// The serving Secret is unusable.
    Secret,
    /// A serving Secret that others write has faults.
    Chain,
    /// A write fails.
    Write,
    /// Another client keeps undoing writes.
    WriteConflict,
    /// A conversion stanza can't be restored.
    Conversion,
    /// An annotation can't be parsed.
    Annotations,
    /// No injection target calls our Service.
    InjectionTargets,
    /// A watch keeps failing.
    Watch(WatchScope),
}

/// Where every part of the controller reports its status.
pub(super) struct StatusStore {
    rules: InjectionRules,
    facts: Mutex<Facts>,
    status: watch::Sender<ControllerStatus>,
    /// The certificate that this replica serves, with its private key.
    pub(super) served: watch::Sender<Option<ServingCertificate>>,
}

#[derive(Debug, Default)]
pub(super) struct Facts {
    /// The status without the fields that are computed from the facts below and from the serving certificate.
    pub(super) status: ControllerStatus,
    /// The injection targets, once all watches are synced.
    pub(super) targets: Option<Vec<TargetObject>>,
    warnings: BTreeMap<StatusTopic, String>,
}

impl StatusStore {
    pub(super) fn new(rules: InjectionRules) -> Self {
        Self { rules, facts: Mutex::default(), status: watch::Sender::default(), served: watch::Sender::default() }
    }

    pub(super) fn status(&self) -> watch::Receiver<ControllerStatus> {
        self.status.subscribe()
    }

    /// What API servers may verify by.
    pub(super) fn injected(&self) -> InjectedCaBundles {
        self.status.borrow().injected.clone()
    }

    /// The same, as far as it is known to be true: nothing while a watch fails, since what it saw last may be long over.
    pub(super) fn present_bundles(&self) -> InjectedCaBundles {
        let is_watch = |topic: &StatusTopic| matches!(topic, StatusTopic::Watch(_));
        if self.facts().warnings.keys().any(is_watch) { InjectedCaBundles::default() } else { self.injected() }
    }

    /// Changes the facts and publishes the status.
    pub(super) fn update(&self, change: impl FnOnce(&mut Facts)) {
        let mut facts = self.facts();
        change(&mut facts);
        let status = facts.status(&self.rules, self.served.borrow().as_ref());
        let before = self.status.borrow().warnings.clone();
        for warning in status.warnings.iter().filter(|warning| !before.contains(warning)) {
            warn!(target: LOG_TARGET, "{warning}");
        }
        for warning in before.iter().filter(|warning| !status.warnings.contains(warning)) {
            info!(target: LOG_TARGET, "no longer: {warning}");
        }
        send_if_changed(&self.status, status);
    }

    /// Sets the warning of a topic, or clears it.
    pub(super) fn warn(&self, topic: StatusTopic, warning: Option<String>) {
        if self.facts().warnings.get(&topic) == warning.as_ref() {
            return;
        }
        self.update(|facts| match warning {
            Some(warning) => drop(facts.warnings.insert(topic, warning)),
            None => drop(facts.warnings.remove(&topic)),
        });
    }

    fn facts(&self) -> MutexGuard<'_, Facts> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Facts {
    fn status(&self, rules: &InjectionRules, served: Option<&ServingCertificate>) -> ControllerStatus {
        let mut warnings = self.warnings.clone();
        if self.targets.as_ref().is_some_and(|seen| seen.iter().all(|it| it.entries.is_empty())) {
            let uncalled = format!(
                "no webhook configuration and no CRD calls the Service {}: nothing is admitted or converted here; install \
                 the configurations {} and {}",
                rules.service, rules.validating, rules.mutating
            );
            warnings.insert(StatusTopic::InjectionTargets, uncalled);
        }
        let chain = served.map(ServingCertificate::chain).unwrap_or_default();
        ControllerStatus {
            targets: self.targets.as_deref().map(|seen| target_statuses(seen, rules, &chain)).unwrap_or_default(),
            certificate: served.map(ServingCertificate::validity),
            warnings: warnings.into_values().collect(),
            ..self.status.clone()
        }
    }
}
