//! The controller's status in readiness, metrics and log.

use gateward_cluster::{ControllerStatus, Leader, NamespaceClaims, TargetState};
use gateward_server::metrics::cluster::{ClusterMetrics, InjectionTargetCounts, Role};
use gateward_server::{Readiness, ReportLine};
use tokio::sync::watch;

use super::conflicts;

/// Where words for people who look for the injection of bundles are found.
const TARGET: &str = "ca-bundle-injector";

/// The name of the report in the readiness pages.
const NAME: &str = "certificates";

/// Reports every change, for as long as the controller lives.
pub(super) async fn follow(
    mut reports: watch::Receiver<ControllerStatus>,
    mut claims: Option<NamespaceClaims>,
    readiness: &Readiness,
    metrics: &ClusterMetrics,
) {
    let mut before = ControllerStatus::default();
    loop {
        let mut now = reports.borrow_and_update().clone();
        now.conflicts = conflicts::unclaimed(now.conflicts, claims.as_ref());
        readiness.report(NAME, lines(&now));
        measure(&now, metrics);
        log(&before, &now);
        conflicts::report(&before.conflicts, &now.conflicts, readiness, metrics);
        before = now;
        let claimed = async {
            match &mut claims {
                Some(claims) => claims.changed().await,
                None => std::future::pending().await,
            }
        };
        let goes_on = tokio::select! {
            changed = reports.changed() => changed.is_ok(),
            changed = claimed => changed,
        };
        if !goes_on {
            return;
        }
    }
}

fn lines(report: &ControllerStatus) -> Vec<ReportLine> {
    let notes = report.notes().into_iter().map(ReportLine::Note);
    notes.chain(report.attention().into_iter().map(ReportLine::Warning)).collect()
}

fn measure(report: &ControllerStatus, metrics: &ClusterMetrics) {
    metrics.serving_certificate_expires(report.certificate.map(|validity| validity.not_after()));
    metrics.ca_expires(report.ca.map(|validity| validity.not_after()));
    metrics.serving_secret_faults(report.secret_faults);
    metrics.injection_targets(count(report));
    metrics.restored(report.restored_bundles);
    metrics.rotation(report.progress.as_ref().and_then(|progress| progress.phase));
    metrics.role(if report.leader == Leader::ThisReplica { Role::Leader } else { Role::Follower });
}

/// Those that call us or are about to, those among them that could not, and those that are missing.
fn count(report: &ControllerStatus) -> InjectionTargetCounts {
    let count = |states: &[TargetState]| report.targets.iter().filter(|target| states.contains(&target.state)).count();
    let lacking = count(&[TargetState::Refuses, TargetState::Empty, TargetState::Unconverted]);
    let absent = count(&[TargetState::Absent]);
    InjectionTargetCounts { matched: count(&[TargetState::Trusts]) + lacking, lacking, absent }
}

fn log(before: &ControllerStatus, now: &ControllerStatus) {
    if before.leader != now.leader {
        tracing::info!(target: TARGET, leader = %now.leader, "leader changed");
    }
    for target in now.at_fault().filter(|target| !before.targets.contains(target)) {
        tracing::info!(target: TARGET, "{target}");
    }
    if now.at_fault().next().is_none() && before.at_fault().next().is_some() && !now.targets.is_empty() {
        tracing::info!(target: TARGET, "every caBundle verifies this replica");
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use gateward_cluster::{LeaderProgress, TargetStatus};

    use super::*;

    fn report(states: &[TargetState]) -> ControllerStatus {
        let target = |state: &TargetState| TargetStatus {
            object: "ValidatingWebhookConfiguration otter".into(),
            entry: Some("a".into()),
            state: state.clone(),
        };
        ControllerStatus { targets: states.iter().map(target).collect(), ..ControllerStatus::default() }
    }

    #[test]
    fn what_someone_should_mend_is_a_warning() {
        let progress = LeaderProgress { phase: None, next: "nothing".into(), at: SystemTime::UNIX_EPOCH };
        let report = ControllerStatus {
            leader: Leader::ThisReplica,
            progress: Some(progress),
            warnings: vec!["someone fights".into()],
            ..report(&[TargetState::Trusts, TargetState::Empty])
        };
        assert_eq!(
            lines(&report),
            [
                ReportLine::Note("leader: this replica".into()),
                ReportLine::Note("next: nothing".into()),
                ReportLine::Warning("someone fights".into()),
                ReportLine::Warning("ValidatingWebhookConfiguration otter (a) has no caBundle yet".into()),
            ]
        );
    }

    #[test]
    fn an_unconverted_crd_is_counted_as_lacking() {
        assert_eq!(
            count(&report(&[TargetState::Unconverted])),
            InjectionTargetCounts { matched: 1, lacking: 1, absent: 0 }
        );
    }

    #[test]
    fn only_those_that_call_us_are_counted() {
        let states = [TargetState::Trusts, TargetState::Refuses, TargetState::Empty, TargetState::Absent];
        assert_eq!(count(&report(&states)), InjectionTargetCounts { matched: 3, lacking: 2, absent: 1 });
    }
}
