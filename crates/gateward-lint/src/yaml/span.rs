//! Places in a text.

use std::ops::Range;

/// A stretch of a source text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Span {
    start: u32,
    end: u32,
    line: u32,
    column: u32,
    end_line: u32,
}

impl Span {
    pub(super) fn new(bytes: Range<usize>, lines: Range<usize>, column: usize) -> Self {
        let end = bytes.end.max(bytes.start);
        Self {
            start: narrow(bytes.start),
            end: narrow(end),
            line: narrow(lines.start),
            column: narrow(column),
            end_line: narrow(lines.end.max(lines.start)),
        }
    }

    /// The stretch of `text` from byte `start` to `end`, its line and column found by counting.
    ///
    /// Offsets outside the text or inside a character are moved to the nearest one before that fits.
    pub fn locate(text: &str, bytes: Range<usize>) -> Self {
        let start = text.floor_char_boundary(bytes.start);
        let end = text.floor_char_boundary(bytes.end).max(start);
        let before = &text[..start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = 1 + count_lines(before);
        let column = 1 + before[line_start..].trim_start_matches('\u{feff}').chars().count();
        Self::new(start..end, line..line + count_lines(&text[start..end]), column)
    }

    /// The bytes of the stretch, counted from the start of the file.
    pub fn bytes(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The line in which it starts; the first is 1.
    pub fn line(&self) -> usize {
        self.line as usize
    }

    /// The column in which it starts, in characters; the first is 1.
    pub fn column(&self) -> usize {
        self.column as usize
    }

    /// Whether it ends in another line than it starts in.
    pub fn is_multiline(&self) -> bool {
        self.end_line != self.line
    }

    /// The stretch from the start of this one to the end of `last`.
    pub fn to(&self, last: &Span) -> Span {
        Span { end: last.end.max(self.end), end_line: last.end_line.max(self.end_line), ..*self }
    }
}

impl Span {
    /// The same stretch of a text that starts so much later in its file.
    pub(super) fn moved(self, bytes: usize, lines: usize) -> Self {
        let (bytes, lines) = (narrow(bytes), narrow(lines));
        Self {
            start: self.start + bytes,
            end: self.end + bytes,
            line: self.line + lines,
            end_line: self.end_line + lines,
            ..self
        }
    }
}

/// How many lines end in `text`.
pub(super) fn count_lines(text: &str) -> usize {
    text.bytes().filter(|&byte| byte == b'\n').count()
}

/// Texts are far below 4 GiB, see [`super::limits::MAX_BYTES`].
fn narrow(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}
