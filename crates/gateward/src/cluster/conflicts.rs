//! Other webhooks for the same kinds, told wherever people look.

use std::collections::BTreeSet;

use gateward_cluster::ConflictingWebhook;
use gateward_server::metrics::cluster::ClusterMetrics;
use gateward_server::{Line, Readiness};

/// The name of the report in the readiness pages.
const NAME: &str = "rivals";

/// Tells of them where they are others than before.
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
    readiness.report(NAME, now.iter().map(|conflict| Line::Warning(conflict.to_string())).collect());
    let configurations: BTreeSet<&str> = now.iter().map(|conflict| conflict.configuration.as_str()).collect();
    metrics.rivals(configurations);
}
