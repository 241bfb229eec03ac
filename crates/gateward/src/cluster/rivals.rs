//! Other webhooks for the same kinds: looked for now and then, and told wherever people look.

use std::collections::BTreeSet;
use std::time::Duration;

use gateward_cluster::Connection;
use gateward_cluster::rivals::{Ours, Rival, find};
use gateward_server::metrics::cluster::ClusterMetrics;
use gateward_server::{Line, Readiness};

/// How often. Nothing breaks in a moment because there are two.
const PAUSE: Duration = Duration::from_secs(10);

/// The name of the report in the readiness pages.
const NAME: &str = "rivals";

/// Looks for them, again and again.
pub(super) async fn look_out(connection: Connection, ours: Ours, readiness: Readiness, metrics: ClusterMetrics) {
    let mut before = BTreeSet::new();
    loop {
        match find(&connection, &ours).await {
            Ok(rivals) => {
                let rivals: BTreeSet<Rival> = rivals.into_iter().collect();
                if rivals != before {
                    tell(&rivals, &before, &readiness, &metrics);
                    before = rivals;
                }
            }
            // What was told last stays told; that the API server is away is told by others.
            Err(why) => tracing::debug!(why, "other webhooks for our kinds can't be looked for"),
        }
        tokio::time::sleep(PAUSE).await;
    }
}

fn tell(rivals: &BTreeSet<Rival>, before: &BTreeSet<Rival>, readiness: &Readiness, metrics: &ClusterMetrics) {
    rivals.difference(before).for_each(|rival| tracing::warn!("{rival}"));
    before.difference(rivals).for_each(|rival| tracing::info!("no longer: {rival}"));
    readiness.report(NAME, rivals.iter().map(|rival| Line::Warning(rival.to_string())).collect());
    let configurations: BTreeSet<&str> = rivals.iter().map(|rival| rival.configuration.as_str()).collect();
    metrics.rivals(configurations);
}
