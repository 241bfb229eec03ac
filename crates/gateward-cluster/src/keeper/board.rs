//! What is known, put together for those who ask.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use gateward_certs::Validity;
use gateward_certs::secret::ServingCertificate;
use tokio::sync::watch;
use tracing::{info, warn};

use crate::changes::send_change;
use crate::consumers::{Rival, Scope, Sighting, told};
use crate::report::{ProgressReport, Report, Writer};
use crate::setup::ConsumerRules;

/// What a warning is about: there is one at a time of each.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Topic {
    /// The API server can't be asked.
    ApiServer,
    /// The server's Secret is of no use.
    Secret,
    /// A write was refused.
    Write,
    /// Someone undoes what is written.
    Fight,
    /// A conversion stanza can't be restored.
    Conversion,
    /// Annotations that say nothing.
    Annotations,
    /// Nobody calls us.
    Consumers,
    /// A watch hears nothing.
    Watch(Scope),
}

/// Where every part of the keeper puts what it knows.
pub(super) struct Board {
    rules: ConsumerRules,
    facts: Mutex<Facts>,
    report: watch::Sender<Report>,
}

#[derive(Debug, Default)]
pub(super) struct Facts {
    pub(super) writer: Writer,
    pub(super) progress: Option<ProgressReport>,
    pub(super) served: Option<ServingCertificate>,
    pub(super) authority: Option<Validity>,
    pub(super) repairs: u64,
    /// Those who carry bundles, once all have been heard of.
    pub(super) consumers: Option<Vec<Sighting>>,
    pub(super) rivals: Vec<Rival>,
    warnings: BTreeMap<Topic, String>,
}

impl Board {
    pub(super) fn new(rules: ConsumerRules) -> Self {
        Self { rules, facts: Mutex::default(), report: watch::Sender::new(Report::default()) }
    }

    pub(super) fn report(&self) -> watch::Receiver<Report> {
        self.report.subscribe()
    }

    /// Changes what is known, and tells.
    pub(super) fn note(&self, change: impl FnOnce(&mut Facts)) {
        let mut facts = self.facts();
        change(&mut facts);
        let report = facts.report(&self.rules);
        let before = self.report.borrow().warnings.clone();
        report.warnings.iter().filter(|warning| !before.contains(warning)).for_each(|warning| warn!("{warning}"));
        before.iter().filter(|warning| !report.warnings.contains(warning)).for_each(|it| info!("no longer: {it}"));
        send_change(&self.report, report);
    }

    /// Tells of something that a person should look at, or that it is over.
    pub(super) fn warn(&self, topic: Topic, warning: Option<String>) {
        if self.facts().warnings.get(&topic) == warning.as_ref() {
            return;
        }
        self.note(|facts| match warning {
            Some(warning) => drop(facts.warnings.insert(topic, warning)),
            None => drop(facts.warnings.remove(&topic)),
        });
    }

    fn facts(&self) -> MutexGuard<'_, Facts> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Facts {
    fn report(&self, rules: &ConsumerRules) -> Report {
        let mut warnings = self.warnings.clone();
        if self.consumers.as_ref().is_some_and(|seen| seen.iter().all(|it| it.entries.is_empty())) {
            let nobody = format!(
                "no webhook configuration and no CRD calls the Service {}: nothing is admitted or converted here; install \
                 the configurations {} and {}",
                rules.service, rules.validating, rules.mutating
            );
            warnings.insert(Topic::Consumers, nobody);
        }
        let shown = self.served.as_ref().map(ServingCertificate::end_entity);
        Report {
            writer: self.writer.clone(),
            progress: self.progress.clone(),
            consumers: self.consumers.as_deref().map(|seen| told(seen, rules, shown)).unwrap_or_default(),
            certificate: self.served.as_ref().map(ServingCertificate::validity),
            authority: self.authority,
            repairs: self.repairs,
            rivals: self.rivals.clone(),
            warnings: warnings.into_values().collect(),
        }
    }
}
