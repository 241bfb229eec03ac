//! For people: the look of rustc.

use std::ops::Range;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet};
use gateward_core::Severity;

use super::Diagnostic;
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

/// How much of a line is kept in front of the underlined part, in bytes; the renderer shortens what is left, and counts
/// columns from here.
const KEPT: usize = 4096;

/// The finding with the line that it is about; `text` is the file's.
pub fn human(diagnostic: &Diagnostic, text: &str, colour: Colour) -> String {
    let renderer = match colour {
        Colour::Always => Renderer::styled(),
        Colour::Never => Renderer::plain(),
    };
    let excerpt = diagnostic.span.and_then(|span| Excerpt::new(text, &span));
    let message = clean(&diagnostic.message);
    let label = clean(&diagnostic.label);
    let file = clean(&diagnostic.file);
    let notes = notes(diagnostic);
    let title = level(diagnostic.severity).primary_title(message.as_str()).id(diagnostic.rule);
    let place: Element<'_> = match &excerpt {
        Some(excerpt) => Snippet::source(excerpt.text.as_str())
            .path(file.as_str())
            .line_start(excerpt.line)
            .annotation(AnnotationKind::Primary.span(excerpt.underlined.clone()).label(label.as_str()))
            .into(),
        None => Origin::path(file.as_str()).into(),
    };
    let group = notes.iter().fold(Group::with_title(title).element(place), |group, (name, note)| {
        group.element(Level::NOTE.with_name(*name).message(note.as_str()))
    });
    let mut shown = renderer.decor_style(DecorStyle::Ascii).render(&[group]);
    shown.push('\n');
    shown
}

fn level(severity: Severity) -> Level<'static> {
    match severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    }
}

fn notes(diagnostic: &Diagnostic) -> Vec<(&'static str, String)> {
    let help = diagnostic.help.as_deref().map(|help| ("help", clean(help)));
    let docs = diagnostic.docs.as_deref().map(|docs| ("docs", clean(docs)));
    help.into_iter().chain(docs).collect()
}

/// The line that a span is on, as much of it as is worth showing.
struct Excerpt {
    text: String,
    line: usize,
    underlined: Range<usize>,
}

impl Excerpt {
    /// `None` where the span is not in the text.
    fn new(text: &str, span: &Span) -> Option<Self> {
        let bytes = span.bytes();
        let before = text.get(..bytes.start)?;
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[bytes.start..].find('\n').map_or(text.len(), |at| bytes.start + at);
        let start = text.floor_char_boundary(line_start.max(bytes.start.saturating_sub(KEPT)));
        let wanted = bytes.end.clamp(bytes.start, line_end).min(bytes.start + SHOWN);
        let end = text.ceil_char_boundary((wanted + SHOWN).min(line_end));
        let underlined = bytes.start - start..text.ceil_char_boundary(wanted) - start;
        Some(Self { text: clean(text.get(start..end)?), line: span.line(), underlined })
    }
}

/// Text without control characters, each of its bytes in its old place: they could move the cursor or hide the finding.
fn clean(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for char in text.chars() {
        if char.is_control() {
            (0..char.len_utf8()).for_each(|_| clean.push('?'));
        } else {
            clean.push(char);
        }
    }
    clean
}
