//! The output of `certs status`.

use std::fmt;

use gateward_certs::rotation::RotationStatus;
use gateward_certs::secret::{CaState, ServingCertificate};
use gateward_certs::{ProvisionMode, TrustAnchor, Validity, rfc3339};
use serde::Serialize;

use super::{CertificatesStatus, Inspection, ProvidedStatus};
use crate::injection::{TargetState, TargetStatus};
use crate::status::Leader;

/// An [`Inspection`] as text, with times in RFC 3339.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// Who provides certificates and `caBundle`s: `auto`, `cert-manager` or `external`.
    pub provider: &'static str,
    /// The CA rotation that is under way.
    pub rotation: Option<RotationSummary>,
    /// The CA.
    pub ca: CertificateSummary,
    /// The CAs that are being replaced.
    #[serde(rename = "oldCas")]
    pub old_cas: Vec<CertificateSummary>,
    /// The serving certificate.
    pub certificate: CertificateSummary,
    /// The holder of the lease.
    pub leader: Option<String>,
    /// The injection targets.
    pub targets: Vec<TargetSummary>,
    /// The next step, as far as it is known without probing the replicas.
    pub next: String,
    /// What a person should look at; nothing if all is well, or on its way.
    pub attention: Vec<String>,
}

/// A CA rotation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RotationSummary {
    /// How far it has come.
    pub phase: String,
    /// Since when.
    pub since: Option<String>,
    /// Why CAs are rotated.
    pub cause: Option<String>,
}

/// A certificate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CertificateSummary {
    /// Its state.
    pub state: String,
    /// The SHA-256 of it, where there is one.
    pub fingerprint: Option<String>,
    /// When it ends.
    pub not_after: Option<String>,
}

/// An injection target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TargetSummary {
    /// The object, as kind and name.
    pub object: String,
    /// The entry in it.
    pub entry: Option<String>,
    /// `Trusts`, `Refuses`, `Empty`, `Absent` or `NotOurs`.
    pub state: &'static str,
}

impl Inspection {
    /// The summary to print.
    pub fn summary(&self) -> Summary {
        let (rotation, ca, outgoing, certificate) = match &self.status {
            CertificatesStatus::Own(status) => (rotation(status), ca(&status.ca), &status.outgoing, own(status)),
            CertificatesStatus::Provided(status) => (None, roots(status), &status.outgoing, provided(status)),
        };
        Summary {
            provider: self.provider.name(),
            rotation,
            ca,
            old_cas: outgoing.iter().map(|anchor| of_anchor("trusted still", anchor)).collect(),
            certificate,
            leader: match &self.leader {
                Leader::Other(holder) => Some(holder.clone()),
                Leader::ThisReplica | Leader::Unknown => None,
            },
            targets: self.targets.iter().map(target).collect(),
            next: self.next(),
            attention: self.attention(),
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "provider:   {}", self.provider)?;
        match &self.rotation {
            None if self.provider != ProvisionMode::Automatic.name() => {}
            None => writeln!(f, "rotation:   none under way")?,
            Some(RotationSummary { phase, since, cause }) => {
                let since = since.as_ref().map(|since| format!(" since {since}")).unwrap_or_default();
                let cause = cause.as_ref().map(|cause| format!(" ({cause})")).unwrap_or_default();
                writeln!(f, "rotation:   {phase}{since}{cause}")?;
            }
        }
        writeln!(f, "CA:         {}", self.ca)?;
        self.old_cas.iter().try_for_each(|old| writeln!(f, "old:        {old}"))?;
        writeln!(f, "server:     {}", self.certificate)?;
        writeln!(f, "leader:     {}", self.leader.as_deref().unwrap_or("none"))?;
        let trusting = self.targets.iter().filter(|target| target.state == TRUSTS).count();
        writeln!(f, "targets:    {trusting} trust the server's certificate")?;
        writeln!(f, "next:       {}", self.next)?;
        self.attention.iter().try_for_each(|line| writeln!(f, "attention:  {line}"))
    }
}

impl fmt::Display for CertificateSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.fingerprint {
            Some(fingerprint) => write!(f, "{}: {}", fingerprint.get(..12).unwrap_or_default(), self.state),
            None => f.write_str(&self.state),
        }
    }
}

const TRUSTS: &str = "Trusts";

fn rotation(status: &RotationStatus) -> Option<RotationSummary> {
    status.phase.map(|phase| RotationSummary {
        phase: phase.to_string(),
        since: status.since.map(rfc3339),
        cause: status.cause.map(|cause| cause.to_string()),
    })
}

fn own(status: &RotationStatus) -> CertificateSummary {
    of_certificate(status.serving.to_string(), status.serving.certificate())
}

fn provided(status: &ProvidedStatus) -> CertificateSummary {
    let state = match &status.serving {
        Some(certificate) => format!("valid until {}", end(certificate.validity())),
        None => "missing, or unusable".to_owned(),
    };
    of_certificate(state, status.serving.as_ref())
}

fn of_certificate(state: String, certificate: Option<&ServingCertificate>) -> CertificateSummary {
    CertificateSummary {
        state,
        fingerprint: certificate.map(|certificate| fingerprint(certificate.end_entity())),
        not_after: certificate.map(|certificate| end(certificate.validity())),
    }
}

/// The CA that ends last.
fn roots(status: &ProvidedStatus) -> CertificateSummary {
    match status.roots.iter().max_by_key(|anchor| anchor.validity().not_after()) {
        Some(anchor) => of_anchor(&format!("valid until {}", end(anchor.validity())), anchor),
        None => CertificateSummary { state: "none is known".to_owned(), fingerprint: None, not_after: None },
    }
}

fn ca(state: &CaState) -> CertificateSummary {
    match state.usable() {
        Some(ca) => of_anchor(&state.to_string(), ca.trust_anchor()),
        None => CertificateSummary { state: state.to_string(), fingerprint: None, not_after: None },
    }
}

fn of_anchor(state: &str, anchor: &TrustAnchor) -> CertificateSummary {
    let (fingerprint, not_after) = (Some(anchor.fingerprint().to_string()), Some(end(anchor.validity())));
    CertificateSummary { state: state.to_owned(), fingerprint, not_after }
}

fn fingerprint(certificate: &[u8]) -> String {
    gateward_certs::Fingerprint::of(certificate).to_string()
}

fn target(status: &TargetStatus) -> TargetSummary {
    let state = match status.state {
        TargetState::Trusts => TRUSTS,
        TargetState::Refuses => "Refuses",
        TargetState::Empty => "Empty",
        TargetState::Absent => "Absent",
        TargetState::Unconverted => "Unconverted",
        TargetState::ConvertedBy(_) => "ConvertedBy",
        TargetState::NotOurs(_) => "NotOurs",
    };
    TargetSummary { object: status.object.clone(), entry: status.entry.clone(), state }
}

fn end(validity: Validity) -> String {
    rfc3339(validity.not_after())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary() -> Summary {
        let certificate = |state: &str| CertificateSummary {
            state: state.to_owned(),
            fingerprint: Some("0123456789abcdef".to_owned()),
            not_after: Some("2037-01-12T08:00:00Z".to_owned()),
        };
        let object = "ValidatingWebhookConfiguration otter".to_owned();
        Summary {
            provider: "auto",
            rotation: Some(RotationSummary {
                phase: "switch".to_owned(),
                since: Some("2027-01-15T08:00:00Z".to_owned()),
                cause: Some("it was requested".to_owned()),
            }),
            ca: certificate("usable"),
            old_cas: vec![certificate("trusted still")],
            certificate: certificate("complete"),
            leader: Some("otter-1".to_owned()),
            targets: vec![TargetSummary { object, entry: Some("a".to_owned()), state: TRUSTS }],
            next: "the leader waits".to_owned(),
            attention: vec!["the leader otter-1 is silent".to_owned()],
        }
    }

    #[test]
    fn a_person_reads_one_fact_a_line() {
        assert_eq!(
            summary().to_string(),
            "provider:   auto\n\
             rotation:   switch since 2027-01-15T08:00:00Z (it was requested)\n\
             CA:         0123456789ab: usable\n\
             old:        0123456789ab: trusted still\n\
             server:     0123456789ab: complete\n\
             leader:     otter-1\n\
             targets:    1 trust the server's certificate\n\
             next:       the leader waits\n\
             attention:  the leader otter-1 is silent\n"
        );
    }

    #[test]
    fn json_keeps_its_field_names() {
        let json = serde_json::to_value(summary()).unwrap();
        let mut names: Vec<_> = json.as_object().unwrap().keys().map(String::as_str).collect();
        names.sort_unstable();
        let expected =
            ["attention", "ca", "certificate", "leader", "next", "oldCas", "provider", "rotation", "targets"];
        assert_eq!(names, expected);
    }
}
