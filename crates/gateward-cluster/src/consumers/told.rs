//! What is told of those who carry bundles.

use std::collections::BTreeMap;

use gateward_certs::CaBundle;
use rustls::pki_types::CertificateDer;

use super::find::{Sighting, absent};
use crate::report::{ConsumerReport, ConsumerState};
use crate::setup::ConsumerRules;

/// What is known of each, measured by the certificate that is shown to them.
pub(crate) fn told(
    seen: &[Sighting],
    rules: &ConsumerRules,
    shown: Option<&CertificateDer<'static>>,
) -> Vec<ConsumerReport> {
    // Most carry the same, and judging it is no trifle.
    let mut verdicts = BTreeMap::new();
    let mut reports = Vec::new();
    for sighting in seen {
        for entry in &sighting.entries {
            let bundle = &entry.consumer.bundle;
            let state = verdicts.entry(bundle).or_insert_with(|| verdict(bundle, shown)).clone();
            let id = entry.consumer.id.clone();
            reports.push(ConsumerReport { object: id.object, entry: Some(id.entry), state });
        }
        reports.extend(sighting.others.iter().cloned());
    }
    reports.extend(absent(rules, seen));
    reports
}

fn verdict(bundle: &[u8], shown: Option<&CertificateDer<'static>>) -> ConsumerState {
    match shown {
        _ if bundle.is_empty() => ConsumerState::Empty,
        Some(shown) if CaBundle::parse_lossy(bundle).0.verifies(shown) => ConsumerState::Trusts,
        _ => ConsumerState::Refuses,
    }
}
