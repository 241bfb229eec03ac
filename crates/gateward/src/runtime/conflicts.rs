//! Other webhooks for the same kinds, shown in readiness, metrics and log.

use std::collections::BTreeSet;

use gateward_cluster::{ConflictingWebhook, NamespaceClaims};
use gateward_server::ClusterMetrics;
use gateward_server::{Readiness, ReportLine};

/// The name of the report in the readiness pages.
const NAME: &str = "conflicts";

/// Those that stand behind no claim: a claim is reported as such, and what it covers isn't judged twice.
pub(super) fn unclaimed(
    mut conflicts: Vec<ConflictingWebhook>,
    claims: Option<&NamespaceClaims>,
) -> Vec<ConflictingWebhook> {
    let claims = claims.map(NamespaceClaims::status).unwrap_or_default();
    let claiming: BTreeSet<&String> = claims.namespaces.iter().flat_map(|claim| &claim.configurations).collect();
    conflicts.retain(|conflict| !claiming.contains(&conflict.configuration));
    conflicts
}

/// Reports them where they changed.
pub(super) fn report(
    before: &[ConflictingWebhook],
    now: &[ConflictingWebhook],
    readiness: &Readiness,
    metrics: &ClusterMetrics,
) {
    if before == now {
        return;
    }
    now.iter().filter(|conflict| !before.contains(conflict)).for_each(|conflict| tracing::warn!("{conflict}"));
    before
        .iter()
        .filter(|conflict| !now.contains(conflict))
        .for_each(|conflict| tracing::info!("no longer: {conflict}"));
    readiness.report(NAME, now.iter().map(|conflict| ReportLine::Warning(conflict.to_string())).collect());
    let configurations: BTreeSet<&str> = now.iter().map(|conflict| conflict.configuration.as_str()).collect();
    metrics.conflicting_configurations(configurations);
}
