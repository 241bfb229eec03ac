//! Syntax findings: errors and warnings of reading a text.

use gateward_core::Severity;

use super::span::Span;

/// Something that keeps a document from being read, or that kubectl would read in another way than its author thinks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxFinding {
    /// What kind of fault it is.
    pub kind: SyntaxKind,
    /// Where it is in the text.
    pub span: Span,
    /// A second place that explains it: the first of two equal keys.
    pub related: Option<Span>,
    /// One line for the user.
    pub message: String,
}

/// The kinds of [`SyntaxFinding`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SyntaxKind {
    /// Not UTF-8, or a character that no YAML text may hold.
    Encoding,
    /// More bytes or nodes than are read.
    TooLarge,
    /// Nested too deep.
    TooDeep,
    /// Aliases that multiply.
    Aliases,
    /// Text that is not YAML, or in a `.json` file not JSON.
    Syntax,
    /// A number, date or key that JSON can't hold, or a tag that its value contradicts.
    Value,
    /// A merge key `<<` whose value is no mapping.
    Merge,
    /// Readable, but refused by kubectl: tabs, directives, some escapes and separators.
    Refused,
    /// A key that occurs twice in one mapping; the last one wins.
    DuplicateKey,
    /// A key that a later `<<` overrides.
    OverriddenKey,
    /// A document after `...`, which kubectl drops silently.
    Ignored,
}

impl SyntaxKind {
    /// The id under which it is reported.
    pub fn id(self) -> &'static str {
        match self {
            SyntaxKind::Encoding => "YAML-ENCODING",
            SyntaxKind::TooLarge => "YAML-SIZE",
            SyntaxKind::TooDeep => "YAML-DEPTH",
            SyntaxKind::Aliases => "YAML-ALIASES",
            SyntaxKind::Syntax => "YAML-SYNTAX",
            SyntaxKind::Value => "YAML-VALUE",
            SyntaxKind::Merge => "YAML-MERGE",
            SyntaxKind::Refused => "YAML-KUBECTL",
            SyntaxKind::DuplicateKey => "YAML-DUPLICATE",
            SyntaxKind::OverriddenKey => "YAML-OVERRIDDEN",
            SyntaxKind::Ignored => "YAML-IGNORED",
        }
    }

    /// What would be right.
    pub fn help(self) -> &'static str {
        match self {
            SyntaxKind::Encoding => "save the file as UTF-8, and remove the character",
            SyntaxKind::TooLarge => "split the file",
            SyntaxKind::TooDeep => "nest less deeply",
            SyntaxKind::Aliases => "write the value out instead of the aliases",
            SyntaxKind::Syntax => "correct the line; render a template first, as with kustomize build or helm template",
            SyntaxKind::Value => "quote the value if it is text",
            SyntaxKind::Merge => "write a mapping, or an alias of one",
            SyntaxKind::Refused => "replace it by what kubectl reads",
            SyntaxKind::DuplicateKey => "keep one of them",
            SyntaxKind::OverriddenKey => "move the merge key `<<` in front of the key, or remove the key",
            SyntaxKind::Ignored => "begin the document with `---`",
        }
    }

    /// The severity: a warning if kubectl reads the text, but probably not as intended.
    pub fn severity(self) -> Severity {
        match self {
            SyntaxKind::DuplicateKey | SyntaxKind::OverriddenKey | SyntaxKind::Ignored => Severity::Warning,
            _ => Severity::Error,
        }
    }
}

impl SyntaxFinding {
    pub(super) fn new(kind: SyntaxKind, span: Span, message: impl Into<String>) -> Self {
        Self { kind, span, related: None, message: message.into() }
    }
}
