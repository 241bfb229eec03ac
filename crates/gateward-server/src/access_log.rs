//! The access log: one line for each review. It never contains an object's contents; messages of findings, which may quote
//! values, are logged at debug only.

use std::borrow::Cow;
use std::time::Duration;

use gateward_core::{Decision, FieldPath, Outcome, Review, Severity, WebhookError};
use tracing::{debug, error, info, warn};

/// The target of every line of this crate, so that a search for "webhook" finds them.
pub(crate) const TARGET: &str = "webhook";

/// How many characters of a caller's text are logged: no name in Kubernetes is longer.
const LONGEST_TEXT: usize = 253;

/// A line about a review, in which its fields come first.
macro_rules! review_line {
    ($log:ident!, $record:expr, $($rest:tt)+) => {{
        let record: &Decision = $record;
        $log!(
            target: TARGET,
            uid = &*truncated(&record.uid),
            kind = &*truncated(&record.kind.to_string()),
            namespace = &*truncated(&record.namespace),
            name = &*truncated(&record.name),
            $($rest)+
        );
    }};
}

/// A handler panicked. The panic hook logs the location, if the program has installed it.
pub(crate) fn panicked(path: &str, record: &Decision) {
    review_line!(error!, record, path = &*truncated(path), "a handler panicked; its request was answered with 500");
}

/// One line for a review.
pub(crate) fn answered(review: Option<Review>, record: &Decision, handling_time: Option<Duration>) {
    let action = Action(review, record);
    match &record.outcome {
        // An error before the handler is counted; logging it would let anyone fill the log.
        Outcome::Error(why) if handling_time.is_none() => {
            debug!(target: TARGET, status = why.status(), why = &*truncated(&why.to_string()), "request refused");
        }
        Outcome::Error(why) => undecided(&action, record, why),
        Outcome::Denied { .. } => denied(&action, record),
        Outcome::Converted { objects, .. } => converted(record, *objects),
        Outcome::NotConverted { index, path } => not_converted(record, *index, path),
        Outcome::Skipped(skip) => {
            passed(&action, record, "skipped");
            review_line!(debug!, record, reason = skip.as_str(), "passed without being judged");
        }
        outcome => passed(&action, record, verdict(outcome)),
    }
}

fn passed(action: &Action<'_>, record: &Decision, verdict: &str) {
    review_line!(info!, record, verdict, rules = rules(record), "{action}");
}

fn undecided(action: &Action<'_>, record: &Decision, why: &WebhookError) {
    review_line!(warn!, record, verdict = "undecided", status = why.status(), "{action}");
    review_line!(debug!, record, why = &*truncated(&why.to_string()), "undecided");
}

fn denied(action: &Action<'_>, record: &Decision) {
    review_line!(
        info!,
        record,
        verdict = "denied",
        rules = rules(record),
        findings = findings(record),
        "{action}"
    );
    for issue in record.issues.of(Severity::Error) {
        review_line!(debug!, record, rule = issue.rule, finding = %issue, "finding");
    }
}

fn converted(record: &Decision, objects: usize) {
    review_line!(info!, record, verdict = "converted", objects, rules = rules(record), "convert");
    for issue in &record.issues {
        let (path, text) = (issue.path.to_string(), issue.detail());
        review_line!(warn!, record, rule = issue.rule, path = &*truncated(&path), "{text}");
    }
}

/// The reason may quote the field's value.
fn not_converted(record: &Decision, index: usize, path: &FieldPath) {
    let path = path.to_string();
    review_line!(warn!, record, verdict = "failed", index, path = &*truncated(&path), "convert");
    let why = record.denial.as_deref().unwrap_or_default();
    review_line!(debug!, record, why = &*truncated(why), "not converted");
}

/// Review and operation, such as `validate create`.
struct Action<'a>(Option<Review>, &'a Decision);

impl std::fmt::Display for Action<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.map_or("review", Review::as_str))?;
        self.1.operation.map_or(Ok(()), |operation| write!(f, " {}", operation.verb()))
    }
}

fn verdict(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Allowed => "allowed",
        Outcome::Patched { .. } => "patched",
        Outcome::Denied { .. } => "denied",
        Outcome::Skipped(_) => "skipped",
        Outcome::Converted { .. } => "converted",
        Outcome::NotConverted { .. } => "failed",
        Outcome::Error(_) => "undecided",
    }
}

fn rules(record: &Decision) -> String {
    record.rules().join(",")
}

/// Rule and path of each error. A path may contain keys of a user's map, so it is truncated.
fn findings(record: &Decision) -> String {
    let each =
        record.issues.of(Severity::Error).map(|issue| format!("{} {}", issue.rule, truncated(&issue.path.to_string())));
    each.collect::<Vec<_>>().join(", ")
}

/// A caller's text, truncated.
pub(crate) fn truncated(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(LONGEST_TEXT) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}
