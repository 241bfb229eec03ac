//! What people and metrics are told about certificates and bundles.

use std::fmt;
use std::time::{Duration, SystemTime};

use gateward_certs::Validity;
use gateward_certs::rotation::Phase;

use crate::consumers::Rival;
use crate::setup::ServiceName;

/// The state of certificates and bundles, as this replica knows it. Nothing in it says that this replica should not be
/// called.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// Which replica writes.
    pub writer: Writer,
    /// How far an exchange of authorities has come, and what happens next. Only the writer knows.
    pub progress: Option<ProgressReport>,
    /// Each object that carries bundles of ours, or is to.
    pub consumers: Vec<ConsumerReport>,
    /// From when to when the certificate is valid that this replica shows.
    pub certificate: Option<Validity>,
    /// From when to when the authority is valid that signed it.
    pub authority: Option<Validity>,
    /// How many times this replica has restored a bundle that someone had changed.
    pub repairs: u64,
    /// The webhooks of others for the same kinds.
    pub rivals: Vec<Rival>,
    /// What a person should look at, each a sentence.
    pub warnings: Vec<String>,
}

/// Which replica writes Secrets and bundles.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Writer {
    /// It isn't known: the lease has not been read yet, or nobody holds it.
    #[default]
    Nobody,
    /// This one.
    Us,
    /// Another one: the holder that stands in the lease.
    Other(String),
}

/// What the writer is at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgressReport {
    /// The phase; `None` while no authority is being exchanged.
    pub phase: Option<Phase>,
    /// What happens next, and why.
    pub next: String,
    /// When this was found.
    pub at: SystemTime,
}

/// An entry that carries a bundle, or is to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsumerReport {
    /// The object, as kind and name.
    pub object: String,
    /// The entry in it; `None` where the whole object is meant.
    pub entry: Option<String>,
    /// What is known of it.
    pub state: ConsumerState,
}

/// What is known of an entry that carries a bundle, or is to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConsumerState {
    /// Its bundle vouches for the certificate that this replica shows.
    Trusts,
    /// Its bundle doesn't.
    Refuses,
    /// It carries nothing.
    Empty,
    /// There is no such object.
    Absent,
    /// It is a CRD whose conversion stanza somebody has changed or removed.
    Unconverted,
    /// It is not ours to write.
    NotOurs(NotOurs),
}

/// Why an entry is not ours to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotOurs {
    /// It carries our labels under a name that is not ours.
    OtherName,
    /// It calls a URL.
    Url,
    /// It calls another Service than ours.
    OtherService(ServiceName),
    /// It converts in another way than by a webhook.
    NoWebhook,
}

impl Report {
    /// The consumers that API servers can't call this replica through.
    pub fn at_fault(&self) -> impl Iterator<Item = &ConsumerReport> {
        self.consumers.iter().filter(|consumer| consumer.state != ConsumerState::Trusts)
    }

    /// How long the certificate still is valid; nothing if it is over, or there is none.
    pub fn certificate_ends_in(&self, now: SystemTime) -> Option<Duration> {
        self.certificate.and_then(|certificate| certificate.not_after().duration_since(now).ok())
    }

    /// What a person may want to know, one fact a line.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = vec![format!("writer: {}", self.writer)];
        if let Some(ProgressReport { phase, next, .. }) = &self.progress {
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

impl fmt::Display for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nobody => f.write_str("none known"),
            Self::Us => f.write_str("this replica"),
            Self::Other(holder) => f.write_str(holder),
        }
    }
}

impl fmt::Display for ConsumerReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.object)?;
        if let Some(entry) = &self.entry {
            write!(f, " ({entry})")?;
        }
        match &self.state {
            ConsumerState::Trusts => f.write_str(" trusts this replica"),
            ConsumerState::Refuses => f.write_str(" carries a bundle that doesn't vouch for this replica"),
            ConsumerState::Empty => f.write_str(" carries no bundle yet"),
            ConsumerState::Absent => f.write_str(" is not there; it is waited for"),
            ConsumerState::Unconverted => f.write_str(" lacks our conversion stanza, which is restored"),
            ConsumerState::NotOurs(why) => write!(f, " {why}"),
        }
    }
}

impl fmt::Display for NotOurs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherName => f.write_str("carries our labels but is not ours to write: its name is another"),
            Self::Url => f.write_str("is not ours to write: it calls a URL"),
            Self::OtherService(service) => write!(f, "is not ours to write: it calls the Service {service}"),
            Self::NoWebhook => f.write_str("is not ours to write: it names no webhook for conversion"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn consumer(state: ConsumerState) -> ConsumerReport {
        let object = "ValidatingWebhookConfiguration otter".to_owned();
        ConsumerReport { object, entry: Some("graph.otter.dev".to_owned()), state }
    }

    #[test]
    fn only_what_is_wrong_with_a_consumer_is_told() {
        let other = ServiceName { namespace: "zoo".to_owned(), name: "badger".to_owned() };
        let states = [ConsumerState::Trusts, ConsumerState::NotOurs(NotOurs::OtherService(other))];
        let report = Report { consumers: states.map(consumer).into(), ..Report::default() };
        let told = "ValidatingWebhookConfiguration otter (graph.otter.dev) is not ours to write: it calls the Service \
                    zoo/badger";
        assert_eq!(report.attention(), [told]);
    }

    #[test]
    fn the_writer_tells_what_it_is_at() {
        let next = "make an authority".to_owned();
        let progress = ProgressReport { phase: Some(Phase::Publish), next, at: SystemTime::UNIX_EPOCH };
        let report = Report { writer: Writer::Us, progress: Some(progress), ..Report::default() };
        let notes = ["writer: this replica", "exchange of authorities: publish", "next: make an authority"];
        assert_eq!(report.notes(), notes);
    }
}
