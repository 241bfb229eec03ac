//! What a validator answers.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::rule::field::FieldPath;
use crate::rule::issue::{Issue, Issues, Reading};
use crate::webhooks::webhook_error::WebhookError;
use crate::wire::status_reason::reason_of;

/// The answer of a validator: allow, deny with findings, deny plainly, or "can't be decided".
///
/// ```
/// use gateward_core::Verdict;
///
/// let verdict = Verdict::deny("name may not be 'forbidden'").code(422);
/// assert!(!verdict.is_allowed());
/// assert!(Verdict::allow().warning("this field is ignored").is_allowed());
/// ```
#[derive(Debug, Clone, Default)]
pub struct Verdict {
    pub(crate) decision: Ruling,
    pub(crate) issues: Issues,
    pub(crate) warnings: Vec<Cow<'static, str>>,
    pub(crate) audit: BTreeMap<String, String>,
}

/// The part of a verdict that decides, beside its findings.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum Ruling {
    /// Allowed, unless the findings hold an error.
    #[default]
    ByIssues,
    /// Behind a pointer, so that a `Result` with a verdict as its error stays small.
    Denied(Box<Denial>),
    Error(WebhookError),
}

/// A denial without findings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denial {
    /// The HTTP status code of the denial, 400 to 599.
    pub code: u16,
    /// The machine-readable reason, such as `Forbidden`.
    pub reason: Cow<'static, str>,
    /// The text for the user.
    pub message: Cow<'static, str>,
}

impl Verdict {
    /// Allows the object.
    pub fn allow() -> Self {
        Self::default()
    }

    /// Denies with one sentence: code 400, unless [`code`](Self::code) says another.
    pub fn deny(message: impl Into<Cow<'static, str>>) -> Self {
        let denial = Denial { code: 400, reason: Cow::Borrowed("BadRequest"), message: message.into() };
        Self { decision: Ruling::Denied(Box::new(denial)), ..Self::default() }
    }

    /// Neither allows nor denies: `failurePolicy` decides. For look-ups that failed for a passing reason.
    pub fn error(why: WebhookError) -> Self {
        Self { decision: Ruling::Error(why), ..Self::default() }
    }

    /// Sets the code of a plain denial, and with it the usual reason. The API server takes a code below 400 for 400;
    /// so does this.
    pub fn code(mut self, code: u16) -> Self {
        if let Ruling::Denied(denial) = &mut self.decision {
            denial.code = if (400..600).contains(&code) { code } else { 400 };
            denial.reason = Cow::Borrowed(reason_of(denial.code));
        }
        self
    }

    /// Sets the reason of a plain denial.
    pub fn reason(mut self, reason: impl Into<Cow<'static, str>>) -> Self {
        if let Ruling::Denied(denial) = &mut self.decision {
            denial.reason = reason.into();
        }
        self
    }

    /// Adds a warning, which the user sees whatever the verdict.
    pub fn warning(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.warnings.push(text.into());
        self
    }

    /// Adds an annotation to the API server's audit log, stored under the webhook's name.
    pub fn audit_annotation(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.audit.insert(key.into(), value.into());
        self
    }

    /// Whether the object passes.
    pub fn is_allowed(&self) -> bool {
        self.decision == Ruling::ByIssues && !self.issues.has_errors()
    }

    /// The findings.
    pub fn issues(&self) -> &Issues {
        &self.issues
    }

    /// Adds the findings, warnings and annotations of `other`. The first plain denial stands, and before what can't be
    /// decided, because the object is denied whatever a look-up would have said.
    pub(crate) fn merge(&mut self, other: Self) {
        let stands = match &self.decision {
            Ruling::Denied(_) => true,
            Ruling::Error(_) => !matches!(other.decision, Ruling::Denied(_)),
            Ruling::ByIssues => false,
        };
        if !stands {
            self.decision = other.decision;
        }
        self.issues.extend(other.issues);
        self.warnings.extend(other.warnings);
        self.audit.extend(other.audit);
    }

    /// What both say: the findings of this one that the other has too, and a denial that is in both.
    pub(crate) fn agreeing_with(mut self, other: &Self) -> Self {
        self.decision = match (self.decision, &other.decision) {
            (Ruling::ByIssues, _) | (_, Ruling::ByIssues) => Ruling::ByIssues,
            (Ruling::Denied(_), Ruling::Error(why)) => Ruling::Error(why.clone()),
            (decision, _) => decision,
        };
        let known = |issue: &Issue| {
            let same =
                |known: &&Issue| (known.rule, &known.path, known.severity) == (issue.rule, &issue.path, issue.severity);
            other.issues.iter().find(same).is_some()
        };
        self.issues = self.issues.into_iter().filter(known).collect();
        self.warnings.retain(|warning| other.warnings.contains(warning));
        self
    }

    /// The same verdict with the paths of the judged version traced back.
    pub(crate) fn trace(mut self, trace: impl Fn(&FieldPath) -> FieldPath) -> Self {
        let back = |path: &FieldPath, reading| match reading {
            Reading::Judged => trace(path),
            Reading::Written => path.clone(),
        };
        self.issues = self.issues.map_paths(back);
        self
    }
}

/// An error that says what it means for the object, so that `?` answers it. For an error type of your own, write
/// `impl From<MyError> for Verdict`.
// The compiler shows the label alone where `?` has something else before it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no verdict",
    label = "say what this means: a fault of the object with `.map_err(|why| Verdict::deny(why.to_string()))?`, no verdict \
             with `.map_err(|why| WebhookError::Unavailable(why.to_string()))?`"
)]
pub trait VerdictError {
    /// The verdict that it is.
    fn into_verdict(self) -> Verdict;
}

impl VerdictError for Issues {
    fn into_verdict(self) -> Verdict {
        Verdict { issues: self, ..Verdict::default() }
    }
}

impl VerdictError for WebhookError {
    fn into_verdict(self) -> Verdict {
        Verdict::error(self)
    }
}

impl<E: VerdictError> From<E> for Verdict {
    fn from(error: E) -> Self {
        error.into_verdict()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_denial_has_code_400_where_none_is_given() {
        let Ruling::Denied(denial) = Verdict::deny("no").decision else { panic!("not a denial") };
        assert_eq!((denial.code, denial.reason.as_ref()), (400, "BadRequest"));
    }

    #[test]
    fn a_code_that_is_no_error_becomes_400() {
        let Ruling::Denied(denial) = Verdict::deny("no").code(200).decision else { panic!("not a denial") };
        assert_eq!(denial.code, 400);
    }

    #[test]
    fn a_denial_stands_whatever_can_not_be_decided() {
        let (denial, undecided) = (Verdict::deny("no"), Verdict::error(WebhookError::Overloaded));
        for (mut merged, other) in [(denial.clone(), undecided.clone()), (undecided, denial)] {
            merged.merge(other);
            assert!(matches!(merged.decision, Ruling::Denied(_)));
        }
    }

    #[test]
    fn warnings_alone_do_not_deny() {
        assert!(Verdict::allow().warning("careful").is_allowed());
    }
}
