//! What the keeper knows, told in the readiness pages, the metrics and the log.

use gateward_cluster::{ConsumerState, Report, Writer};
use gateward_server::metrics::cluster::{ClusterMetrics, Consumers, Role};
use gateward_server::{Line, Readiness};
use tokio::sync::watch;

use super::rivals;

/// Where words for people who look for the injection of bundles are found.
const TARGET: &str = "ca-bundle-injector";

/// The name of the report in the readiness pages.
const NAME: &str = "certificates";

/// Tells of every change, for as long as the keeper lives.
pub(super) async fn follow(mut reports: watch::Receiver<Report>, readiness: Readiness, metrics: ClusterMetrics) {
    let mut before = Report::default();
    loop {
        let now = reports.borrow_and_update().clone();
        readiness.report(NAME, lines(&now));
        measure(&now, &metrics);
        log(&before, &now);
        rivals::tell(&before.rivals, &now.rivals, &readiness, &metrics);
        before = now;
        if reports.changed().await.is_err() {
            return;
        }
    }
}

fn lines(report: &Report) -> Vec<Line> {
    let notes = report.notes().into_iter().map(Line::Note);
    notes.chain(report.attention().into_iter().map(Line::Warning)).collect()
}

fn measure(report: &Report, metrics: &ClusterMetrics) {
    metrics.leaf_expires(report.certificate.map(|validity| validity.not_after()));
    metrics.authority_expires(report.authority.map(|validity| validity.not_after()));
    metrics.consumers(count(report));
    metrics.repaired(report.repairs);
    metrics.rotation(report.progress.as_ref().and_then(|progress| progress.phase));
    metrics.role(if report.writer == Writer::Us { Role::Writer } else { Role::Follower });
}

/// Those that call us or are about to, and those among them that could not.
fn count(report: &Report) -> Consumers {
    let count =
        |states: &[ConsumerState]| report.consumers.iter().filter(|consumer| states.contains(&consumer.state)).count();
    let lacking = count(&[ConsumerState::Refuses, ConsumerState::Empty, ConsumerState::Unconverted]);
    Consumers { matched: count(&[ConsumerState::Trusts]) + lacking, lacking }
}

fn log(before: &Report, now: &Report) {
    if before.writer != now.writer {
        tracing::info!(target: TARGET, writer = %now.writer, "who writes Secrets and caBundles");
    }
    for consumer in now.at_fault().filter(|consumer| !before.consumers.contains(consumer)) {
        tracing::info!(target: TARGET, "{consumer}");
    }
    if now.at_fault().next().is_none() && before.at_fault().next().is_some() && !now.consumers.is_empty() {
        tracing::info!(target: TARGET, "every caBundle vouches for this replica");
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use gateward_cluster::{ConsumerReport, ProgressReport};

    use super::*;

    fn report(states: &[ConsumerState]) -> Report {
        let consumer = |state: &ConsumerState| ConsumerReport {
            object: "ValidatingWebhookConfiguration otter".into(),
            entry: Some("a".into()),
            state: state.clone(),
        };
        Report { consumers: states.iter().map(consumer).collect(), ..Report::default() }
    }

    #[test]
    fn what_someone_should_mend_is_a_warning() {
        let progress = ProgressReport { phase: None, next: "nothing".into(), at: SystemTime::UNIX_EPOCH };
        let report = Report {
            writer: Writer::Us,
            progress: Some(progress),
            warnings: vec!["someone fights".into()],
            ..report(&[ConsumerState::Trusts, ConsumerState::Empty])
        };
        assert_eq!(
            lines(&report),
            [
                Line::Note("writer: this replica".into()),
                Line::Note("next: nothing".into()),
                Line::Warning("someone fights".into()),
                Line::Warning("ValidatingWebhookConfiguration otter (a) carries no bundle yet".into()),
            ]
        );
    }

    #[test]
    fn a_crd_that_nobody_converts_is_counted_as_lacking() {
        assert_eq!(count(&report(&[ConsumerState::Unconverted])), Consumers { matched: 1, lacking: 1 });
    }

    #[test]
    fn only_those_that_call_us_are_counted() {
        let states = [ConsumerState::Trusts, ConsumerState::Refuses, ConsumerState::Empty, ConsumerState::Absent];
        assert_eq!(count(&report(&states)), Consumers { matched: 3, lacking: 2 });
    }
}
