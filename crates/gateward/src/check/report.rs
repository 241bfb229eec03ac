//! What a check has found, over all files.

use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use gateward_core::{FieldPath, Segment, Severity, terminal};
use gateward_lint::diagnostic::{Colour, Diagnostic, ObjectRef, folded, json};
use gateward_lint::yaml::Source;

use super::checked_object::CheckedObject;
use super::finding::{CEL, Finding, SCHEMA};
use super::subject::Subject;

/// Findings in the order of files and lines, and what was looked at.
#[derive(Debug, Default)]
pub struct Report {
    entries: Vec<(Diagnostic, Arc<str>)>,
    /// The messages of the CEL rules that some object may break.
    unevaluated: BTreeSet<String>,
    counts: Counts,
    /// How many findings there were of each severity, those that are forgotten too.
    severities: BTreeMap<Severity, usize>,
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
        self.findings(colour) + &self.conclusion(&self.looked_at())
    }

    /// The findings for people.
    pub(crate) fn findings(&self, colour: Colour) -> String {
        self.folded().iter().map(|folded| folded.human(colour) + "\n").collect()
    }

    /// What ends the findings: the rules that were not evaluated, and a line that sums up.
    pub(crate) fn conclusion(&self, looked_at: &str) -> String {
        let mut text = String::new();
        if !self.unevaluated.is_empty() {
            text.push_str("note: these CEL rules were not evaluated; the API server evaluates them:\n");
            text.extend(self.unevaluated.iter().map(|rule| format!("  - {}\n", terminal::line(rule))));
            text.push('\n');
        }
        text + &self.summary() + " in " + looked_at + "\n"
    }

    /// Forgets the findings, as once they are printed. What was counted stays.
    pub fn forget_findings(&mut self) {
        self.entries.clear();
    }

    /// The findings that people see one by one, each with those that say the same of other nodes of its file. What the
    /// schema and a rule both refuse is refused by the rule, which has more help.
    fn folded(&self) -> Vec<Folded<'_>> {
        let mut folded: Vec<Folded<'_>> = Vec::new();
        let mut known = HashMap::new();
        let is_of_rule = |diagnostic: &&Diagnostic| diagnostic.docs.is_some() && diagnostic.severity == Severity::Error;
        let node = |diagnostic: &Diagnostic| {
            let object = diagnostic.object.clone().map(|object| (object.kind, object.namespace, object.name));
            (diagnostic.file.clone(), object, diagnostic.path.pointer())
        };
        let of_rules: HashSet<_> = self.diagnostics().filter(is_of_rule).map(node).collect();
        for (diagnostic, source) in &self.entries {
            let is_said_by_a_rule = diagnostic.rule == SCHEMA && of_rules.contains(&node(diagnostic));
            if diagnostic.rule == CEL || is_said_by_a_rule {
                continue;
            }
            let said = (&diagnostic.file, diagnostic.rule, diagnostic.severity, said_of_any(diagnostic));
            match known.entry(said) {
                Entry::Occupied(first) => {
                    let place: &usize = first.get();
                    folded[*place].further.push(diagnostic);
                }
                Entry::Vacant(none) => {
                    none.insert(folded.len());
                    folded.push(Folded { first: diagnostic, further: Vec::new(), source });
                }
            }
        }
        folded
    }

    /// The findings for scripts, one a line.
    pub fn json(&self) -> String {
        self.entries.iter().map(|(diagnostic, _)| json(diagnostic) + "\n").collect()
    }

    pub(super) fn add(&mut self, file: FileReport<'_>) {
        self.counts.files += 1;
        self.counts.objects += file.counts.objects;
        self.counts.skipped += file.counts.skipped;
        self.unevaluated.extend(file.unevaluated);
        let mut found = file.found;
        found.sort_by_key(|diagnostic| (diagnostic.span, diagnostic.severity));
        // That rules were not evaluated is said once.
        for finding in found.iter().filter(|finding| finding.rule != CEL) {
            *self.severities.entry(finding.severity).or_default() += 1;
        }
        self.entries.extend(found.into_iter().map(|diagnostic| (diagnostic, Arc::clone(&file.text))));
    }

    fn count(&self, severity: Severity) -> usize {
        self.severities.get(&severity).copied().unwrap_or_default()
    }

    fn summary(&self) -> String {
        let count = |severity: Severity| counted(self.count(severity), severity.as_str());
        let unevaluated = match self.unevaluated.len() {
            0 => String::new(),
            rules => format!("{} not evaluated, ", counted(rules, "CEL rule")),
        };
        let (errors, warnings, notes) = (count(Severity::Error), count(Severity::Warning), count(Severity::Note));
        format!("{errors}, {unevaluated}{warnings}, {notes}")
    }

    fn looked_at(&self) -> String {
        let Counts { files, objects, skipped } = self.counts;
        let of_others = match skipped {
            0 => String::new(),
            1 => "; 1 object of another kind skipped".to_owned(),
            _ => format!("; {skipped} objects of other kinds skipped"),
        };
        format!("{} of {}{of_others}", counted(objects, "object"), counted(files, "file"))
    }
}

/// A finding, and those that say the same of other nodes of its file.
struct Folded<'r> {
    first: &'r Diagnostic,
    further: Vec<&'r Diagnostic>,
    source: &'r str,
}

impl Folded<'_> {
    fn human(&self, colour: Colour) -> String {
        if self.further.iter().all(|further| further.message == self.first.message) {
            return folded(self.first, &self.further, self.source, colour);
        }
        let (message, help) = said_of_any(self.first);
        folded(
            &Diagnostic { message, help: help.map(Cow::Owned), ..self.first.clone() },
            &self.further,
            self.source,
            colour,
        )
    }
}

/// What a finding says, with the last field of its path alone, whichever of its items it is about: each place is shown
/// with its path anyway.
fn said_of_any(diagnostic: &Diagnostic) -> (String, Option<String>) {
    let segments = diagnostic.path.segments();
    let field = segments.iter().rposition(|segment| matches!(segment, Segment::Field(_))).unwrap_or_default();
    let part = |range: &[Segment]| range.iter().cloned().collect::<FieldPath>().to_string();
    let (above, whole) = (format!("{}.", part(&segments[..field])), diagnostic.path.to_string());
    let any_item = (field + 1 < segments.len()).then(|| format!("{}[*]", part(&segments[..=field])));
    let without = |text: &str| {
        let text = any_item.as_ref().map_or_else(|| text.to_owned(), |any| text.replace(&whole, any));
        if field == 0 { text } else { text.replace(&above, "") }
    };
    (without(&diagnostic.message), diagnostic.help.as_deref().map(without))
}

/// The line that sums up.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {}", self.summary(), self.looked_at())
    }
}

pub(crate) fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// What was found in one file.
pub(super) struct FileReport<'f> {
    name: &'f str,
    text: Arc<str>,
    found: Vec<Diagnostic>,
    unevaluated: BTreeSet<String>,
    counts: Counts,
}

impl<'f> FileReport<'f> {
    /// What kept parts of the file from being read.
    pub(super) fn new(name: &'f str, source: &Source) -> Self {
        let found = source.findings.iter().map(|finding| Diagnostic::of_syntax(name, finding)).collect();
        Self { name, text: Arc::clone(&source.text), found, unevaluated: BTreeSet::new(), counts: Counts::default() }
    }

    /// Counts an object of a kind that isn't ours.
    pub(super) fn skip(&mut self) {
        self.counts.skipped += 1;
    }

    /// Takes in what was found about an object; `page` says how to learn more of a rule.
    pub(super) fn add(
        &mut self,
        subject: &Subject<'_>,
        judged: &CheckedObject,
        page: impl Fn(&'static str) -> Option<String>,
    ) {
        self.counts.objects += 1;
        let placed =
            |finding: &Finding| Diagnostic { docs: page(finding.rule), ..self.placed(subject, judged, finding) };
        let placed: Vec<Diagnostic> = judged.found.iter().map(placed).collect();
        self.found.extend(placed);
        self.unevaluated.extend(judged.unevaluated.iter().cloned());
    }

    /// A value that defaulting set stands nowhere in the file: its nearest ancestor is shown, and it is said.
    fn placed(&self, subject: &Subject<'_>, judged: &CheckedObject, finding: &Finding) -> Diagnostic {
        let path = &finding.path;
        let shown = finding.anchor.as_ref().unwrap_or(path);
        let (label, message): (Cow<'static, str>, _) = match path {
            root if root.is_root() => ("".into(), finding.message.clone()),
            path if judged.was_filled_in(path, subject.object) => (
                format!("{path} was filled in by defaulting").into(),
                format!("{} (the value was filled in by defaulting)", finding.message),
            ),
            path => (path.to_string().into(), finding.message.clone()),
        };
        Diagnostic {
            rule: finding.rule,
            severity: finding.severity,
            file: self.name.to_owned(),
            span: Some(subject.document.nearest(&subject.in_file(shown)).underline),
            label,
            related: None,
            path: path.clone(),
            object: Some(object_ref(subject)),
            message,
            help: finding.help.clone(),
            refused_by: None,
            docs: None,
        }
    }
}

fn object_ref(subject: &Subject<'_>) -> ObjectRef {
    ObjectRef {
        api_version: subject.gvk.api_version(),
        kind: subject.gvk.kind.clone(),
        namespace: subject.namespace().to_owned(),
        name: subject.shown_name().to_owned(),
    }
}
