//! Evaluates the status of each injection target.

use std::collections::BTreeMap;

use gateward_certs::CaBundle;
use rustls::pki_types::CertificateDer;

use super::classify::{TargetObject, absent};
use super::target_status::{TargetState, TargetStatus};
use crate::config::InjectionRules;

/// The status of each target for the chain of a serving certificate, which is empty where there is none.
pub(crate) fn target_statuses(
    seen: &[TargetObject],
    rules: &InjectionRules,
    shown: &[CertificateDer<'static>],
) -> Vec<TargetStatus> {
    // Most targets have the same `caBundle`, and verifying is expensive.
    let mut verdicts = BTreeMap::new();
    let mut reports = Vec::new();
    for found in seen {
        for entry in &found.entries {
            let bundle = &entry.target.bundle;
            let state = verdicts.entry(bundle).or_insert_with(|| verdict(bundle, shown)).clone();
            let id = entry.target.id.clone();
            reports.push(TargetStatus { object: id.object, entry: Some(id.entry), state });
        }
        reports.extend(found.others.iter().cloned());
    }
    reports.extend(absent(rules, seen));
    reports
}

fn verdict(bundle: &[u8], shown: &[CertificateDer<'static>]) -> TargetState {
    if bundle.is_empty() {
        TargetState::Empty
    } else if CaBundle::parse_lossy(bundle).0.verifies_chain(shown, None) {
        TargetState::Trusts
    } else {
        TargetState::Refuses
    }
}
