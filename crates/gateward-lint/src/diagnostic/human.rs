//! Renders a diagnostic for a terminal, in the style of rustc.

use std::ops::Range;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{Annotation, AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet};
use gateward_core::{Severity, terminal};

use super::{Diagnostic, ObjectRef, RefusedBy};
use crate::yaml::Span;

/// Whether to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// For a terminal.
    Always,
    /// For files and pipes.
    Never,
}

/// How much of a line is shown from the underlined part on, in bytes.
const SHOWN: usize = 120;

/// How much of a line is kept in front of the underlined part, in bytes; the renderer shortens what is left.
const KEPT: usize = 4096;

/// How many objects are named that one finding is about.
const NAMED: usize = 5;

/// The finding with the line that it is about; `text` is the file's.
///
/// Nothing of the text reaches a terminal as a command: control characters and those that turn the direction of
/// writing are replaced.
pub fn human(diagnostic: &Diagnostic, text: &str, colour: Colour) -> String {
    folded(diagnostic, &[], text, colour)
}

/// The same with the lines of further findings that say the same of other nodes of the file.
pub fn folded(diagnostic: &Diagnostic, further: &[&Diagnostic], text: &str, colour: Colour) -> String {
    let renderer = match colour {
        Colour::Always => Renderer::styled(),
        Colour::Never => Renderer::plain(),
    };
    let file = clean(&diagnostic.file);
    let parts = Parts::new(diagnostic, further, text);
    let title = level(diagnostic.severity).primary_title(parts.message.as_str()).id(diagnostic.rule);
    let group = Group::with_title(title).elements(parts.places(&file)).elements(parts.notes());
    let mut shown = renderer.decor_style(DecorStyle::Ascii).render(&[group]);
    if let Some((counted, actual)) = parts.corrected_place(&file) {
        shown = shown.replacen(&counted, &actual, 1);
    }
    shown.push('\n');
    shown
}

/// All texts of a finding, fit for a terminal.
struct Parts {
    message: String,
    excerpt: Option<Excerpt>,
    further: Vec<Excerpt>,
    related: Option<Excerpt>,
    notes: Vec<(&'static str, String)>,
}

impl Parts {
    fn new(diagnostic: &Diagnostic, further: &[&Diagnostic], text: &str) -> Self {
        let object = objects(std::iter::once(diagnostic).chain(further.iter().copied()));
        let object = object.map(|objects| ("object", clean(&objects)));
        let help = diagnostic.help.as_deref().map(|help| ("help", clean(help)));
        let docs = diagnostic.docs.as_deref().map(|docs| ("docs", clean(docs)));
        let refusals = diagnostic.refused_by.iter().flat_map(|judges| refusals(judges, diagnostic.severity));
        let related = diagnostic.related.as_ref();
        Self {
            message: clean(&diagnostic.message),
            excerpt: excerpt(diagnostic, text),
            further: further.iter().filter_map(|further| excerpt(further, text)).collect(),
            related: related.and_then(|related| Excerpt::new(text, &related.span, &related.label)),
            notes: object.into_iter().chain(help).chain(refusals).chain(docs).collect(),
        }
    }

    fn places<'p>(&'p self, file: &'p str) -> Vec<Element<'p>> {
        let Some(excerpt) = &self.excerpt else { return vec![Origin::path(file).into()] };
        let related = self.related.as_ref().map(|related| related.snippet(file, AnnotationKind::Context).into());
        let all = std::iter::once(excerpt).chain(&self.further);
        all.map(|excerpt| excerpt.snippet(file, AnnotationKind::Primary).into()).chain(related).collect()
    }

    fn notes(&self) -> impl Iterator<Item = Element<'_>> {
        self.notes.iter().map(|(name, note)| Level::NOTE.with_name(*name).message(note.as_str()).into())
    }

    /// The location that the renderer prints, and the right one, if it got only a part of the line.
    fn corrected_place(&self, file: &str) -> Option<(String, String)> {
        let excerpt = self.excerpt.as_ref()?;
        let counted = 1 + excerpt.text[..excerpt.underlined.start].chars().count();
        let place = |column: usize| format!("{file}:{}:{column}", excerpt.line);
        (counted != excerpt.column).then(|| (place(counted), place(excerpt.column)))
    }
}

/// The objects that findings are about, each once; `None` where they are about a file.
fn objects<'d>(diagnostics: impl Iterator<Item = &'d Diagnostic>) -> Option<String> {
    let mut objects: Vec<&ObjectRef> = Vec::new();
    for object in diagnostics.filter_map(|diagnostic| diagnostic.object.as_ref()) {
        if !objects.contains(&object) {
            objects.push(object);
        }
    }
    let mut named: Vec<String> = objects.iter().take(NAMED).map(ToString::to_string).collect();
    if let Some(further) = objects.len().checked_sub(NAMED).filter(|further| *further > 0) {
        named.push(format!("{further} more"));
    }
    (!named.is_empty()).then(|| named.join(", "))
}

/// Who refuses it, each on a line of its own. That no program refuses an error is worth a line, too.
fn refusals(judges: &[RefusedBy], severity: Severity) -> Vec<(&'static str, String)> {
    let shown = |refused: &RefusedBy| {
        let RefusedBy { judge, stage, says } = refused;
        let said = if says.is_empty() { String::new() } else { format!(": {says}") };
        ("refused by", clean(&format!("{judge} at {stage}{said}")))
    };
    let is_hole = judges.is_empty() && severity == Severity::Error;
    let none = is_hole.then(|| ("refused by", "no program".to_owned()));
    judges.iter().map(shown).chain(none).collect()
}

fn excerpt(diagnostic: &Diagnostic, text: &str) -> Option<Excerpt> {
    diagnostic.span.and_then(|span| Excerpt::new(text, &span, &diagnostic.label))
}

fn level(severity: Severity) -> Level<'static> {
    match severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    }
}

/// The line that a span is on, as much of it as is worth showing.
struct Excerpt {
    text: String,
    line: usize,
    column: usize,
    underlined: Range<usize>,
    label: String,
}

impl Excerpt {
    /// `None` where the span is not in the text.
    fn new(text: &str, span: &Span, label: &str) -> Option<Self> {
        let bytes = span.bytes();
        let before = text.get(..bytes.start)?;
        // A line may be as long as the file, and be shown for each of many findings.
        let near = text.floor_char_boundary(bytes.start.saturating_sub(KEPT));
        let start = before[near..].rfind('\n').map_or(near, |at| near + at + 1);
        let after = text.get(bytes.start..text.ceil_char_boundary((bytes.start + 2 * SHOWN).min(text.len())))?;
        let line_end = bytes.start + after.find(['\n', '\r']).unwrap_or(after.len());
        let wanted = bytes.end.clamp(bytes.start, line_end).min(bytes.start + SHOWN);
        let end = text.ceil_char_boundary((wanted + SHOWN).min(line_end));
        let underlined = bytes.start - start..text.ceil_char_boundary(wanted) - start;
        let text = clean(text.get(start..end)?);
        Some(Self { text, line: span.line(), column: span.column(), underlined, label: clean(label) })
    }

    fn snippet<'e>(&'e self, file: &'e str, kind: AnnotationKind) -> Snippet<'e, Annotation<'e>> {
        let annotation = kind.span(self.underlined.clone());
        let annotation = if self.label.is_empty() { annotation } else { annotation.label(self.label.as_str()) };
        Snippet::source(self.text.as_str()).path(file).line_start(self.line).annotation(annotation)
    }
}

/// Text without characters that a terminal obeys, each of its bytes in its old place.
fn clean(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\t' => clean.push('\t'),
            _ if terminal::is_obeyed(character) => (0..character.len_utf8()).for_each(|_| clean.push('?')),
            _ => clean.push(character),
        }
    }
    clean
}
