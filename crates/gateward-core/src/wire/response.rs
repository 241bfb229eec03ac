//! The answer to one request: an HTTP status, a body, and a decision that the shell logs and counts.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::json::patch::Patch;
use crate::rule::field::FieldPath;
use crate::rule::issue::{Issue, Issues, Severity};
use crate::rule::resource::GroupVersionKind;
use crate::rule::verdict::{Denial, Ruling, Verdict};
use crate::terminal;
use crate::webhooks::webhook_error::WebhookError;
use crate::wire::conversion_review;
use crate::wire::operation::Operation;
use crate::wire::request::Request;
use crate::wire::review::{
    AdmissionReview, Cause, Response, Review, ReviewVersion, Status, StatusDetails, WirePatch, presentable,
};
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

/// How a request ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Allowed as it is.
    Allowed,
    /// Allowed with a patch of so many operations.
    Patched {
        /// How many operations the patch has.
        operations: usize,
    },
    /// Denied.
    Denied {
        /// The code of the status.
        code: u16,
        /// The reason of the status.
        reason: String,
    },
    /// Allowed without being judged.
    Skipped(Skip),
    /// All objects of a review were converted.
    Converted {
        /// How many.
        objects: usize,
        /// How many of them lack something and are marked.
        incomplete: usize,
    },
    /// An object could not be converted, so none was.
    NotConverted {
        /// Its position in the review.
        index: usize,
        /// The field that stands in the way.
        path: FieldPath,
    },
    /// No verdict: an HTTP error.
    Error(WebhookError),
}

/// Why an object was let through without being judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Skip {
    /// Another operator has claimed the namespace.
    ClaimedNamespace,
    /// The object is being deleted.
    Terminating,
    /// Nothing changes but that finalizers go.
    FinalizersRemoved,
    /// No handler is registered for the operation.
    NoHandler,
}

impl Skip {
    /// The word that metrics use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ClaimedNamespace => "claimed_namespace",
            Self::Terminating => "terminating",
            Self::FinalizersRemoved => "finalizers_removed",
            Self::NoHandler => "no_handler",
        }
    }
}

/// What was decided about what. Holds no object contents but the findings.
#[derive(Debug, Clone)]
pub struct Decision {
    /// What the path was asked for; `None` where the path is unknown.
    pub review: Option<Review>,
    /// The caller's id of the review.
    pub uid: String,
    /// Group, version and kind of the object.
    pub kind: GroupVersionKind,
    /// The plural of the resource.
    pub resource: String,
    /// What was being done.
    pub operation: Option<Operation>,
    /// The object's namespace; empty where it has none.
    pub namespace: String,
    /// The object's name, or `generateName` and an asterisk; empty where neither is known.
    pub name: String,
    /// How it ended.
    pub outcome: Outcome,
    /// The version of the review, in which it is answered.
    pub review_version: ReviewVersion,
    /// The findings, in order, with the paths that the user wrote.
    pub issues: Issues,
    /// The patch of a mutating review.
    pub patch: Patch,
    /// The text of a plain denial, or of a failed conversion.
    pub denial: Option<Cow<'static, str>>,
    /// Warnings that no finding stands behind.
    pub warnings: Vec<Cow<'static, str>>,
}

impl Decision {
    /// A decision of a request about which nothing is known but how it ended.
    pub fn error(why: WebhookError) -> Self {
        Self {
            review: None,
            uid: String::new(),
            kind: GroupVersionKind::default(),
            resource: String::new(),
            operation: None,
            namespace: String::new(),
            name: String::new(),
            outcome: Outcome::Error(why),
            review_version: ReviewVersion::default(),
            issues: Issues::new(),
            patch: Patch::default(),
            denial: None,
            warnings: Vec::new(),
        }
    }

    /// The ids of the rules that found something, each once, in order.
    pub fn rules(&self) -> Vec<&'static str> {
        distinct(self.issues.iter().map(|issue| issue.rule))
    }

    fn of(review: Review, request: &Request, outcome: Outcome) -> Self {
        Self {
            review: Some(review),
            uid: request.uid.clone(),
            kind: request.kind.clone(),
            resource: request.resource.resource.clone(),
            operation: request.operation,
            namespace: request.namespace.clone().unwrap_or_default(),
            name: display_name(request),
            outcome,
            review_version: request.review_version,
            issues: Issues::new(),
            patch: Patch::default(),
            denial: None,
            warnings: Vec::new(),
        }
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
        Self { status: why.status(), body: why.body(), decision: Decision::error(why) }
    }

    /// The same, for a shell that gave up a request: the decision says what it was about, as far as `body` can be read.
    pub fn error_on(review: Review, body: &[u8], why: WebhookError) -> Self {
        let request = match review {
            // To learn more about it than its kind, all objects would have to be scanned again.
            Review::Convert => Request::default(),
            Review::Validate | Review::Mutate => {
                AdmissionReview::read(body).map(|about| about.request).unwrap_or_default()
            }
        };
        Self::error_about(review, &request, why)
    }

    /// The same, for a request of which the envelope was read.
    pub(crate) fn error_about(review: Review, request: &Request, why: WebhookError) -> Self {
        let (status, body) = (why.status(), why.body());
        Self { status, body, decision: Decision::of(review, request, Outcome::Error(why)) }
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
        let mut decision = Decision::of(review, request, outcome);
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

fn distinct<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut distinct = Vec::new();
    for item in items {
        if !distinct.contains(&item) {
            distinct.push(item);
        }
    }
    distinct
}
