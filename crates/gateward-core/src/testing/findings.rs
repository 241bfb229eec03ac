//! What came of a request, and what a test demands of it.

use std::fmt::Write;

use serde_json::Value;

use crate::rule::Rule;
use crate::rule::issue::{Issue, Severity};
use crate::wire::decision::Outcome;
use crate::wire::response::ReviewResponse;

/// What came of a [`TestRequest`](super::TestRequest).
#[derive(Debug, Clone)]
pub struct Findings {
    object: Value,
    answer: ReviewResponse,
}

#[allow(clippy::panic, reason = "assertions of tests")]
impl Findings {
    /// Those on `object`, which is null where it is removed.
    pub(super) fn new(object: Value, answer: ReviewResponse) -> Self {
        Self { object, answer }
    }

    /// The answer itself.
    pub fn answer(&self) -> &ReviewResponse {
        &self.answer
    }

    /// Demands that the object passes.
    #[track_caller]
    pub fn assert_allowed(&self) {
        if let Err(why) = self.is_allowed() {
            panic!("{why}");
        }
    }

    /// Demands a denial.
    #[track_caller]
    pub fn assert_denied(&self) {
        if let Err(why) = self.is_denied() {
            panic!("{why}");
        }
    }

    /// Whether the object passes; if not, what came instead.
    pub(super) fn is_allowed(&self) -> Result<(), String> {
        match &self.answer.decision.outcome {
            Outcome::Allowed | Outcome::Patched { .. } | Outcome::Skipped(_) => Ok(()),
            outcome => Err(format!("expected to pass, got {outcome:?}:\n{}", self.listed())),
        }
    }

    /// Whether the object is denied; if not, what came instead.
    pub(super) fn is_denied(&self) -> Result<(), String> {
        match &self.answer.decision.outcome {
            Outcome::Denied { .. } => Ok(()),
            outcome => Err(format!("expected a denial, got {outcome:?}")),
        }
    }

    /// Demands a finding of this rule and returns a claim about it.
    #[track_caller]
    pub fn by(&self, rule: &Rule) -> Claim<'_> {
        let candidates: Vec<&Issue> =
            self.answer.decision.issues.iter().filter(|issue| issue.rule == rule.id).collect();
        assert!(!candidates.is_empty(), "no finding by {}, but:\n{}", rule.id, self.listed());
        Claim { candidates }
    }

    /// Demands that exactly these rules denied, in this order, each as often as it stands here.
    #[track_caller]
    pub fn only(&self, rules: &[&Rule]) -> &Self {
        let found: Vec<&str> = self.answer.decision.issues.of(Severity::Error).map(|issue| issue.rule).collect();
        let wanted: Vec<&str> = rules.iter().map(|rule| rule.id).collect();
        assert_eq!(found, wanted, "the findings are:\n{}", self.listed());
        self
    }

    /// The paths of the findings that deny, in order.
    pub fn paths(&self) -> Vec<String> {
        self.answer.decision.issues.of(Severity::Error).map(|issue| issue.path.to_string()).collect()
    }

    /// The warnings that the user sees.
    pub fn warnings(&self) -> Vec<String> {
        let body: Value = serde_json::from_slice(&self.answer.body).unwrap_or_default();
        let warnings = body.pointer("/response/warnings").and_then(Value::as_array).cloned().unwrap_or_default();
        warnings.iter().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// The object after the patch.
    #[track_caller]
    pub fn patched(&self) -> Value {
        let mut object = self.object.clone();
        match self.answer.decision.patch.apply(&mut object) {
            Ok(()) => object,
            Err(error) => panic!("the patch doesn't fit: {error}"),
        }
    }

    fn listed(&self) -> String {
        self.answer.decision.issues.iter().fold(String::new(), |mut text, issue| {
            let _ = writeln!(text, "  {} {issue}", issue.rule);
            text
        })
    }
}

/// Something claimed of the findings of one rule; each further word narrows them.
#[derive(Debug)]
pub struct Claim<'f> {
    candidates: Vec<&'f Issue>,
}

impl Claim<'_> {
    /// One of them stands at this path.
    #[track_caller]
    pub fn at(mut self, path: &str) -> Self {
        let all: Vec<String> = self.candidates.iter().map(|issue| issue.path.to_string()).collect();
        self.candidates.retain(|issue| issue.path.to_string() == path);
        assert!(!self.candidates.is_empty(), "no finding at {path}, but at {all:?}");
        self
    }

    /// Its text holds these words.
    #[track_caller]
    pub fn saying(mut self, words: &str) -> Self {
        let all: Vec<String> = self.candidates.iter().map(|issue| issue.detail()).collect();
        self.candidates.retain(|issue| issue.detail().contains(words));
        assert!(!self.candidates.is_empty(), "no finding says {words:?}, but {all:?}");
        self
    }
}
