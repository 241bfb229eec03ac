//! From parser events to a tree of nodes and their values.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, StructureStyle};
use serde_json::Value;

use super::finding::{SyntaxFinding, SyntaxKind};
use super::limits::MAX_DEPTH;
use super::region::{Region, RegionStyle};
use super::scalar::{self, Scalar, Tag};
use super::span::Span;
use super::text::Chunk;
use super::tree::{Key, KeyRole, NodeId, NodeKind, Tree};

/// One document before its aliases are followed.
#[derive(Default)]
pub(super) struct Composed {
    pub(super) tree: Tree,
    /// The value of each scalar, by the number of its node; null for the others.
    pub(super) scalars: Vec<Value>,
    /// Where blanks mean something else than in block style, in order of their ends.
    pub(super) regions: Vec<Region>,
    pub(super) has_aliases: bool,
    /// Text follows the end of the document.
    pub(super) followed_by: Option<Span>,
}

/// Reads the first document of `chunk`, of at most `max_nodes` nodes.
pub(super) fn compose(chunk: &Chunk, max_nodes: usize) -> Result<Composed, SyntaxFinding> {
    compose_text(chunk, &chunk.text, max_nodes)
        .or_else(|fault| compose_without_tabs(chunk, &fault, max_nodes).ok_or_else(|| chunk.explained(fault)))
}

fn compose_text(chunk: &Chunk, text: &str, max_nodes: usize) -> Result<Composed, SyntaxFinding> {
    let mut options = granit_parser::options! { flow_nesting_limit: MAX_DEPTH, block_nesting_limit: MAX_DEPTH };
    options.set_emit_comments(false);
    let mut composer =
        Composer { chunk, max_nodes, composed: Composed::default(), frames: Vec::new(), anchors: HashMap::new() };
    for event in Parser::new_from_str_with_options(text, options) {
        let (event, span) = event.map_err(|error| chunk.syntax_error(&error))?;
        if composer.take(event, &span)? == Progress::Done {
            break;
        }
    }
    Ok(composer.composed)
}

/// How often a document is tried again with fewer tabs.
const TAB_RETRIES: usize = 8;

/// The parser takes no tab as indentation, kubectl takes it within brackets and quotes. There a blank means the same.
fn compose_without_tabs(chunk: &Chunk, fault: &SyntaxFinding, max_nodes: usize) -> Option<Composed> {
    let mut fault = fault.clone();
    let mut text = chunk.text.to_string();
    for _ in 0..TAB_RETRIES {
        if fault.kind != SyntaxKind::Syntax {
            return None;
        }
        text = blank_tabs(&text, fault.span.line() - chunk.line)?;
        match compose_text(chunk, &text, max_nodes) {
            Ok(composed) => return Some(composed),
            Err(next) => fault = next,
        }
    }
    None
}

/// The text with blanks for the tabs that begin the given line, which is counted from 0, or the next one, and those
/// that follow without a gap; `None` where there are none.
fn blank_tabs(text: &str, line: usize) -> Option<String> {
    let mut blanked = String::with_capacity(text.len());
    let mut lines = text.split_inclusive('\n');
    blanked.extend(lines.by_ref().take(line));
    let mut lines = lines.peekable();
    blanked.extend(lines.next_if(|line| !indentation(line).contains('\t')));
    while let Some(line) = lines.next_if(|line| indentation(line).contains('\t')) {
        let indentation = indentation(line);
        blanked.extend(indentation.chars().map(|_| ' '));
        blanked.push_str(&line[indentation.len()..]);
    }
    blanked.extend(lines);
    (blanked != text).then_some(blanked)
}

fn indentation(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

struct Composer<'c> {
    chunk: &'c Chunk<'c>,
    max_nodes: usize,
    composed: Composed,
    frames: Vec<Frame>,
    anchors: HashMap<usize, NodeId>,
}

/// A collection that is still open.
struct Frame {
    node: NodeId,
    last: Option<NodeId>,
    /// A key that waits for its value.
    key: Option<Key>,
    flow_from: Option<usize>,
}

#[derive(PartialEq, Eq)]
enum Progress {
    More,
    Done,
}

impl Composer<'_> {
    fn take(&mut self, event: Event<'_>, at: &granit_parser::Span) -> Result<Progress, SyntaxFinding> {
        let span = self.chunk.span(at);
        match event {
            Event::StreamEnd => return Ok(Progress::Done),
            Event::DocumentStart(..) if self.composed.tree.len() > 0 => {
                self.composed.followed_by = Some(span);
                return Ok(Progress::Done);
            }
            Event::Scalar(text, style, anchor, tag) => self.scalar(text, style, anchor, tag.as_deref(), at)?,
            Event::SequenceStart(style, anchor, _) => {
                self.open(NodeKind::Sequence { first: None }, style, anchor, span)?;
            }
            Event::MappingStart(style, anchor, _) => {
                self.open(NodeKind::Mapping { first: None }, style, anchor, span)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(&span),
            Event::Alias(id) => self.alias(id, span)?,
            _ => {}
        }
        Ok(Progress::More)
    }

    fn scalar(
        &mut self,
        text: Cow<'_, str>,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<&granit_parser::Tag>,
        at: &granit_parser::Span,
    ) -> Result<(), SyntaxFinding> {
        let span = self.chunk.span(at);
        self.mark_region(RegionStyle::of(style), at.byte_range().unwrap_or_default());
        let value_error = |error: scalar::ScalarError| SyntaxFinding::new(SyntaxKind::Value, span, error.to_string());
        let text = self.chunk.without_added_line_end(text, style, at);
        let scalar = scalar::resolve(text, scalar_tag(style, tag)).map_err(value_error)?;
        if !self.expects_key() {
            let value = scalar.into_value().map_err(value_error)?;
            let node = self.add(NodeKind::Scalar, span, value, anchor)?;
            self.attach(node);
            return Ok(());
        }
        if anchor != 0 {
            let value = scalar.clone().into_value().map_err(value_error)?;
            self.add(NodeKind::Scalar, span, value, anchor)?;
        }
        let role = if scalar == Scalar::Merge { KeyRole::Merge } else { KeyRole::Member };
        let text = scalar.into_key().map_err(value_error)?.into();
        self.set_key(Key { text, span, role });
        Ok(())
    }

    fn alias(&mut self, id: usize, span: Span) -> Result<(), SyntaxFinding> {
        let Some(&target) = self.anchors.get(&id) else {
            return Err(SyntaxFinding::new(
                SyntaxKind::Aliases,
                span,
                "no anchor of this name stands before the alias",
            ));
        };
        if self.frames.iter().any(|frame| frame.node == target) {
            return Err(SyntaxFinding::new(SyntaxKind::Aliases, span, "the alias stands within what it repeats"));
        }
        self.composed.has_aliases = true;
        if self.expects_key() {
            let text = key_of(&self.composed, target).ok_or_else(|| bad_key(span))?;
            self.set_key(Key { text: text.into(), span, role: KeyRole::Member });
            return Ok(());
        }
        let node = self.add(NodeKind::Alias(target), span, Value::Null, 0)?;
        self.attach(node);
        Ok(())
    }

    fn open(&mut self, kind: NodeKind, style: StructureStyle, anchor: usize, span: Span) -> Result<(), SyntaxFinding> {
        if self.expects_key() {
            return Err(bad_key(span));
        }
        if self.frames.len() >= MAX_DEPTH {
            let message = format!("nested deeper than {MAX_DEPTH} levels");
            return Err(SyntaxFinding::new(SyntaxKind::TooDeep, span, message));
        }
        let node = self.add(kind, span, Value::Null, anchor)?;
        self.attach(node);
        let flow_from = (style == StructureStyle::Flow).then_some(span.bytes().start - self.chunk.offset);
        self.frames.push(Frame { node, last: None, key: None, flow_from });
        Ok(())
    }

    /// A block collection ends with its last child, not where the parser noticed it.
    fn close(&mut self, end: &Span) {
        let Some(frame) = self.frames.pop() else { return };
        let tree = &mut self.composed.tree;
        let last = frame.last.map(|last| tree.node(last).span);
        let node = tree.node_mut(frame.node);
        match (frame.flow_from, last) {
            (Some(_), _) => node.span = node.span.to(end),
            (None, Some(last)) => node.span = node.span.to(&last),
            (None, None) => {}
        }
        if let Some(start) = frame.flow_from {
            let end = node.span.bytes().end - self.chunk.offset;
            self.mark_region(RegionStyle::Flow, start..end);
        }
    }

    fn add(&mut self, kind: NodeKind, span: Span, value: Value, anchor: usize) -> Result<NodeId, SyntaxFinding> {
        if self.composed.tree.len() >= self.max_nodes {
            return Err(SyntaxFinding::new(
                SyntaxKind::TooLarge,
                span,
                "the file holds more values than are read at once",
            ));
        }
        let node = self.composed.tree.add(kind, span);
        self.composed.scalars.push(value);
        if anchor != 0 {
            self.anchors.insert(anchor, node);
        }
        Ok(node)
    }

    fn attach(&mut self, node: NodeId) {
        let Some(frame) = self.frames.last_mut() else { return };
        self.composed.tree.append(frame.node, frame.last, node, frame.key.take());
        frame.last = Some(node);
    }

    fn expects_key(&self) -> bool {
        self.frames.last().is_some_and(|frame| {
            frame.key.is_none() && matches!(self.composed.tree.node(frame.node).kind, NodeKind::Mapping { .. })
        })
    }

    fn set_key(&mut self, key: Key) {
        if let Some(frame) = self.frames.last_mut() {
            frame.key = Some(key);
        }
    }

    fn mark_region(&mut self, style: RegionStyle, bytes: Range<usize>) {
        self.composed.regions.push(Region { bytes, style });
    }
}

fn scalar_tag(style: ScalarStyle, tag: Option<&granit_parser::Tag>) -> Tag {
    match (tag, style) {
        (None, ScalarStyle::Plain) => Tag::Implicit,
        (None, _) => Tag::Text,
        (Some(tag), _) => {
            tag.suffix_in_namespace("tag:yaml.org,2002:").map_or(Tag::Text, |suffix| scalar::core_tag(&suffix))
        }
    }
}

fn bad_key(span: Span) -> SyntaxFinding {
    SyntaxFinding::new(SyntaxKind::Value, span, "a list or mapping can't be a key of a JSON object")
}

/// The key that an alias to `target` resolves to.
fn key_of(composed: &Composed, target: NodeId) -> Option<String> {
    match (composed.tree.node(target).kind, composed.scalars.get(target.index())?) {
        (NodeKind::Scalar, Value::String(text)) => Some(text.clone()),
        (NodeKind::Scalar, value @ (Value::Bool(_) | Value::Number(_))) => Some(value.to_string()),
        _ => None,
    }
}

impl Chunk<'_> {
    /// The parser's span as one of the file, less the line ends and comments that it drags along.
    fn span(&self, span: &granit_parser::Span) -> Span {
        let bytes = span.byte_range().unwrap_or_default();
        let text = self.text.get(bytes.clone()).unwrap_or_default();
        let line = self.line + span.start.line().saturating_sub(1);
        let (length, lines) = if span.start.line() == span.end.line() {
            (text.len(), 0)
        } else {
            let text = text.trim_end();
            (text.len(), super::span::count_lines(text))
        };
        let start = self.offset + bytes.start;
        Span::new(start..start + length, line..line + lines, span.start.col() + 1)
    }

    /// The parser ends each block with a line feed, kubectl only those that have one.
    fn without_added_line_end<'t>(
        &self,
        text: Cow<'t, str>,
        style: ScalarStyle,
        at: &granit_parser::Span,
    ) -> Cow<'t, str> {
        let at_end = at.end.byte_offset() == Some(self.text.len());
        if RegionStyle::of(style) != RegionStyle::Block || !at_end || self.ends_with_blank_line() {
            return text;
        }
        match text.strip_suffix('\n') {
            Some(text) => Cow::Owned(text.to_owned()),
            None => text,
        }
    }

    fn ends_with_blank_line(&self) -> bool {
        self.text.trim_end_matches(' ').ends_with('\n')
    }

    fn syntax_error(&self, error: &ScanError) -> SyntaxFinding {
        let at = error.marker();
        let start = at.byte_offset().unwrap_or_default().min(self.text.len());
        let length = self.text[self.text.floor_char_boundary(start)..].chars().next().map_or(0, char::len_utf8);
        let line = self.line + at.line().saturating_sub(1);
        let start = self.offset + start;
        let span = Span::new(start..start + length, line..line, at.col() + 1);
        let kind = match error.kind() {
            ErrorKind::RecursionLimitExceeded => SyntaxKind::TooDeep,
            _ => SyntaxKind::Syntax,
        };
        SyntaxFinding::new(kind, span, explanation(error))
    }

    /// A fault beside a tab is the tab's, one in a template the template's, and one beside the mark of a merge the mark's.
    fn explained(&self, fault: SyntaxFinding) -> SyntaxFinding {
        let line = fault.span.line();
        let better = match fault.kind {
            SyntaxKind::Syntax => super::refused::tab_near(self, line)
                .or_else(|| super::refused::template_near(self, line.saturating_sub(1)..=line + 1))
                .or_else(|| super::refused::conflict_near(self, line)),
            // What a template engine replaces is a mapping as key of another.
            SyntaxKind::Value => super::refused::template_near(self, line..=line),
            _ => None,
        };
        better.unwrap_or(fault)
    }
}

/// What a person would say. The parser speaks of its grammar; where it says more than that, in its words.
fn explanation(error: &ScanError) -> String {
    let plain = match error.kind() {
        ErrorKind::RecursionLimitExceeded => return format!("nested deeper than {MAX_DEPTH} levels"),
        ErrorKind::ExpectedDocumentStart => "this belongs to nothing above; is it indented as it should be?",
        ErrorKind::ExpectedBlockMappingKey | ErrorKind::InvalidIndentation => {
            "a key is expected here; is the line indented like its neighbours?"
        }
        ErrorKind::ExpectedBlockSequenceEntry | ErrorKind::BlockSequenceEntryNotAllowed => {
            "a list and something else are at one level; is the line indented like its neighbours?"
        }
        ErrorKind::MappingValueNotAllowed => {
            "a key can't stand here; is the line indented like its neighbours, and a value with `: ` in quotes?"
        }
        ErrorKind::SimpleKeyExpected | ErrorKind::InvalidSimpleKey => {
            "a line is neither a key with a colon nor an item"
        }
        ErrorKind::UnclosedQuotedScalar
        | ErrorKind::InvalidQuotedScalarIndent
        | ErrorKind::DocumentIndicatorInQuotedScalar => "a quote before this is not closed",
        ErrorKind::InvalidTrailingSingleQuotedScalar | ErrorKind::InvalidTrailingDoubleQuotedScalar => {
            "something follows the closing quote"
        }
        ErrorKind::UnclosedFlowCollection { .. }
        | ErrorKind::MismatchedFlowCollectionEnd { .. }
        | ErrorKind::MisplacedFlowCollectionEnd
        | ErrorKind::ExpectedFlowMappingSeparator
        | ErrorKind::ExpectedFlowSequenceSeparator
        | ErrorKind::UnexpectedEofFlowSequence
        | ErrorKind::UnexpectedEofFlowMapping
        | ErrorKind::UnexpectedEofImplicitFlowMapping
        | ErrorKind::InvalidColonPlacement
        | ErrorKind::InvalidFlowScalarIndent => "a bracket is not closed, or a comma is missing",
        ErrorKind::UnknownAnchor => "no anchor of this name stands before the alias",
        ErrorKind::UnexpectedCharacter { character } => {
            return format!("this is no YAML: text that begins with `{character}` has to be in quotes");
        }
        _ => return format!("this is no YAML: {}", error.info()),
    };
    format!("this is no YAML: {plain}")
}
