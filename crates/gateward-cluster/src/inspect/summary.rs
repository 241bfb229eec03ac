//! What was found, as it is printed.

use std::fmt;

use gateward_certs::secret::CaState;
use gateward_certs::{TrustAnchor, Validity, rfc3339};
use serde::Serialize;

use super::Inspection;
use crate::report::{ConsumerReport, ConsumerState, Writer};

/// What was found, in words and RFC 3339.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// The exchange of authorities that is under way.
    pub rotation: Option<Rotation>,
    /// The authority.
    pub authority: Certificate,
    /// The authorities that are being replaced.
    pub old_authorities: Vec<Certificate>,
    /// The server's certificate.
    pub certificate: Certificate,
    /// Who holds the writer's lease.
    pub writer: Option<String>,
    /// Each object that carries bundles, or is to.
    pub consumers: Vec<Consumer>,
    /// What happens next, as far as it can be told without asking the replicas.
    pub next: String,
    /// What a person should look at; nothing if all is well, or on its way.
    pub attention: Vec<String>,
}

/// An exchange of authorities.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Rotation {
    /// How far it has come.
    pub phase: String,
    /// Since when.
    pub since: Option<String>,
    /// Why authorities are exchanged.
    pub cause: Option<String>,
}

/// A certificate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Certificate {
    /// What it is worth.
    pub state: String,
    /// The SHA-256 of it, where there is one.
    pub fingerprint: Option<String>,
    /// When it ends.
    pub not_after: Option<String>,
}

/// An entry that carries a bundle, or is to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Consumer {
    /// The object, as kind and name.
    pub object: String,
    /// The entry in it.
    pub entry: Option<String>,
    /// `Trusts`, `Refuses`, `Empty`, `Absent` or `NotOurs`.
    pub state: &'static str,
}

impl Inspection {
    /// What is printed.
    pub fn summary(&self) -> Summary {
        let status = &self.status;
        Summary {
            rotation: status.phase.map(|phase| Rotation {
                phase: phase.to_string(),
                since: status.since.map(rfc3339),
                cause: status.cause.map(|cause| cause.to_string()),
            }),
            authority: authority(&status.ca),
            old_authorities: status.outgoing.iter().map(|anchor| of_anchor("trusted still", anchor)).collect(),
            certificate: Certificate {
                state: status.serving.to_string(),
                fingerprint: status.serving.certificate().map(|pair| fingerprint(pair.end_entity())),
                not_after: status.serving.certificate().map(|pair| end(pair.validity())),
            },
            writer: match &self.writer {
                Writer::Other(holder) => Some(holder.clone()),
                Writer::Us | Writer::Nobody => None,
            },
            consumers: self.consumers.iter().map(consumer).collect(),
            next: self.next(),
            attention: self.attention(),
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.rotation {
            None => writeln!(f, "rotation:   none under way")?,
            Some(Rotation { phase, since, cause }) => {
                let since = since.as_ref().map(|since| format!(" since {since}")).unwrap_or_default();
                let cause = cause.as_ref().map(|cause| format!(" ({cause})")).unwrap_or_default();
                writeln!(f, "rotation:   {phase}{since}{cause}")?;
            }
        }
        writeln!(f, "authority:  {}", self.authority)?;
        self.old_authorities.iter().try_for_each(|old| writeln!(f, "old:        {old}"))?;
        writeln!(f, "server:     {}", self.certificate)?;
        writeln!(f, "writer:     {}", self.writer.as_deref().unwrap_or("none"))?;
        let trusting = self.consumers.iter().filter(|consumer| consumer.state == TRUSTS).count();
        writeln!(f, "consumers:  {trusting} trust the server's certificate")?;
        writeln!(f, "next:       {}", self.next)?;
        self.attention.iter().try_for_each(|line| writeln!(f, "attention:  {line}"))
    }
}

impl fmt::Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.fingerprint {
            Some(fingerprint) => write!(f, "{}: {}", fingerprint.get(..12).unwrap_or_default(), self.state),
            None => f.write_str(&self.state),
        }
    }
}

const TRUSTS: &str = "Trusts";

fn authority(state: &CaState) -> Certificate {
    match state.usable() {
        Some(authority) => of_anchor(&state.to_string(), authority.trust_anchor()),
        None => Certificate { state: state.to_string(), fingerprint: None, not_after: None },
    }
}

fn of_anchor(state: &str, anchor: &TrustAnchor) -> Certificate {
    let (fingerprint, not_after) = (Some(anchor.fingerprint().to_string()), Some(end(anchor.validity())));
    Certificate { state: state.to_owned(), fingerprint, not_after }
}

fn fingerprint(certificate: &[u8]) -> String {
    gateward_certs::Fingerprint::of(certificate).to_string()
}

fn consumer(report: &ConsumerReport) -> Consumer {
    let state = match report.state {
        ConsumerState::Trusts => TRUSTS,
        ConsumerState::Refuses => "Refuses",
        ConsumerState::Empty => "Empty",
        ConsumerState::Absent => "Absent",
        ConsumerState::Unconverted => "Unconverted",
        ConsumerState::NotOurs(_) => "NotOurs",
    };
    Consumer { object: report.object.clone(), entry: report.entry.clone(), state }
}

fn end(validity: Validity) -> String {
    rfc3339(validity.not_after())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary() -> Summary {
        let certificate = |state: &str| Certificate {
            state: state.to_owned(),
            fingerprint: Some("0123456789abcdef".to_owned()),
            not_after: Some("2037-01-12T08:00:00Z".to_owned()),
        };
        let object = "ValidatingWebhookConfiguration otter".to_owned();
        Summary {
            rotation: Some(Rotation {
                phase: "switch".to_owned(),
                since: Some("2027-01-15T08:00:00Z".to_owned()),
                cause: Some("it was asked for".to_owned()),
            }),
            authority: certificate("usable"),
            old_authorities: vec![certificate("trusted still")],
            certificate: certificate("complete"),
            writer: Some("otter-1".to_owned()),
            consumers: vec![Consumer { object, entry: Some("a".to_owned()), state: TRUSTS }],
            next: "the writer waits".to_owned(),
            attention: vec!["the writer otter-1 is silent".to_owned()],
        }
    }

    #[test]
    fn a_person_reads_one_fact_a_line() {
        assert_eq!(
            summary().to_string(),
            "rotation:   switch since 2027-01-15T08:00:00Z (it was asked for)\n\
             authority:  0123456789ab: usable\n\
             old:        0123456789ab: trusted still\n\
             server:     0123456789ab: complete\n\
             writer:     otter-1\n\
             consumers:  1 trust the server's certificate\n\
             next:       the writer waits\n\
             attention:  the writer otter-1 is silent\n"
        );
    }
}
