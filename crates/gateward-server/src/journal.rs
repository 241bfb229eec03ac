//! The log: one line a review. Never an object's contents; texts of findings, which may quote values, at debug only.

use std::borrow::Cow;
use std::net::SocketAddr;
use std::time::Duration;

use gateward_core::{FieldPath, Outcome, Record, Review, Severity};
use tracing::{debug, error, info, warn};

use crate::limits::Cap;
use crate::metrics::Port;
use crate::readiness::Handshake;
use crate::refusals::Counts;

/// The target of every line, so that a search for "webhook" finds them.
pub(crate) const TARGET: &str = "webhook";

/// How much of a text that the caller chose is logged: no name in Kubernetes is longer.
const SHOWN: usize = 253;

/// What is served, and where.
pub(crate) fn starting(address: SocketAddr, paths: &[(String, Review)]) {
    let of = |review| -> Vec<&str> {
        paths.iter().filter(|(_, served)| *served == review).map(|(path, _)| path.as_str()).collect()
    };
    registering(&of(Review::Validate), "Registering validation webhooks");
    registering(&of(Review::Mutate), "Registering mutating webhooks");
    registering(&of(Review::Convert), "Registering conversion webhooks");
    info!(target: TARGET, %address, "Starting webhook server");
}

/// What has come of the proof that the listener can be called.
pub(crate) fn handshake(handshake: &Handshake) {
    match handshake {
        Handshake::Untried => {}
        Handshake::Open(why) => info!(target: TARGET, why = &*shown(why), "The listener is not proved yet"),
        Handshake::Proved => info!(target: TARGET, "The listener is proved by a verified handshake"),
    }
}

fn registering(paths: &[&str], message: &'static str) {
    if !paths.is_empty() {
        info!(target: TARGET, paths = paths.join(" "), "{message}");
    }
}

/// A handler panicked; where is logged by the hook for panics, if the program has set it.
pub(crate) fn panicked(path: &str) {
    error!(target: TARGET, path = &*shown(path), "a handler panicked; its request was answered with 500");
}

/// One line for a review.
pub(crate) fn answered(review: Option<Review>, record: &Record, judged_in: Option<Duration>) {
    match &record.outcome {
        // Refused for its head or its body: anyone can cause that, and it is counted.
        Outcome::Undecided(why) if judged_in.is_none() => {
            debug!(target: TARGET, status = why.status(), %why, "request refused");
        }
        Outcome::Undecided(why) => undecided(review, record, why.status(), why),
        Outcome::Denied { .. } => denied(review, record),
        Outcome::Converted { objects } => converted(record, *objects),
        Outcome::NotConverted { index, path } => not_converted(record, *index, path),
        outcome => passed(review, record, verdict(outcome)),
    }
}

fn passed(review: Option<Review>, record: &Record, verdict: &str) {
    info!(
        target: TARGET,
        uid = &*shown(&record.uid),
        kind = &*shown(&record.kind.to_string()),
        namespace = &*shown(&record.namespace),
        name = &*shown(&record.name),
        verdict,
        rules = rules(record),
        "{}",
        Deed(review, record),
    );
}

fn denied(review: Option<Review>, record: &Record) {
    info!(
        target: TARGET,
        uid = &*shown(&record.uid),
        kind = &*shown(&record.kind.to_string()),
        namespace = &*shown(&record.namespace),
        name = &*shown(&record.name),
        verdict = "denied",
        rules = rules(record),
        findings = findings(record),
        "{}",
        Deed(review, record),
    );
    for issue in record.issues.of(Severity::Error) {
        debug!(target: TARGET, uid = &*shown(&record.uid), rule = issue.rule, finding = %issue, "finding");
    }
}

fn converted(record: &Record, objects: usize) {
    info!(
        target: TARGET,
        uid = &*shown(&record.uid),
        kind = &*shown(&record.kind.to_string()),
        namespace = &*shown(&record.namespace),
        name = &*shown(&record.name),
        verdict = "converted",
        objects,
        rules = rules(record),
        "convert",
    );
    for issue in &record.issues {
        let (path, text) = (issue.path.to_string(), issue.detail());
        warn!(target: TARGET, uid = &*shown(&record.uid), rule = issue.rule, path = &*shown(&path), "{text}");
    }
}

/// Why it failed may quote what the field holds.
fn not_converted(record: &Record, index: usize, path: &FieldPath) {
    let path = path.to_string();
    warn!(
        target: TARGET,
        uid = &*shown(&record.uid),
        kind = &*shown(&record.kind.to_string()),
        namespace = &*shown(&record.namespace),
        name = &*shown(&record.name),
        verdict = "failed",
        index,
        path = &*shown(&path),
        "convert",
    );
    let why = record.denial.as_deref().unwrap_or_default();
    debug!(target: TARGET, uid = &*shown(&record.uid), why = &*shown(why), "not converted");
}

fn undecided(review: Option<Review>, record: &Record, status: u16, why: &dyn std::fmt::Display) {
    warn!(
        target: TARGET,
        uid = &*shown(&record.uid),
        kind = &*shown(&record.kind.to_string()),
        namespace = &*shown(&record.namespace),
        name = &*shown(&record.name),
        verdict = "undecided",
        status,
        "{}",
        Deed(review, record),
    );
    debug!(target: TARGET, uid = &*shown(&record.uid), %why, "undecided");
}

/// What was asked, such as `validate create`.
struct Deed<'a>(Option<Review>, &'a Record);

impl std::fmt::Display for Deed<'_> {
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
        Outcome::Undecided(_) => "undecided",
    }
}

fn rules(record: &Record) -> String {
    record.rules().join(",")
}

/// Rule and path of each error. A path is of the user's making where maps have keys, so all of it is cut.
fn findings(record: &Record) -> String {
    let each =
        record.issues.of(Severity::Error).map(|issue| format!("{} {}", issue.rule, shown(&issue.path.to_string())));
    each.collect::<Vec<_>>().join(", ")
}

fn shown(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// Connections found no room since the last such line, or the operating system had nothing to accept with.
pub(crate) fn no_room(port: Port, Counts { refused, evicted, failed }: Counts, error: Option<&std::io::Error>) {
    let port = port.as_str();
    match error {
        None => warn!(target: TARGET, port, refused, evicted, failed, "connection limit reached"),
        Some(error) => warn!(target: TARGET, port, refused, evicted, failed, %error, "cannot accept connections"),
    }
}

/// Fewer connections are taken than asked for.
pub(crate) fn few_files(asked: Cap, most: Cap) {
    let (asked, most) = (asked.get(), most.get());
    warn!(target: TARGET, asked, most, "connection limit lowered: the process may open too few files (ulimit -n)");
}

/// The one limit that breaks requests when it is set too low.
pub(crate) fn idle_is_short(idle: Duration) {
    warn!(target: TARGET, ?idle, "idle connections are closed before the API server closes them; requests may be lost");
}
