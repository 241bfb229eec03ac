//! What people and metrics are told about certificates and bundles.

use std::fmt;
use std::time::{Duration, SystemTime};

use gateward_certs::Validity;
use gateward_certs::rotation::Phase;

use crate::injection::{ConflictingWebhook, TargetState, TargetStatus};

/// The state of certificates and bundles, as this replica knows it. Nothing in it says that this replica should not be
/// called.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ControllerStatus {
    /// Which replica writes.
    pub leader: Leader,
    /// How far a CA rotation has come, and what happens next. Only the leader knows.
    pub progress: Option<LeaderProgress>,
    /// Each object that carries bundles of ours, or is to.
    pub targets: Vec<TargetStatus>,
    /// From when to when the certificate is valid that this replica shows.
    pub certificate: Option<Validity>,
    /// From when to when the CA is valid that signed it.
    pub ca: Option<Validity>,
    /// How many times this replica has restored a bundle that someone had changed.
    pub restored_bundles: u64,
    /// The webhooks of others for the same kinds.
    pub conflicts: Vec<ConflictingWebhook>,
    /// What a person should look at, each a sentence.
    pub warnings: Vec<String>,
}

/// Which replica writes Secrets and bundles.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Leader {
    /// It isn't known: the lease has not been read yet, or nobody holds it.
    #[default]
    Unknown,
    /// This one.
    ThisReplica,
    /// Another one: the holder that stands in the lease.
    Other(String),
}

/// What the leader is at.
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
    /// The injection targets that API servers can't call this replica through.
    pub fn at_fault(&self) -> impl Iterator<Item = &TargetStatus> {
        self.targets.iter().filter(|target| target.state != TargetState::Trusts)
    }

    /// How long the certificate still is valid; nothing if it is over, or there is none.
    pub fn certificate_ends_in(&self, now: SystemTime) -> Option<Duration> {
        self.certificate.and_then(|certificate| certificate.not_after().duration_since(now).ok())
    }

    /// What a person may want to know, one fact a line.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = vec![format!("writer: {}", self.leader)];
        if let Some(LeaderProgress { phase, next, .. }) = &self.progress {
            notes.extend(phase.map(|phase| format!("exchange of authorities: {phase}")));
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
    fn only_what_is_wrong_with_a_target_is_told() {
        let other = ServiceName { namespace: "zoo".to_owned(), name: "badger".to_owned() };
        let states = [TargetState::Trusts, TargetState::NotOurs(NotOurs::OtherService(other))];
        let status = ControllerStatus { targets: states.map(target).into(), ..ControllerStatus::default() };
        let text = "ValidatingWebhookConfiguration otter (graph.otter.dev) is not ours to write: it calls the Service \
                    zoo/badger";
        assert_eq!(status.attention(), [text]);
    }

    #[test]
    fn the_writer_tells_what_it_is_at() {
        let next = "make an authority".to_owned();
        let progress = LeaderProgress { phase: Some(Phase::Publish), next, at: SystemTime::UNIX_EPOCH };
        let status =
            ControllerStatus { leader: Leader::ThisReplica, progress: Some(progress), ..ControllerStatus::default() };
        let notes = ["writer: this replica", "exchange of authorities: publish", "next: make an authority"];
        assert_eq!(status.notes(), notes);
    }
}
