//! Findings: what is wrong, where, and what would be right.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

use crate::rule::field::FieldPath;

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The object is denied.
    Error,
    /// The object passes with a warning.
    Warning,
    /// The check itself has something to say, such as a rule that could not be evaluated.
    Note,
}

impl Severity {
    /// The lower-case name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// The value that a finding is about, as the text may show it.
#[derive(Debug, Clone, PartialEq)]
pub enum BadValue {
    /// Shown as JSON.
    Json(Value),
    /// Never shown: it may hold a secret. The text says `<redacted>`.
    Redacted,
}

/// Marks a value that no text may show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Redacted;

impl From<Redacted> for BadValue {
    fn from(_: Redacted) -> Self {
        Self::Redacted
    }
}

impl<T: Into<Value>> From<T> for BadValue {
    fn from(value: T) -> Self {
        match value.into() {
            // No more than a text shows is kept, because many findings can be about one long value.
            Value::String(text) => Self::Json(Value::String(cut(text, SHOWN + 1))),
            other => Self::Json(other),
        }
    }
}

/// Values are cut to this many characters in a text.
const SHOWN: usize = 200;

/// A message or a help is cut to this many characters: one that repeats a hostile object's names must not grow with
/// them.
const LONGEST_TEXT: usize = 2000;

impl fmt::Display for BadValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Json(value) = self else { return f.write_str("\"<redacted>\"") };
        let text = value.to_string();
        match text.char_indices().nth(SHOWN) {
            Some((end, _)) => write!(f, "{}…", &text[..end]),
            None => f.write_str(&text),
        }
    }
}

fn cut(mut text: String, longest: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(longest) {
        text.truncate(end);
        text.shrink_to_fit();
    }
    text
}

fn cut_text(text: Cow<'static, str>) -> Cow<'static, str> {
    match text {
        Cow::Owned(text) => Cow::Owned(cut(text, LONGEST_TEXT)),
        Cow::Borrowed(text) => Cow::Borrowed(text),
    }
}

/// What sort of error a finding is; the names are those of Kubernetes' field errors.
#[derive(Debug, Clone, PartialEq)]
pub enum IssueKind {
    /// A field that must be there is missing or empty.
    Required,
    /// A value that the field can't have.
    Invalid(BadValue),
    /// A field that may not be set here.
    Forbidden,
    /// A value that is none of the accepted ones.
    NotSupported {
        /// What was found.
        value: BadValue,
        /// What would be right.
        accepted: Vec<String>,
    },
    /// A value that stands in the list already.
    Duplicate(BadValue),
    /// A value that names what there is not.
    NotFound(BadValue),
    /// Text that is too long.
    TooLong {
        /// The limit in bytes.
        max: usize,
    },
    /// A list with too many items.
    TooMany {
        /// How many there are.
        actual: usize,
        /// The limit.
        max: usize,
    },
    /// Not an error: the text of a warning or a note.
    Remark,
}

impl IssueKind {
    /// The machine-readable cause, as in `status.details.causes[].reason`.
    pub const fn cause(&self) -> &'static str {
        match self {
            Self::Required => "FieldValueRequired",
            Self::Invalid(_) | Self::Remark => "FieldValueInvalid",
            Self::Forbidden => "FieldValueForbidden",
            Self::NotSupported { .. } => "FieldValueNotSupported",
            Self::Duplicate(_) => "FieldValueDuplicate",
            Self::NotFound(_) => "FieldValueNotFound",
            Self::TooLong { .. } => "FieldValueTooLong",
            Self::TooMany { .. } => "FieldValueTooMany",
        }
    }
}

/// Which reading of the object a finding's path belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// The version that the handler judges; it is traced back to what the user wrote.
    Judged,
    /// The version that the user wrote; it is reported as it stands.
    Written,
}

/// One finding.
#[derive(Debug, Clone, PartialEq)]
pub struct Issue {
    /// The id of the rule.
    pub rule: &'static str,
    /// Where.
    pub path: FieldPath,
    /// The node that a rendering of the file underlines instead: an absent field has no line of its own.
    pub anchor: Option<FieldPath>,
    /// Which sort of error, with the value.
    pub kind: IssueKind,
    /// How much it weighs.
    pub severity: Severity,
    /// What is wrong, as a sentence without the path.
    pub message: Cow<'static, str>,
    /// What would be right.
    pub help: Option<Cow<'static, str>>,
    /// Which reading the path belongs to.
    pub reading: Reading,
}

impl Issue {
    /// A finding of the rule `rule` that denies.
    pub fn new(rule: &'static str, path: FieldPath, kind: IssueKind) -> Self {
        let (severity, reading) = (Severity::Error, Reading::Judged);
        Self { rule, path, anchor: None, kind, severity, message: Cow::Borrowed(""), help: None, reading }
    }

    /// Says what is wrong.
    pub fn message(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.message = cut_text(text.into());
        self
    }

    /// Says what would be right.
    pub fn help(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.help = Some(cut_text(text.into()));
        self
    }

    /// Sets the node that a rendering of the file underlines, where the field itself is absent.
    pub fn anchor(mut self, path: FieldPath) -> Self {
        self.anchor = Some(path);
        self
    }

    /// Changes how much it weighs.
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// The path is one of the object as the user wrote it, not of the version that the handler judges.
    pub fn as_written(mut self) -> Self {
        self.reading = Reading::Written;
        self
    }

    /// The text without the path, as `status.details.causes[].message` has it.
    pub fn detail(&self) -> String {
        after(&self.head(), &self.full_message())
    }

    /// The text without the path and the help, for renderings that show the help on a line of its own.
    pub fn headline(&self) -> String {
        after(&self.head(), &self.message)
    }

    fn full_message(&self) -> String {
        match &self.help {
            Some(help) if self.message.is_empty() => help.to_string(),
            Some(help) => format!("{} ({help})", self.message),
            None => self.message.to_string(),
        }
    }

    fn head(&self) -> String {
        match &self.kind {
            IssueKind::Required => "Required value".into(),
            IssueKind::Invalid(value) => format!("Invalid value: {value}"),
            IssueKind::Forbidden => "Forbidden".into(),
            IssueKind::NotSupported { value, accepted } => {
                let accepted: Vec<String> = accepted.iter().map(|text| format!("{text:?}")).collect();
                format!("Unsupported value: {value}: supported values: {}", accepted.join(", "))
            }
            IssueKind::Duplicate(value) => format!("Duplicate value: {value}"),
            IssueKind::NotFound(value) => format!("Not found: {value}"),
            IssueKind::TooLong { max } => format!("Too long: may not be more than {max} bytes"),
            IssueKind::TooMany { actual, max } => format!("Too many: {actual}: must have at most {max} items"),
            IssueKind::Remark => String::new(),
        }
    }

    fn same_finding(&self, other: &Self) -> bool {
        self.rule == other.rule
            && self.path == other.path
            && self.severity == other.severity
            && self.kind == other.kind
            && self.message == other.message
    }
}

fn after(head: &str, message: &str) -> String {
    match (head.is_empty(), message.is_empty()) {
        (true, _) => message.to_owned(),
        (_, true) => head.to_owned(),
        _ => format!("{head}: {message}"),
    }
}

impl fmt::Display for Issue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.severity {
            Severity::Error => write!(f, "{}: {}", self.path, self.detail()),
            Severity::Warning | Severity::Note => f.write_str(&self.detail()),
        }
    }
}

/// How many findings of each severity are kept of one object. A hostile object can break a rule at every item of a
/// list; more isn't read, and the response stays small.
pub const MOST_ISSUES: usize = 256;

/// The findings of one object, in the order in which they were added, each once, at most [`MOST_ISSUES`] of each
/// severity.
///
/// ```
/// use gateward_core::{FieldPath, Issues, Rule, CREATE};
///
/// const RULE: Rule = Rule { id: "R-1", ..Rule::on(CREATE) };
/// let mut issues = Issues::default();
/// issues.add(RULE.required(FieldPath::field("spec")));
/// issues.add(RULE.required(FieldPath::field("spec")));
/// assert_eq!(issues.len(), 1);
/// assert!(issues.has_errors());
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Issues(Vec<Issue>);

impl Issues {
    /// No findings.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds a finding, unless it is there already or there are too many of its severity.
    pub fn add(&mut self, issue: Issue) {
        let room = self.of(issue.severity).count() < MOST_ISSUES;
        if room && !self.0.iter().any(|known| known.same_finding(&issue)) {
            self.0.push(issue);
        }
    }

    /// Adds all of `more`, each unless it is there already.
    pub fn extend(&mut self, more: impl IntoIterator<Item = Issue>) {
        more.into_iter().for_each(|issue| self.add(issue));
    }

    /// Whether any finding denies.
    pub fn has_errors(&self) -> bool {
        self.of(Severity::Error).next().is_some()
    }

    /// The findings of one weight.
    pub fn of(&self, severity: Severity) -> impl Iterator<Item = &Issue> {
        self.0.iter().filter(move |issue| issue.severity == severity)
    }

    /// All findings.
    pub fn iter(&self) -> std::slice::Iter<'_, Issue> {
        self.0.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The same findings with other paths; those that become the same are one.
    pub fn map_paths(self, map: impl Fn(&FieldPath, Reading) -> FieldPath) -> Self {
        let mapped = |issue: Issue| Issue {
            path: map(&issue.path, issue.reading),
            anchor: issue.anchor.map(|anchor| map(&anchor, issue.reading)),
            ..issue
        };
        self.into_iter().map(mapped).collect()
    }
}

impl IntoIterator for Issues {
    type Item = Issue;
    type IntoIter = std::vec::IntoIter<Issue>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Issues {
    type Item = &'a Issue;
    type IntoIter = std::slice::Iter<'a, Issue>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl FromIterator<Issue> for Issues {
    fn from_iter<I: IntoIterator<Item = Issue>>(found: I) -> Self {
        let mut issues = Self::new();
        issues.extend(found);
        issues
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::Rule;
    use crate::wire::operation::CREATE;

    const RULE: Rule = Rule { id: "R-1", ..Rule::on(CREATE) };

    fn at() -> FieldPath {
        FieldPath::field("spec") / "mode"
    }

    #[test]
    fn texts_are_those_of_kubernetes_field_errors() {
        let text = |issue: Issue| issue.to_string();
        assert_eq!(text(RULE.required(at()).message("say which")), "spec.mode: Required value: say which");
        assert_eq!(text(RULE.forbidden(at()).message("not here")), "spec.mode: Forbidden: not here");
        assert_eq!(text(RULE.invalid(at(), "x").message("no")), r#"spec.mode: Invalid value: "x": no"#);
        assert_eq!(
            text(RULE.not_supported(at(), "x", &["a", "b"])),
            r#"spec.mode: Unsupported value: "x": supported values: "a", "b""#
        );
        assert_eq!(text(RULE.duplicate(at(), "x")), r#"spec.mode: Duplicate value: "x""#);
        assert_eq!(text(RULE.not_found(at(), "x")), r#"spec.mode: Not found: "x""#);
        assert_eq!(RULE.not_found(at(), "x").kind.cause(), "FieldValueNotFound");
        assert_eq!(text(RULE.too_long(at(), 63)), "spec.mode: Too long: may not be more than 63 bytes");
    }

    #[test]
    fn a_redacted_value_is_never_shown() {
        let issue = RULE.invalid(at(), Redacted).message("bad address");
        assert_eq!(issue.to_string(), r#"spec.mode: Invalid value: "<redacted>": bad address"#);
    }

    #[test]
    fn a_long_value_is_cut() {
        let issue = RULE.invalid(at(), "ä".repeat(5000));
        assert!(issue.to_string().chars().count() < 260);
    }

    #[test]
    fn help_follows_the_message() {
        let issue = RULE.required(at()).message("missing").help("add one");
        assert_eq!(issue.detail(), "Required value: missing (add one)");
    }

    #[test]
    fn a_hostile_object_gets_a_bounded_answer() {
        let issues: Issues = (0..10_000).map(|index| RULE.required(at().index(index))).collect();
        assert_eq!(issues.len(), MOST_ISSUES);
    }

    #[test]
    fn no_number_of_warnings_hides_an_error() {
        let mut issues: Issues = (0..10_000).map(|index| RULE.warning(at().index(index), "careful")).collect();
        issues.add(RULE.required(at()));
        assert!(issues.has_errors());
    }

    #[test]
    fn a_finding_keeps_no_more_of_a_long_value_than_it_shows() {
        let issue = RULE.invalid(at(), "x".repeat(100_000)).message("y".repeat(100_000));
        assert!(format!("{issue:?}").len() < 5_000);
    }

    #[test]
    fn findings_whose_paths_become_the_same_are_one() {
        let issues: Issues = (0..3).map(|index| RULE.required(at().index(index))).collect();
        assert_eq!(issues.map_paths(|_, _| at()).len(), 1);
    }

    #[test]
    fn two_findings_of_one_rule_at_one_place_with_different_texts_both_stay() {
        let mut issues = Issues::new();
        issues.add(RULE.required(at()).message("leader"));
        issues.add(RULE.required(at()).message("worker"));
        issues.add(RULE.required(at()).message("worker"));
        assert_eq!(issues.len(), 2);
    }
}
