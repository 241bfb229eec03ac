//! The answer to one request: an HTTP status, a body, and a decision that the shell logs and counts.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::json::patch::Patch;
use crate::rule::issue::{Issue, Issues, Severity};
use crate::rule::resource::GroupVersionKind;
use crate::rule::verdict::{Denial, Ruling, Verdict};
use crate::terminal;
use crate::webhooks::webhook_error::WebhookError;
use crate::wire::conversion_review;
use crate::wire::decision::{Decision, Outcome, Skip, distinct};
use crate::wire::request::Request;
use crate::wire::review::{AdmissionReview, Cause, Response, Review, Status, StatusDetails, WirePatch, presentable};
use crate::wire::status_reason::reason_of;

/// What goes back to the caller, and what the shell should know about it.
#[derive(Debug, Clone)]
pub struct ReviewResponse {
    /// The HTTP status: 200 for every verdict, an error where there is none.
    pub status: u16,
    /// The HTTP body, JSON.
    pub body: Vec<u8>,
    /// What was decided, for logs and metrics.
    pub decision: Decision,
}

/// What a review is about whose envelope was read, before anything is decided.
pub(crate) fn undecided(review: Review, request: &Request) -> Decision {
    decision(review, request, Outcome::Error(WebhookError::Deadline))
}

fn decision(review: Review, request: &Request, outcome: Outcome) -> Decision {
    Decision {
        review: Some(review),
        uid: request.uid.clone(),
        kind: request.kind.clone(),
        resource: request.resource.resource.clone(),
        operation: request.operation,
        namespace: request.namespace.clone().unwrap_or_default(),
        name: display_name(request),
        review_version: request.review_version,
        ..Decision::of(outcome)
    }
}

/// How much of a name is shown: none in Kubernetes is longer.
const SHOWN_NAME: usize = 253;
/// Ends a text that was cut; no name holds it.
const CUT: char = '…';

fn display_name(request: &Request) -> String {
    match (&request.name, &request.generate_name) {
        (Some(name), _) => cut(name),
        (None, Some(prefix)) => format!("{}*", cut(prefix)),
        (None, None) => String::new(),
    }
}

fn cut(name: &str) -> String {
    match name.char_indices().nth(SHOWN_NAME) {
        Some((end, _)) => format!("{}{CUT}", &name[..end]),
        None => name.to_owned(),
    }
}

impl ReviewResponse {
    /// An HTTP error instead of a verdict.
    pub fn error(why: WebhookError) -> Self {
        Self::error_in(None, why)
    }

    /// The same about a review, where an observer has learned what that is about.
    pub fn error_in(about: Option<Decision>, why: WebhookError) -> Self {
        let (status, body, outcome) = (why.status(), why.body(), Outcome::Error(why));
        let decision = match about {
            Some(about) => Decision { outcome, ..about },
            None => Decision::of(outcome),
        };
        Self { status, body, decision }
    }

    /// The same, for a request of which the envelope was read.
    pub(crate) fn error_about(review: Review, request: &Request, why: WebhookError) -> Self {
        Self::error_in(Some(undecided(review, request)), why)
    }

    /// The body as an AdmissionReview, also where there is no verdict: for callers that see no HTTP status. An error
    /// becomes an answer that doesn't allow and carries its code.
    pub fn review_body(&self) -> Cow<'_, [u8]> {
        let Outcome::Error(why) = &self.decision.outcome else { return Cow::Borrowed(&self.body) };
        if self.decision.review == Some(Review::Convert) {
            return Cow::Owned(conversion_review::failure(&self.decision.uid, &why.to_string()));
        }
        let code = why.status();
        let reason = reason_of(code).to_owned();
        let status = Status { outcome: "Failure", message: why.to_string(), reason, code, details: None };
        let response = Response {
            uid: &self.decision.uid,
            allowed: false,
            status: Some(status),
            patch: None,
            warnings: Vec::new(),
            audit_annotations: BTreeMap::new(),
        };
        Cow::Owned(response.to_body(self.decision.review_version))
    }

    /// Allowed without being judged.
    pub(crate) fn skipped(review: Review, about: &AdmissionReview<'_>, skip: Skip) -> Self {
        let verdict = Verdict::allow();
        let mut answer = Self::verdict(review, about, verdict, Patch::default(), |_| false);
        answer.decision.outcome = Outcome::Skipped(skip);
        answer
    }

    /// Answers with a verdict; `shown` says which notes become warnings.
    pub(crate) fn verdict(
        review: Review,
        about: &AdmissionReview<'_>,
        verdict: Verdict,
        patch: Patch,
        shown: impl Fn(&Issue) -> bool,
    ) -> Self {
        let request = &about.request;
        let status = match &verdict.decision {
            Ruling::Denied(denial) => Some(plain_status(denial, request, &verdict.issues)),
            _ if verdict.issues.has_errors() => Some(invalid_status(request, &verdict.issues)),
            Ruling::Error(why) => return Self::error_about(review, request, why.clone()),
            Ruling::ByIssues => None,
        };
        let patch = if status.is_some() { Patch::default() } else { patch };
        let outcome = outcome(status.as_ref(), &patch);
        let body = body(request, status, &patch, &verdict, shown);
        let mut decision = decision(review, request, outcome);
        if let Ruling::Denied(denial) = verdict.decision {
            decision.denial = Some(denial.message);
        }
        (decision.issues, decision.warnings, decision.patch) = (verdict.issues, verdict.warnings, patch);
        Self { status: 200, body, decision }
    }
}

fn outcome(status: Option<&Status>, patch: &Patch) -> Outcome {
    match status {
        Some(status) => Outcome::Denied { code: status.code, reason: status.reason.clone() },
        None if patch.is_empty() => Outcome::Allowed,
        None => Outcome::Patched { operations: patch.len() },
    }
}

fn body(
    request: &Request,
    status: Option<Status>,
    patch: &Patch,
    verdict: &Verdict,
    shown: impl Fn(&Issue) -> bool,
) -> Vec<u8> {
    let shown = verdict.issues.iter().filter(|issue| match issue.severity {
        Severity::Error => false,
        Severity::Warning => true,
        Severity::Note => shown(issue),
    });
    let texts = shown.map(|issue| Cow::Owned(issue.detail())).chain(verdict.warnings.iter().cloned());
    let response = Response {
        uid: &request.uid,
        allowed: status.is_none(),
        status,
        patch: WirePatch::new(patch),
        warnings: presentable(texts),
        audit_annotations: audit_annotations(verdict),
    };
    response.to_body(request.review_version)
}

/// The author's annotations, and which rules denied.
fn audit_annotations(verdict: &Verdict) -> BTreeMap<String, String> {
    let mut annotations = verdict.audit.clone();
    let denying = distinct(verdict.issues.of(Severity::Error).map(|issue| issue.rule));
    if !denying.is_empty() {
        annotations.entry("rules".into()).or_insert_with(|| denying.join(","));
    }
    annotations
}

fn plain_status(denial: &Denial, request: &Request, issues: &Issues) -> Status {
    let (reason, message) = (denial.reason.to_string(), shown(&denial.message));
    let details = issues.has_errors().then(|| details(request, issues));
    Status { outcome: "Failure", message, reason, code: denial.code, details }
}

/// The denial that the API server itself gives for an object with findings.
fn invalid_status(request: &Request, issues: &Issues) -> Status {
    let kind = &request.kind;
    let named = if kind.group.is_empty() { kind.kind.clone() } else { format!("{}.{}", kind.kind, kind.group) };
    let texts = distinct(issues.of(Severity::Error).map(ToString::to_string));
    let message = shown(&format!("{named} {:?} is invalid: {}", display_name(request), joined(&texts)));
    Status { outcome: "Failure", message, reason: "Invalid".into(), code: 422, details: Some(details(request, issues)) }
}

fn details(request: &Request, issues: &Issues) -> StatusDetails {
    let GroupVersionKind { group, kind, .. } = request.kind.clone();
    let causes = issues.of(Severity::Error).map(cause).collect();
    // A part of a name names nothing.
    let name = Some(display_name(request)).filter(|name| !name.contains(CUT)).unwrap_or_default();
    StatusDetails { name, group, kind, causes }
}

fn cause(issue: &Issue) -> Cause {
    Cause { reason: issue.kind.cause(), message: shown(&issue.detail()), field: shown(&issue.path.to_string()) }
}

/// A text as clients print it: names in it may come from the object, and a terminal obeys some characters.
fn shown(text: &str) -> String {
    terminal::lines(text).into_owned()
}

/// One finding stands alone, several stand in brackets.
fn joined(texts: &[String]) -> String {
    match texts {
        [one] => one.clone(),
        many => format!("[{}]", many.join(", ")),
    }
}
