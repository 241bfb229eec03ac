//! Other webhooks for the same kinds, told wherever people look.

use std::collections::BTreeSet;

use gateward_cluster::Rival;
use gateward_server::metrics::cluster::ClusterMetrics;
use gateward_server::{Line, Readiness};

/// The name of the report in the readiness pages.
const NAME: &str = "rivals";

/// Tells of them where they are others than before.
pub(super) fn tell(before: &[Rival], now: &[Rival], readiness: &Readiness, metrics: &ClusterMetrics) {
    if before == now {
        return;
    }
    now.iter().filter(|rival| !before.contains(rival)).for_each(|rival| tracing::warn!("{rival}"));
    before.iter().filter(|rival| !now.contains(rival)).for_each(|rival| tracing::info!("no longer: {rival}"));
    readiness.report(NAME, now.iter().map(|rival| Line::Warning(rival.to_string())).collect());
    let configurations: BTreeSet<&str> = now.iter().map(|rival| rival.configuration.as_str()).collect();
    metrics.rivals(configurations);
}
