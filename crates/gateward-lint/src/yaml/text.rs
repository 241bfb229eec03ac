//! From bytes to text, and from text to the documents that kubectl sees in it.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::finding::{SyntaxFinding, SyntaxKind};
use super::span::{Span, count_lines};

/// A text of the same length as the file, byte for byte, with a `?` in place of each byte that is not UTF-8.
pub(super) struct Text {
    pub(super) text: Arc<str>,
    /// The bytes that no YAML text may hold, in order.
    faults: Vec<Fault>,
}

struct Fault {
    at: usize,
    kind: FaultKind,
}

#[derive(Clone, Copy)]
enum FaultKind {
    Utf16,
    NotUtf8,
    Forbidden(char),
}

impl FaultKind {
    fn message(self) -> String {
        match self {
            Self::Utf16 => "the file is UTF-16; save it as UTF-8".into(),
            Self::NotUtf8 => "this byte is not UTF-8".into(),
            Self::Forbidden(character) => {
                let code = u32::from(character);
                format!("the character U+{code:04X} may not stand in YAML; in quotes, write an escape")
            }
        }
    }
}

/// The text between two `---`.
pub(super) struct Chunk<'t> {
    /// The text, with the line of its `---`.
    pub(super) text: Cow<'t, str>,
    /// Where it starts in the file, in bytes.
    pub(super) offset: usize,
    /// The line of the file in which it starts; the first is 1.
    pub(super) line: usize,
}

const BYTE_ORDER_MARK: char = '\u{feff}';

impl Text {
    pub(super) fn new(bytes: &[u8]) -> Self {
        let (text, mut faults) = decode(bytes);
        faults.extend(forbidden(&text));
        faults.sort_by_key(|fault| fault.at);
        Self { text: Arc::from(text), faults }
    }

    /// The first fault within `chunk`.
    pub(super) fn fault(&self, chunk: &Chunk) -> Option<SyntaxFinding> {
        let next = self.faults.partition_point(|fault| fault.at < chunk.offset);
        let fault = self.faults.get(next).filter(|fault| fault.at < chunk.offset + chunk.text.len())?;
        let start = fault.at - chunk.offset;
        let end = chunk.text.ceil_char_boundary(start + 1);
        Some(SyntaxFinding::new(SyntaxKind::Encoding, chunk.locate(start..end), fault.kind.message()))
    }

    /// All of the text as one document.
    pub(super) fn whole(&self) -> Chunk<'_> {
        let (content, offset) = self.content();
        Chunk { text: Cow::Borrowed(content), offset, line: 1 }
    }

    /// The file without its byte order mark, and how long that is.
    pub(super) fn content(&self) -> (&str, usize) {
        let content = self.text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&self.text);
        (content, self.text.len() - content.len())
    }

    /// The documents, split as kubectl does it: at each line that starts with `---`, before anything is parsed.
    pub(super) fn chunks(&self, findings: &mut Vec<SyntaxFinding>) -> Vec<Chunk<'_>> {
        let (content, offset) = self.content();
        let mut chunks = Vec::new();
        let (mut start, mut start_line) = (0, 1);
        let (mut seen, mut line) = (0, 1);
        for at in separators(content) {
            line += count_lines(&content[seen..at]);
            seen = at;
            let marker = after_marker(&content[at..]);
            if marker != Marker::Alone {
                findings.push(bad_separator(&content[at..], offset + at, line));
            }
            if marker != Marker::NotOne && at > start {
                chunks.push(chunk(content, start..at, offset, start_line));
                (start, start_line) = (at, line);
            }
        }
        chunks.push(chunk(content, start..content.len(), offset, start_line));
        chunks
    }
}

impl Chunk<'_> {
    /// A stretch of the chunk as one of the file.
    pub(super) fn locate(&self, bytes: Range<usize>) -> Span {
        Span::locate(&self.text, bytes).moved(self.offset, self.line - 1)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Marker {
    Alone,
    WithContent,
    NotOne,
}

/// The starts of all lines that start with `---`.
fn separators(content: &str) -> impl Iterator<Item = usize> + '_ {
    let first = content.starts_with("---").then_some(0);
    first.into_iter().chain(content.match_indices("\n---").map(|(at, _)| at + 1))
}

fn after_marker(from_marker: &str) -> Marker {
    let rest = from_marker["---".len()..].lines().next().unwrap_or_default();
    let content = rest.trim();
    if content.is_empty() || content.starts_with('#') {
        Marker::Alone
    } else if rest.starts_with([' ', '\t']) {
        Marker::WithContent
    } else {
        Marker::NotOne
    }
}

fn bad_separator(from_marker: &str, at: usize, line: usize) -> SyntaxFinding {
    let length = from_marker.lines().next().unwrap_or_default().len();
    let span = Span::new(at..at + length, line..line, 1);
    SyntaxFinding::new(SyntaxKind::Refused, span, "kubectl refuses text after `---` in the same line")
}

/// A lone carriage return ends a line in YAML; a line feed ends one for every reader.
fn chunk(content: &str, range: Range<usize>, offset: usize, line: usize) -> Chunk<'_> {
    let text = &content[range.clone()];
    let feeds = text.contains('\r') && text.replace("\r\n", "").contains('\r');
    let text = if feeds { Cow::Owned(feed_lines(text)) } else { Cow::Borrowed(text) };
    Chunk { text, offset: offset + range.start, line }
}

fn feed_lines(text: &str) -> String {
    let mut fed = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        let lone = character == '\r' && rest.peek() != Some(&'\n');
        fed.push(if lone { '\n' } else { character });
    }
    fed
}

/// The text, and the first fault of each line.
fn decode(bytes: &[u8]) -> (String, Vec<Fault>) {
    let mut text = String::with_capacity(bytes.len());
    let (mut faults, mut is_reported) = (Vec::new(), false);
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        is_reported &= !chunk.valid().contains('\n');
        if !chunk.invalid().is_empty() && !is_reported {
            let kind = if faults.is_empty() { encoding_of(bytes) } else { FaultKind::NotUtf8 };
            faults.push(Fault { at: text.len(), kind });
            is_reported = true;
        }
        text.extend(chunk.invalid().iter().map(|_| '?'));
    }
    (text, faults)
}

fn encoding_of(bytes: &[u8]) -> FaultKind {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        FaultKind::Utf16
    } else {
        FaultKind::NotUtf8
    }
}

/// The first of the characters on each line that YAML keeps out of its texts.
fn forbidden(text: &str) -> Vec<Fault> {
    let (mut faults, mut is_reported) = (Vec::new(), false);
    for (at, byte) in text.bytes().enumerate() {
        is_reported &= byte != b'\n';
        // Only these bytes begin a character that is looked at.
        let is_candidate = byte < b' ' || matches!(byte, 0x7f | 0xc2 | 0xef);
        if is_reported || !is_candidate || matches!(byte, b'\n' | b'\r' | b'\t') {
            continue;
        }
        let character = text[at..].chars().next().unwrap_or_default();
        if is_forbidden(character) {
            faults.push(Fault { at, kind: FaultKind::Forbidden(character) });
            is_reported = true;
        }
    }
    faults
}

fn is_forbidden(character: char) -> bool {
    character.is_control() && !matches!(character, '\n' | '\r' | '\t' | '\u{85}')
        || matches!(character, '\u{fffe}' | '\u{ffff}')
}
