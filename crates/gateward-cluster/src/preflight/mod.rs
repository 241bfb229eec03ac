//! Checks before an upgrade, for `doctor --preflight`.
//!
//! Each check decides purely, from what was observed. The cluster is read with the rights of the person who asks; what
//! those don't reach, and what isn't there before the upgrade, is not provable yet.

mod certificates;
mod check;
mod conflicts;
mod planned_release;
mod reachability;
mod rights;
#[cfg(test)]
mod testing;

use crate::connection::Connection;

pub use check::{PreflightCheck, PreflightResult, PreflightState};
pub use planned_release::{HandOver, PlannedRelease};

/// Checks all that depends on the cluster.
pub async fn preflight(connection: &Connection, planned: &PlannedRelease) -> Vec<PreflightResult> {
    let client = connection.client();
    let (reachability, certificates, conflicts, rights) = tokio::join!(
        reachability::check(&client, planned),
        certificates::check(connection, planned),
        conflicts::check(connection, planned),
        rights::check(&client, planned),
    );
    let results = [vec![reachability], certificates, conflicts, vec![rights]];
    results.into_iter().flatten().collect()
}
