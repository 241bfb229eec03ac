//! What a rule is written with: its name and description, the findings, where they are, and what it may look up.

pub mod answer;
pub mod cluster;
pub mod context;
pub mod field;
pub mod handler;
pub mod into_handler;
pub mod issue;
#[cfg(feature = "kube")]
mod kube;
pub mod plain_kind;
pub mod resource;
pub mod review_object;
pub mod review_subject;
pub mod state;
pub mod store;
pub mod verdict;

use std::borrow::Cow;

use crate::rule::field::FieldPath;
use crate::rule::issue::{BadValue, Issue, IssueKind, Severity};
use crate::wire::operation::{CREATE_AND_UPDATE, Operation};

/// One entry of the catalogue: what a rule demands, of whom and when, with an example of each verdict.
///
/// A rule is a constant next to the function that enforces it; its methods make the findings.
///
/// ```
/// use gateward_core::{FieldPath, Rule, CREATE_AND_UPDATE};
///
/// const NAMED: Rule = Rule { id: "USER-01", summary: "a user has a name", ..Rule::on(CREATE_AND_UPDATE) };
///
/// let issue = NAMED.required(FieldPath::field("spec") / "username").message("a user needs a name");
/// assert_eq!(issue.to_string(), "spec.username: Required value: a user needs a name");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// The name that findings, documents and dashboards use.
    pub id: &'static str,
    /// What the rule demands, as half a sentence.
    pub summary: &'static str,
    /// What would be right, for findings that don't say it themselves; empty where all of them do.
    pub help: &'static str,
    /// The kinds that the rule judges.
    pub kinds: &'static [&'static str],
    /// The versions in which a user can meet the rule.
    pub versions: &'static [&'static str],
    /// The operations on which the rule runs.
    pub operations: &'static [Operation],
    /// The page of the operator's documentation that writes the rule out under its id; empty where there is none.
    pub page: &'static str,
    /// An example that breaks the rule: YAML with `object`, and `old`, `facts`, `user` as needed.
    pub bad: &'static str,
    /// An example that keeps the rule, of the same form.
    pub good: &'static str,
}

/// A node whose JSON type is not the one of its field, or a list that is far too long to be read.
pub const DECODE: Rule = Rule {
    id: "DECODE",
    summary: "each field has the JSON type of its schema, and no list is far beyond its bound",
    help: "write a value of this type",
    ..Rule::on(CREATE_AND_UPDATE)
};

/// An annotation in which conversion keeps what the object's version can't say.
pub const STASH: Rule = Rule {
    id: "STASH",
    summary: "what conversion kept in an annotation can be read",
    help: "remove the annotation; what it kept is lost either way",
    ..Rule::on(CREATE_AND_UPDATE)
};

/// A field that was left out of an object on its way to another version.
pub const INCOMPLETE: Rule = Rule {
    id: "INCOMPLETE",
    summary: "an object is written in a version that can say all of it",
    help: "write the object in the version that the message names",
    ..Rule::on(CREATE_AND_UPDATE)
};

/// An object that nests so deeply that clients could not read a list with it.
pub const NESTING: Rule = Rule {
    id: "NESTING",
    summary: "an object nests at most 500 levels deep, its managed fields included",
    help: "keep what nests so deeply as text",
    ..Rule::on(CREATE_AND_UPDATE)
};

/// A field that no version of its kind knows.
pub const UNKNOWN: Rule = Rule {
    id: "UNKNOWN",
    summary: "each field is known to a version of the kind",
    help: "remove the field, or correct its name",
    ..Rule::on(CREATE_AND_UPDATE)
};

/// The rules that core itself enforces, whatever an operator declares.
#[cfg(feature = "testing")]
pub(crate) const OF_CORE: [Rule; 5] = [DECODE, STASH, INCOMPLETE, NESTING, UNKNOWN];

impl Rule {
    /// A rule without a name yet, for `..Rule::on(CREATE)`.
    pub const fn on(operations: &'static [Operation]) -> Self {
        Self { id: "", summary: "", help: "", kinds: &[], versions: &[], operations, page: "", bad: "", good: "" }
    }

    /// Where the rule is written out: its page, and the anchor of its id there.
    ///
    /// ```
    /// use gateward_core::{CREATE, Rule};
    ///
    /// const NAMED: Rule = Rule { id: "USER-01", page: "docs/rules.md", ..Rule::on(CREATE) };
    /// assert_eq!(NAMED.section().as_deref(), Some("docs/rules.md#user-01"));
    /// ```
    pub fn section(&self) -> Option<String> {
        (!self.page.is_empty()).then(|| format!("{}#{}", self.page, self.id.to_ascii_lowercase()))
    }

    /// A field that must be there is missing or empty.
    pub fn required(&self, path: FieldPath) -> Issue {
        self.issue(path, IssueKind::Required)
    }

    /// A value that the field can't have.
    pub fn invalid(&self, path: FieldPath, value: impl Into<BadValue>) -> Issue {
        self.issue(path, IssueKind::Invalid(value.into()))
    }

    /// A field that may not be set here.
    pub fn forbidden(&self, path: FieldPath) -> Issue {
        self.issue(path, IssueKind::Forbidden)
    }

    /// A value that is none of the accepted ones.
    pub fn not_supported(&self, path: FieldPath, value: impl Into<BadValue>, accepted: &[&str]) -> Issue {
        let accepted = accepted.iter().map(|&text| text.to_owned()).collect();
        self.issue(path, IssueKind::NotSupported { value: value.into(), accepted })
    }

    /// A value that stands in the list already.
    pub fn duplicate(&self, path: FieldPath, value: impl Into<BadValue>) -> Issue {
        self.issue(path, IssueKind::Duplicate(value.into()))
    }

    /// A value that names what there is not, such as another object.
    ///
    /// ```
    /// use gateward_core::{CREATE, FieldPath, Rule};
    ///
    /// const CALENDAR: Rule = Rule { id: "CRON-03", ..Rule::on(CREATE) };
    /// let issue = CALENDAR.not_found(FieldPath::field("spec") / "calendar", "holidays");
    /// assert_eq!(issue.to_string(), r#"spec.calendar: Not found: "holidays""#);
    /// ```
    pub fn not_found(&self, path: FieldPath, value: impl Into<BadValue>) -> Issue {
        self.issue(path, IssueKind::NotFound(value.into()))
    }

    /// Text of more than `max` bytes.
    pub fn too_long(&self, path: FieldPath, max: usize) -> Issue {
        self.issue(path, IssueKind::TooLong { max })
    }

    /// A list of more than `max` items.
    pub fn too_many(&self, path: FieldPath, actual: usize, max: usize) -> Issue {
        self.issue(path, IssueKind::TooMany { actual, max })
    }

    /// Something the user should know, which denies nothing. The text stands alone: it is shown without the path.
    pub fn warning(&self, path: FieldPath, text: impl Into<Cow<'static, str>>) -> Issue {
        self.issue(path, IssueKind::Remark).severity(Severity::Warning).message(text)
    }

    /// Something that concerns the check rather than the object, such as a look-up that wasn't made.
    pub fn note(&self, path: FieldPath, text: impl Into<Cow<'static, str>>) -> Issue {
        self.issue(path, IssueKind::Remark).severity(Severity::Note).message(text)
    }

    fn issue(&self, path: FieldPath, kind: IssueKind) -> Issue {
        Issue::new(self.id, path, kind)
    }
}
