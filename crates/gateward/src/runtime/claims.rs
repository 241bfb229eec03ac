//! Claims on namespaces, in readiness, metrics and log.

use std::time::Duration;

use gateward_cluster::{ClaimState, ClaimsStatus, HolderState, NamespaceClaims, NamespaceStatus};
use gateward_server::metrics::cluster::{ClusterMetrics, LeaseAccess};
use gateward_server::{Readiness, ReportLine};
use tokio::sync::watch;

/// The name of the report in the readiness pages.
const NAME: &str = "namespaces";

/// What changes within this time is reported together: who may write a Lease can do so a thousand times a second.
const REPORTED_EVERY: Duration = Duration::from_secs(1);

/// How many namespaces the readiness page lists.
const LISTED: usize = 50;

/// Reports what others have claimed, whenever it changes.
pub(super) async fn follow(mut claims: NamespaceClaims, readiness: &Readiness, metrics: &ClusterMetrics) {
    let mut before = None;
    loop {
        let now = claims.status();
        if before.as_ref() != Some(&now) {
            readiness.report(NAME, lines(&now));
            metrics.lease_unreadable(access(&now));
            metrics.namespace_claims(now.namespaces.iter().map(|it| (it.namespace.as_str(), it.state.as_str())));
            log(before.as_ref(), &now);
            before = Some(now);
        }
        tokio::time::sleep(REPORTED_EVERY).await;
        if !claims.changed().await {
            return;
        }
    }
}

/// Reports whether this release has claimed its namespace.
pub(super) async fn follow_holder(mut states: watch::Receiver<HolderState>, readiness: &Readiness) {
    loop {
        let line = holder_line(&states.borrow_and_update());
        readiness.report(NAME, vec![line]);
        if states.changed().await.is_err() {
            return;
        }
    }
}

fn access(status: &ClaimsStatus) -> LeaseAccess {
    if status.unreadable.is_some() { LeaseAccess::Unreadable } else { LeaseAccess::Readable }
}

fn holder_line(state: &HolderState) -> ReportLine {
    match state {
        HolderState::Unknown => ReportLine::Note("the namespace is not claimed yet".into()),
        HolderState::Following => ReportLine::Note("the leader claims the namespace".into()),
        HolderState::Holding => ReportLine::Note("this replica claims the namespace".into()),
        HolderState::HeldBy(holder) => ReportLine::Warning(format!(
            "{holder} claims the namespace too: what is written in it is judged by both; remove one"
        )),
        HolderState::Failing(why) => ReportLine::Warning(format!(
            "the namespace's Lease can't be kept: {why}; once it has expired, the operator of the whole cluster judges too"
        )),
    }
}

fn lines(status: &ClaimsStatus) -> Vec<ReportLine> {
    let unreadable = status.unreadable.iter().map(|why| {
        ReportLine::Warning(format!(
            "{why}; known claims count until they expire and while their webhooks are seen to be there, others don't count"
        ))
    });
    let claims = status.namespaces.iter().take(LISTED).map(line);
    let more = status.namespaces.len().checked_sub(LISTED + 1);
    let more = more.map(|more| ReportLine::Note(format!("{} more namespaces have a Lease", more + 1)));
    unreadable.chain(claims).chain(more).collect()
}

fn line(claim: &NamespaceStatus) -> ReportLine {
    let NamespaceStatus { namespace, state, holders, configurations } = claim;
    let holders = holders.join(" and ");
    match state {
        ClaimState::Counted => {
            let configurations = configurations.join(" and ");
            ReportLine::Note(format!("namespace {namespace} is claimed by {holders}, with {configurations}"))
        }
        ClaimState::LeaseAlone => ReportLine::Warning(format!(
            "namespace {namespace}: a Lease of {holders} claims it and counts for nothing, since no webhook of another \
             release selects the namespace by its name, leaves nothing out and refuses what it can't judge"
        )),
        ClaimState::Expired => ReportLine::Note(format!("namespace {namespace}: its Lease has expired")),
    }
}

/// Each claim that begins, ends or changes.
fn log(before: Option<&ClaimsStatus>, now: &ClaimsStatus) {
    let known = before.map(|status| status.namespaces.as_slice()).unwrap_or_default();
    for claim in now.namespaces.iter().filter(|claim| !known.contains(claim)).take(LISTED) {
        match line(claim) {
            ReportLine::Warning(text) => tracing::warn!("{text}"),
            ReportLine::Note(text) => tracing::info!("{text}"),
        }
    }
    let gone = known.iter().filter(|claim| !now.namespaces.iter().any(|it| it.namespace == claim.namespace));
    gone.take(LISTED).for_each(|claim| tracing::info!("namespace {}: its Lease is gone", claim.namespace));
    if let Some(before) = before {
        log_readability(before, now);
    }
}

fn log_readability(before: &ClaimsStatus, now: &ClaimsStatus) {
    match (&before.unreadable, &now.unreadable) {
        (None, Some(why)) => tracing::warn!("{why}; claims that are known count until they expire"),
        (Some(_), None) => tracing::info!("leases and webhook configurations can be read"),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(namespace: &str, state: ClaimState) -> NamespaceStatus {
        let (holders, configurations) = (vec!["river/1".to_owned()], vec!["river-validating".to_owned()]);
        NamespaceStatus { namespace: namespace.to_owned(), state, holders, configurations }
    }

    #[test]
    fn a_claim_is_a_note_and_a_lease_alone_a_warning() {
        let namespaces = vec![claim("team-a", ClaimState::Counted), claim("team-b", ClaimState::LeaseAlone)];
        let lines = lines(&ClaimsStatus { namespaces, unreadable: Some("no list".into()) });
        let counted = "namespace team-a is claimed by river/1, with river-validating";
        assert!(matches!(&lines[0], ReportLine::Warning(text) if text.starts_with("no list; ")));
        assert_eq!(lines[1], ReportLine::Note(counted.into()));
        assert!(matches!(&lines[2], ReportLine::Warning(text) if text.contains("counts for nothing")));
    }

    #[test]
    fn the_page_does_not_grow_with_the_cluster() {
        let namespaces = (0..1_000).map(|number| claim(&number.to_string(), ClaimState::Expired)).collect();
        let lines = lines(&ClaimsStatus { namespaces, unreadable: None });
        assert_eq!(lines.len(), LISTED + 1);
        assert_eq!(lines[LISTED], ReportLine::Note("950 more namespaces have a Lease".into()));
    }
}
