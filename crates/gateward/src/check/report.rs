//! What a check has found, over all files.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use gateward_core::{FieldPath, Severity};
use gateward_lint::diagnostic::{Colour, Diagnostic, ObjectRef, Related, human, json};
use gateward_lint::yaml::{Source, SyntaxFinding};

use super::finding::{CEL, Finding, SCHEMA};
use super::object::{Findings, Subject};

/// Findings in the order of files and lines, and what was looked at.
#[derive(Debug, Default)]
pub struct Report {
    entries: Vec<(Diagnostic, Arc<str>)>,
    counts: Counts,
}

/// How much was looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Files that were read.
    pub files: usize,
    /// Objects that were judged.
    pub objects: usize,
    /// Objects of kinds that aren't ours.
    pub skipped: usize,
}

impl Report {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The findings.
    pub fn diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        self.entries.iter().map(|(diagnostic, _)| diagnostic)
    }

    /// How much was looked at.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Whether anything would be refused.
    pub fn has_errors(&self) -> bool {
        self.count(Severity::Error) > 0
    }

    /// The findings for people, and a line that sums up.
    pub fn human(&self, colour: Colour) -> String {
        let mut text = String::new();
        for (diagnostic, source) in &self.entries {
            text.push_str(&human(diagnostic, source, colour));
            text.push('\n');
        }
        text + &format!("{self}\n")
    }

    /// The findings for scripts, one a line.
    pub fn json(&self) -> String {
        self.entries.iter().map(|(diagnostic, _)| json(diagnostic) + "\n").collect()
    }

    pub(super) fn file<'r>(&'r mut self, name: &'r str, source: &Source) -> FileReport<'r> {
        self.counts.files += 1;
        let text = Arc::clone(&source.text);
        let syntax = source.findings.iter().map(|finding| (of_syntax(name, finding), Arc::clone(&text)));
        self.entries.extend(syntax);
        FileReport { report: self, name, text }
    }

    fn count(&self, severity: Severity) -> usize {
        self.diagnostics().filter(|diagnostic| diagnostic.severity == severity).count()
    }
}

/// The line that sums up.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { files, objects, skipped } = self.counts;
        let (errors, warnings) = (self.count(Severity::Error), self.count(Severity::Warning));
        write!(f, "{}, {} ", counted(errors, "error"), counted(warnings, "warning"))?;
        write!(f, "in {} of {}", counted(objects, "object"), counted(files, "file"))?;
        match skipped {
            0 => Ok(()),
            1 => f.write_str("; 1 object of another kind skipped"),
            _ => write!(f, "; {skipped} objects of other kinds skipped"),
        }
    }
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

fn of_syntax(file: &str, finding: &SyntaxFinding) -> Diagnostic {
    Diagnostic {
        rule: finding.kind.id(),
        severity: finding.kind.severity(),
        file: file.to_owned(),
        span: Some(finding.span),
        label: Cow::Borrowed(""),
        related: finding.related.map(|span| Related { span, label: Cow::Borrowed("see here") }),
        path: FieldPath::root(),
        object: None,
        message: finding.message.clone(),
        help: None,
        docs: None,
    }
}

/// The report while one file is being checked.
pub(super) struct FileReport<'r> {
    report: &'r mut Report,
    name: &'r str,
    text: Arc<str>,
}

impl FileReport<'_> {
    /// Counts an object of a kind that isn't ours.
    pub(super) fn skip(&mut self) {
        self.report.counts.skipped += 1;
    }

    /// Takes in what was found about an object.
    pub(super) fn add(&mut self, subject: &Subject<'_>, findings: &Findings) {
        self.report.counts.objects += 1;
        for finding in &findings.found {
            let diagnostic = self.placed(subject, findings, finding);
            self.report.entries.push((diagnostic, Arc::clone(&self.text)));
        }
    }

    /// A value that defaulting set stands nowhere in the file: its nearest ancestor is shown, and it is said.
    fn placed(&self, subject: &Subject<'_>, findings: &Findings, finding: &Finding) -> Diagnostic {
        let place = subject.document.nearest(&subject.in_file(&finding.path));
        let defaulted = findings.was_defaulted(&finding.path, subject.object);
        let label: Cow<'static, str> = match (finding.path.is_root(), defaulted) {
            (true, _) => Cow::Borrowed(""),
            (false, true) => format!("{} was filled in by defaulting", finding.path).into(),
            (false, false) => finding.path.to_string().into(),
        };
        let message = if defaulted && !finding.path.is_root() {
            format!("{} (the value was filled in by defaulting)", finding.message)
        } else {
            finding.message.clone()
        };
        Diagnostic {
            rule: finding.rule,
            severity: finding.severity,
            file: self.name.to_owned(),
            span: Some(place.underline),
            label,
            related: None,
            path: finding.path.clone(),
            object: Some(object_ref(subject)),
            message,
            help: finding.help.clone(),
            docs: docs(finding.rule),
        }
    }
}

fn object_ref(subject: &Subject<'_>) -> ObjectRef {
    ObjectRef {
        api_version: subject.gvk.api_version(),
        kind: subject.gvk.kind.clone(),
        namespace: subject.namespace().to_owned(),
        name: subject.name().to_owned(),
    }
}

/// Rules of the catalogue have a page; the API server's own checks don't.
fn docs(rule: &'static str) -> Option<String> {
    (rule != SCHEMA && rule != CEL).then(|| format!("gateward rules {rule}"))
}
