//! JSON as it is, with the place of every node.

use serde_json::{Number, Value};

use super::compose::Composed;
use super::finding::{SyntaxFinding, SyntaxKind};
use super::limits::MAX_DEPTH;
use super::span::Span;
use super::tree::{Key, KeyRole, NodeId, NodeKind};

/// Reads JSON values, one after the other, out of `text`, which starts at byte `offset` of its file.
pub(super) struct JsonReader<'t> {
    text: &'t str,
    offset: usize,
    at: usize,
    mark: Mark,
    nodes_left: usize,
}

/// A byte whose line and column are known. It only moves forward, so that a file of one long line costs no more than
/// one of many.
#[derive(Clone, Copy)]
struct Mark {
    at: usize,
    line: usize,
    column: usize,
}

type Read<T> = Result<T, SyntaxFinding>;

impl<'t> JsonReader<'t> {
    pub(super) fn new(text: &'t str, offset: usize, max_nodes: usize) -> Self {
        Self { text, offset, at: 0, mark: Mark { at: 0, line: 1, column: 1 }, nodes_left: max_nodes }
    }

    /// The next value; `None` at the end of the text.
    pub(super) fn next_value(&mut self) -> Read<Option<Composed>> {
        self.skip_blanks();
        if self.peek().is_none() {
            return Ok(None);
        }
        let mut composed = Composed::default();
        self.value(&mut composed, 0)?;
        Ok(Some(composed))
    }

    fn value(&mut self, into: &mut Composed, depth: usize) -> Read<NodeId> {
        match self.peek() {
            Some(b'{') => self.object(into, depth),
            Some(b'[') => self.array(into, depth),
            _ => self.scalar(into),
        }
    }

    fn object(&mut self, into: &mut Composed, depth: usize) -> Read<NodeId> {
        let (node, start) = self.open(into, NodeKind::Mapping { first: None }, depth)?;
        let mut last = None;
        while self.more(b'}', last.is_some(), "expected `,` or `}`")? {
            let key = self.key()?;
            self.take(b':', "expected `:`")?;
            self.skip_blanks();
            let child = self.value(into, depth + 1)?;
            into.tree.append(node, last, child, Some(key));
            last = Some(child);
        }
        into.tree.node_mut(node).span = self.span_from(start);
        Ok(node)
    }

    fn array(&mut self, into: &mut Composed, depth: usize) -> Read<NodeId> {
        let (node, start) = self.open(into, NodeKind::Sequence { first: None }, depth)?;
        let mut last = None;
        while self.more(b']', last.is_some(), "expected `,` or `]`")? {
            let child = self.value(into, depth + 1)?;
            into.tree.append(node, last, child, None);
            last = Some(child);
        }
        into.tree.node_mut(node).span = self.span_from(start);
        Ok(node)
    }

    fn open(&mut self, into: &mut Composed, kind: NodeKind, depth: usize) -> Read<(NodeId, Mark)> {
        let start = self.mark();
        if depth >= MAX_DEPTH {
            let message = format!("nested deeper than {MAX_DEPTH} levels");
            return Err(self.finding(SyntaxKind::TooDeep, message));
        }
        self.at += 1;
        let node = self.add(into, kind, Value::Null, start)?;
        Ok((node, start))
    }

    /// Whether another member follows, past the comma if one is due.
    fn more(&mut self, close: u8, comma_due: bool, expected: &'static str) -> Read<bool> {
        self.skip_blanks();
        if self.peek() == Some(close) {
            self.at += 1;
            return Ok(false);
        }
        if comma_due {
            self.take(b',', expected)?;
            self.skip_blanks();
        }
        Ok(true)
    }

    fn key(&mut self) -> Read<Key> {
        let start = self.mark();
        if self.peek() != Some(b'"') {
            return Err(self.finding(SyntaxKind::Syntax, "expected a key in double quotes"));
        }
        let token = self.string_token()?;
        let text = self.string(token, start)?;
        Ok(Key { text: text.into(), span: self.span_from(start), role: KeyRole::Member })
    }

    fn scalar(&mut self, into: &mut Composed) -> Read<NodeId> {
        let start = self.mark();
        let value = match self.peek() {
            Some(b'"') => {
                let token = self.string_token()?;
                Value::String(self.string(token, start)?)
            }
            Some(b'-' | b'0'..=b'9') => self.number(start)?,
            _ => self.word()?,
        };
        self.add(into, NodeKind::Scalar, value, start)
    }

    fn string_token(&mut self) -> Read<&'t str> {
        let from = self.at;
        let rest = &self.text.as_bytes()[from..];
        let mut length = 1;
        loop {
            match rest.get(length) {
                Some(b'"') => break,
                Some(b'\\') => length += 2,
                Some(_) => length += 1,
                None => return Err(self.finding(SyntaxKind::Syntax, "this string has no end")),
            }
        }
        self.at += length + 1;
        Ok(&self.text[from..self.at])
    }

    fn string(&mut self, token: &str, start: Mark) -> Read<String> {
        let plain = &token[1..token.len() - 1];
        if plain.bytes().all(|byte| byte >= b' ' && byte != b'\\') {
            return Ok(plain.to_owned());
        }
        serde_json::from_str(token).map_err(|_| {
            let message = "a bad escape, or a control character that is not escaped";
            SyntaxFinding::new(SyntaxKind::Syntax, self.span_from(start), message)
        })
    }

    fn number(&mut self, start: Mark) -> Read<Value> {
        let rest = &self.text[self.at..];
        let length =
            rest.bytes().take_while(|byte| matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E' | b'0'..=b'9')).count();
        let token = &rest[..length];
        self.at += length;
        parse_number(token).ok_or_else(|| {
            let message = "this is not a JSON number, or out of range";
            SyntaxFinding::new(SyntaxKind::Value, self.span_from(start), message)
        })
    }

    fn word(&mut self) -> Read<Value> {
        let rest = &self.text[self.at..];
        let words = [("null", Value::Null), ("true", Value::Bool(true)), ("false", Value::Bool(false))];
        for (word, value) in words {
            if rest.starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.finding(SyntaxKind::Syntax, "expected a JSON value"))
    }

    fn add(&mut self, into: &mut Composed, kind: NodeKind, value: Value, start: Mark) -> Read<NodeId> {
        let Some(left) = self.nodes_left.checked_sub(1) else {
            return Err(self.finding(SyntaxKind::TooLarge, "the file holds more values than are read at once"));
        };
        self.nodes_left = left;
        into.scalars.push(value);
        let span = self.span_from(start);
        Ok(into.tree.add(kind, span))
    }

    fn take(&mut self, byte: u8, expected: &'static str) -> Read<()> {
        self.skip_blanks();
        if self.peek() != Some(byte) {
            return Err(self.finding(SyntaxKind::Syntax, expected));
        }
        self.at += 1;
        Ok(())
    }

    fn skip_blanks(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn mark(&mut self) -> Mark {
        for character in self.text[self.mark.at..self.at].chars() {
            if character == '\n' {
                self.mark.line += 1;
                self.mark.column = 1;
            } else {
                self.mark.column += 1;
            }
        }
        self.mark.at = self.at;
        self.mark
    }

    fn span_from(&mut self, start: Mark) -> Span {
        let end = self.mark();
        Span::new(self.offset + start.at..self.offset + end.at, start.line..end.line, start.column)
    }

    fn finding(&mut self, kind: SyntaxKind, message: impl Into<String>) -> SyntaxFinding {
        let start = self.mark();
        let length = self.text[self.at..].chars().next().map_or(0, char::len_utf8);
        let from = self.offset + start.at;
        let span = Span::new(from..from + length, start.line..start.line, start.column);
        SyntaxFinding::new(kind, span, message)
    }
}

/// The API server reads `-0` as an integer. Fractions are parsed to the nearest 64-bit number, which `serde_json` does
/// not promise.
fn parse_number(token: &str) -> Option<Value> {
    if token == "-0" {
        return Some(Value::from(0));
    }
    let number: Number = serde_json::from_str(token).ok()?;
    if number.is_f64() {
        return Number::from_f64(token.parse().ok()?).map(Value::Number);
    }
    Some(Value::Number(number))
}
