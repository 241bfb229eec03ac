//! What is told of those who carry bundles.

use std::collections::BTreeMap;

use gateward_certs::CaBundle;
use rustls::pki_types::CertificateDer;

use super::classify::{TargetObject, absent};
use super::target_status::{TargetState, TargetStatus};
use crate::config::InjectionRules;

/// What is known of each, measured by the certificate that is shown to them.
pub(crate) fn target_statuses(
    seen: &[TargetObject],
    rules: &InjectionRules,
    shown: Option<&CertificateDer<'static>>,
) -> Vec<TargetStatus> {
    // Most carry the same, and judging it is no trifle.
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

fn verdict(bundle: &[u8], shown: Option<&CertificateDer<'static>>) -> TargetState {
    match shown {
        _ if bundle.is_empty() => TargetState::Empty,
        Some(shown) if CaBundle::parse_lossy(bundle).0.verifies(shown) => TargetState::Trusts,
        _ => TargetState::Refuses,
    }
}
