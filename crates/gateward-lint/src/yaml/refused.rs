//! Input that our parser accepts and kubectl's rejects: tabs as indentation, directives, escapes of JSON.

use std::ops::{Range, RangeInclusive};

use super::finding::{SyntaxFinding, SyntaxKind};
use super::region::{Region, RegionStyle};
use super::text::Chunk;

/// A `%` line before the document. kubectl cuts the text at the `---` that must follow, and is left with a document
/// that is none.
pub(super) fn directive(chunk: &Chunk) -> Option<SyntaxFinding> {
    let mut at = 0;
    for line in chunk.text.split_inclusive('\n') {
        if line.starts_with('%') {
            let message = "kubectl can't read files with directives; leave the line out";
            return Some(refused(chunk, at..at + line.trim_end().len(), message));
        }
        if !line.trim().is_empty() && !line.starts_with('#') && !line.starts_with("---") {
            return None;
        }
        at += line.len();
    }
    None
}

/// The first tab or escape of the document that kubectl refuses.
pub(super) fn first(chunk: &Chunk, regions: &[Region]) -> Option<SyntaxFinding> {
    let tab = chunk.text.contains('\t').then(|| first_tab(chunk, &Regions::new(regions))).flatten();
    tab.or_else(|| first_escape(chunk, regions))
}

/// The tab that a parser stumbled over in the given line of the file, or in the next.
pub(super) fn tab_near(chunk: &Chunk, line: usize) -> Option<SyntaxFinding> {
    lines(chunk, line..=line + 1).find_map(|(at, text)| {
        let at = at + suspicious_tab(text)?;
        Some(no_yaml(chunk, at..at + 1, "a tab can't indent; use spaces"))
    })
}

/// The template action in the given lines of the file, over which a parser stumbled.
pub(super) fn template_near(chunk: &Chunk, wanted: RangeInclusive<usize>) -> Option<SyntaxFinding> {
    lines(chunk, wanted).find_map(|(at, text)| {
        let start = ["{{", "{%"].into_iter().filter_map(|action| text.find(action)).min()?;
        let bytes = at + start..at + text.trim_end().len();
        Some(no_yaml(chunk, bytes, "this is a template, no YAML yet: render it, and check what it makes"))
    })
}

/// The mark that a version control system left in the given line of the file, in the one before or in the next.
pub(super) fn conflict_near(chunk: &Chunk, line: usize) -> Option<SyntaxFinding> {
    lines(chunk, line.saturating_sub(1)..=line + 1).find_map(|(at, text)| {
        let text = text.trim_end();
        let is_mark = ["<<<<<<< ", ">>>>>>> "].iter().any(|mark| text.starts_with(mark)) || text == "=======";
        is_mark
            .then(|| no_yaml(chunk, at..at + text.len(), "this is no YAML: the mark of a merge that is not resolved"))
    })
}

/// Those of the given lines of the file that the chunk has, each with the place in the chunk where it begins.
fn lines<'c>(chunk: &'c Chunk, wanted: RangeInclusive<usize>) -> impl Iterator<Item = (usize, &'c str)> {
    let mut next = 0;
    let lines = chunk.text.split_inclusive('\n').map(move |text| {
        let at = next;
        next += text.len();
        (at, text)
    });
    let last = *wanted.end();
    let numbered = (chunk.line..).zip(lines).take_while(move |(number, _)| *number <= last);
    numbered.filter(move |(number, _)| wanted.contains(number)).map(|(_, line)| line)
}

fn first_tab(chunk: &Chunk, regions: &Regions) -> Option<SyntaxFinding> {
    let mut at = 0;
    for line in chunk.text.split_inclusive('\n') {
        if let Some(column) = suspicious_tab(line)
            && !regions.allow_tab(&chunk.text, at, column)
        {
            let message = "kubectl refuses a tab here; indent with spaces";
            return Some(refused(chunk, at + column..at + column + 1, message));
        }
        at += line.len();
    }
    None
}

/// The first tab before the content of a line, also one after `-`, `?` or `:`.
fn suspicious_tab(line: &str) -> Option<usize> {
    let mut bytes = line.bytes().enumerate().peekable();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\t' => return Some(at),
            b' ' => {}
            b'-' | b'?' | b':' if matches!(bytes.peek(), Some((_, b' ' | b'\t'))) => {}
            _ => return None,
        }
    }
    None
}

/// Where tabs are harmless.
struct Regions<'r> {
    /// In order, none within another.
    scalars: Vec<&'r Region>,
    /// The outermost flow collections, in order.
    flows: Vec<&'r Region>,
}

impl<'r> Regions<'r> {
    fn new(regions: &'r [Region]) -> Self {
        let (mut flows, mut scalars): (Vec<_>, Vec<_>) =
            regions.iter().partition(|region| region.style == RegionStyle::Flow);
        scalars.sort_by_key(|region| region.bytes.start);
        flows.sort_by_key(|region| (region.bytes.start, usize::MAX - region.bytes.end));
        let mut end = 0;
        flows.retain(|region| {
            let outer = region.bytes.start >= end;
            end = end.max(region.bytes.end);
            outer
        });
        Self { scalars, flows }
    }

    /// Whether kubectl takes the tab in the given column of the line that starts at `line`.
    fn allow_tab(&self, text: &str, line: usize, column: usize) -> bool {
        let at = line + column;
        match around(&self.scalars, at) {
            Some(block @ Region { style: RegionStyle::Block, .. }) => column >= indentation_of(text, block),
            Some(Region { style: RegionStyle::Plain, .. }) => column > 0,
            Some(_) => true,
            None => around(&self.flows, at).is_some(),
        }
    }
}

fn around<'r>(regions: &[&'r Region], at: usize) -> Option<&'r Region> {
    let next = regions.partition_point(|region| region.bytes.start <= at);
    let region = *regions.get(next.checked_sub(1)?)?;
    (region.bytes.start < at && at < region.bytes.end).then_some(region)
}

/// The indentation of a block scalar, which is the column of its first character.
fn indentation_of(text: &str, block: &Region) -> usize {
    let before = &text[..block.bytes.start];
    before.len() - before.rfind('\n').map_or(0, |at| at + 1)
}

fn first_escape(chunk: &Chunk, regions: &[Region]) -> Option<SyntaxFinding> {
    let quoted = regions.iter().filter(|region| region.style == RegionStyle::DoubleQuoted);
    quoted.into_iter().find_map(|region| {
        let text = chunk.text.get(region.bytes.clone())?;
        let at = region.bytes.start + bad_escape(text)?;
        Some(refused(chunk, at..at + 2, "kubectl doesn't know this escape outside JSON files"))
    })
}

/// `\/`, and `\ud83d` with its other half.
fn bad_escape(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(step) = bytes[at..].iter().position(|&byte| byte == b'\\') {
        at += step;
        match bytes[at + 1..] {
            [b'/', ..] | [b'u', b'd' | b'D', b'8'..=b'9' | b'a'..=b'f' | b'A'..=b'F', ..] => return Some(at),
            [] => return None,
            [_, ..] => at += 2,
        }
    }
    None
}

fn no_yaml(chunk: &Chunk, bytes: Range<usize>, message: &'static str) -> SyntaxFinding {
    SyntaxFinding::new(SyntaxKind::Syntax, chunk.locate(bytes), message)
}

fn refused(chunk: &Chunk, bytes: Range<usize>, message: &'static str) -> SyntaxFinding {
    SyntaxFinding::new(SyntaxKind::Refused, chunk.locate(bytes), message)
}
