//! The status of certificates and injection targets, for the readiness page, the metrics and the log.

use std::fmt;
use std::time::SystemTime;

use gateward_certs::rotation::Phase;
use gateward_certs::{CaBundle, Validity};

use crate::injected::InjectedCaBundles;
use crate::injection::{ConflictingWebhook, TargetState, TargetStatus};

/// The status of certificates and injection targets as this replica knows it. Readiness doesn't depend on it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ControllerStatus {
    /// The leader.
    pub leader: Leader,
    /// How far a CA rotation has come, and what happens next. Only the leader knows.
    pub progress: Option<LeaderProgress>,
    /// The status of each injection target.
    pub targets: Vec<TargetStatus>,
    /// The validity of the certificate that this replica serves.
    pub certificate: Option<Validity>,
    /// The validity of the CA that signed it.
    pub ca: Option<Validity>,
    /// The CAs in `ca.crt` of the serving Secret, which the self-check uses while there is no injection target.
    pub own_bundle: CaBundle,
    /// The `caBundle`s of the injection targets.
    pub injected: InjectedCaBundles,
    /// How many faults the serving Secret has, as [`warnings`](Self::warnings) name them: those of a certificate that others
    /// provide, and one more where what it holds isn't served.
    pub secret_faults: usize,
    /// How many `caBundle`s and conversion stanzas this replica has restored.
    pub restored_bundles: u64,
    /// Webhooks of other configurations for the same kinds.
    pub conflicts: Vec<ConflictingWebhook>,
    /// What a person should look at, each a sentence.
    pub warnings: Vec<String>,
}

/// Which replica is the leader.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Leader {
    /// The lease has not been read yet, or has no holder.
    #[default]
    Unknown,
    /// This replica.
    ThisReplica,
    /// Another replica: the holder of the lease.
    Other(String),
}

/// The progress of the leader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaderProgress {
    /// The phase; `None` while no CA is being rotated.
    pub phase: Option<Phase>,
    /// What happens next, and why.
    pub next: String,
    /// When this was found.
    pub at: SystemTime,
}

impl ControllerStatus {
    /// The injection targets whose API server calls would fail.
    pub fn at_fault(&self) -> impl Iterator<Item = &TargetStatus> {
        self.targets.iter().filter(|target| target.state != TargetState::Trusts)
    }

    /// What a person may want to know, one fact a line.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = vec![format!("leader: {}", self.leader)];
        if let Some(LeaderProgress { phase, next, .. }) = &self.progress {
            notes.extend(phase.map(|phase| format!("CA rotation: {phase}")));
            notes.push(format!("next: {next}"));
        }
        notes
    }

    /// What a person should look at, one fault a line.
    pub fn attention(&self) -> Vec<String> {
        self.warnings.iter().cloned().chain(self.at_fault().map(ToString::to_string)).collect()
    }
}

impl fmt::Display for Leader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("none known"),
            Self::ThisReplica => f.write_str("this replica"),
            Self::Other(holder) => f.write_str(holder),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ServiceName;
    use crate::injection::NotOurs;

    fn target(state: TargetState) -> TargetStatus {
        let object = "ValidatingWebhookConfiguration otter".to_owned();
        TargetStatus { object, entry: Some("graph.otter.dev".to_owned()), state }
    }

    #[test]
    fn only_faults_of_a_target_are_reported() {
        let other = ServiceName { namespace: "zoo".to_owned(), name: "badger".to_owned() };
        let states = [TargetState::Trusts, TargetState::NotOurs(NotOurs::OtherService(other))];
        let status = ControllerStatus { targets: states.map(target).into(), ..ControllerStatus::default() };
        let text = "ValidatingWebhookConfiguration otter (graph.otter.dev) is not ours to write: it calls the Service \
                    zoo/badger";
        assert_eq!(status.attention(), [text]);
    }

    #[test]
    fn the_leader_reports_its_progress() {
        let next = "make a CA".to_owned();
        let progress = LeaderProgress { phase: Some(Phase::Publish), next, at: SystemTime::UNIX_EPOCH };
        let status =
            ControllerStatus { leader: Leader::ThisReplica, progress: Some(progress), ..ControllerStatus::default() };
        let notes = ["leader: this replica", "CA rotation: publish", "next: make a CA"];
        assert_eq!(status.notes(), notes);
    }
}
