//! Collects what the parts of the controller know into one [`ControllerStatus`].

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use gateward_certs::Validity;
use gateward_certs::secret::ServingCertificate;
use tokio::sync::watch;
use tracing::{info, warn};

use crate::config::InjectionRules;
use crate::injection::{ConflictingWebhook, TargetObject, WatchScope, target_statuses};
use crate::send_if_changed::send_if_changed;
use crate::status::{ControllerStatus, Leader, LeaderProgress};

/// The topic of a warning: each has one at a time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum StatusTopic {
    /// The API server doesn't answer.
    ApiServer,
    /// The serving Secret is unusable.
    Secret,
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

/// Where every part of the controller stores what it knows.
pub(super) struct StatusStore {
    rules: InjectionRules,
    facts: Mutex<Facts>,
    status: watch::Sender<ControllerStatus>,
}

#[derive(Debug, Default)]
pub(super) struct Facts {
    pub(super) leader: Leader,
    pub(super) progress: Option<LeaderProgress>,
    pub(super) served: Option<ServingCertificate>,
    pub(super) ca: Option<Validity>,
    pub(super) restored_bundles: u64,
    /// The injection targets, once all watches are synced.
    pub(super) targets: Option<Vec<TargetObject>>,
    pub(super) conflicts: Vec<ConflictingWebhook>,
    warnings: BTreeMap<StatusTopic, String>,
}

impl StatusStore {
    pub(super) fn new(rules: InjectionRules) -> Self {
        Self { rules, facts: Mutex::default(), status: watch::Sender::new(ControllerStatus::default()) }
    }

    pub(super) fn status(&self) -> watch::Receiver<ControllerStatus> {
        self.status.subscribe()
    }

    /// Changes what is known and publishes the status.
    pub(super) fn update(&self, change: impl FnOnce(&mut Facts)) {
        let mut facts = self.facts();
        change(&mut facts);
        let status = facts.status(&self.rules);
        let before = self.status.borrow().warnings.clone();
        status.warnings.iter().filter(|warning| !before.contains(warning)).for_each(|warning| warn!("{warning}"));
        before.iter().filter(|warning| !status.warnings.contains(warning)).for_each(|it| info!("no longer: {it}"));
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
    fn status(&self, rules: &InjectionRules) -> ControllerStatus {
        let mut warnings = self.warnings.clone();
        if self.targets.as_ref().is_some_and(|seen| seen.iter().all(|it| it.entries.is_empty())) {
            let uncalled = format!(
                "no webhook configuration and no CRD calls the Service {}: nothing is admitted or converted here; install \
                 the configurations {} and {}",
                rules.service, rules.validating, rules.mutating
            );
            warnings.insert(StatusTopic::InjectionTargets, uncalled);
        }
        let shown = self.served.as_ref().map(ServingCertificate::end_entity);
        ControllerStatus {
            leader: self.leader.clone(),
            progress: self.progress.clone(),
            targets: self.targets.as_deref().map(|seen| target_statuses(seen, rules, shown)).unwrap_or_default(),
            certificate: self.served.as_ref().map(ServingCertificate::validity),
            ca: self.ca,
            restored_bundles: self.restored_bundles,
            conflicts: self.conflicts.clone(),
            warnings: warnings.into_values().collect(),
        }
    }
}
