//! A file with other values in the place of some of its documents, written as its author would.
//!
//! What a new value has in common with the old one keeps its text: block scalars, quotes, comments, the order of members.
//! Documents without a new value stay byte for byte.

use std::collections::HashSet;
use std::fmt::Write;
use std::ops::Range;

use gateward_core::manifest::yaml;
use gateward_core::{FieldPath, Ordered, terminal};
use serde_json::Value;

use super::arrange::{Arranged, Content};
use super::span::Span;
use super::tree::{NodeId, NodeKind, Tree};
use super::{Document, Notation, Source};

/// What takes the place of a document.
pub struct Replacement<'a> {
    /// The new value.
    pub value: &'a Ordered,
    /// The path in the document of the node that a node of the new value was, or was made from.
    pub origin: &'a dyn Fn(&FieldPath) -> Option<FieldPath>,
    /// Lines above it, as comments. JSON has none.
    pub head: &'a [String],
}

impl Source {
    /// The text with each replacement in the place of its document, by its position; the rest is as it was, byte for byte.
    pub fn rewritten(&self, replacements: &[Option<Replacement<'_>>]) -> String {
        let mut text = String::with_capacity(self.text.len());
        let mut copied = 0;
        for (document, replacement) in self.documents.iter().zip(replacements) {
            let Some(replacement) = replacement else { continue };
            let whole = document.span().bytes();
            let arranged = document.arranged(replacement.value, replacement.origin);
            let (start, end, new) = match document.notation {
                Notation::Json => (whole.start, whole.end, json(&arranged)),
                Notation::Yaml => {
                    let lines = whole_lines(&self.text, &whole);
                    (lines.start, lines.end, self.block(document, &arranged, replacement.head))
                }
            };
            text.push_str(self.text.get(copied..start).unwrap_or_default());
            text.push_str(&new);
            copied = end;
        }
        text.push_str(self.text.get(copied..).unwrap_or_default());
        text
    }

    fn block(&self, document: &Document, value: &Arranged<'_>, head: &[String]) -> String {
        let mut writer = Writer::new(&self.text, &document.tree);
        for line in head {
            let _ = writeln!(writer.out, "# {}", terminal::line(line));
        }
        writer.root(value);
        let text = writer.out.trim_end_matches('\n');
        if self.text.contains("\r\n") { text.replace('\n', "\r\n") } else { text.to_owned() }
    }
}

fn json(value: &Arranged<'_>) -> String {
    let text = serde_json::to_string_pretty(&Ordered::from(value)).unwrap_or_default();
    terminal::json(&text).into_owned()
}

/// The stretch with all of its last line, and of its first one what is blank. Only a comment may follow a document in its
/// line, or the colon of an empty member.
fn whole_lines(text: &str, bytes: &Range<usize>) -> Range<usize> {
    let line = text[..bytes.start].rfind('\n').map_or(0, |at| at + 1);
    let start = if text[line..bytes.start].trim().is_empty() { line } else { bytes.start };
    let rest = text[bytes.end..].split('\n').next().unwrap_or_default();
    start..bytes.end + rest.trim_end_matches('\r').len()
}

/// What follows in the line, if it is blank or a comment. Looks no further where it isn't: a document may be one line.
fn rest_of_line(text: &str, from: usize) -> Option<&str> {
    let rest = text.get(from..)?;
    let content = rest.trim_start_matches(|each: char| each != '\n' && each.is_whitespace());
    match content.chars().next() {
        None | Some('\n') => Some(""),
        Some('#') if content.len() < rest.len() => rest.split('\n').next().map(str::trim_end),
        Some(_) => None,
    }
}

/// The start of the line, if only some bytes stand before a place in it.
fn start_of_line(text: &str, at: usize, may_stand: impl Fn(u8) -> bool) -> Option<usize> {
    let before = text.get(..at)?.as_bytes();
    let start = before.iter().rposition(|each| !may_stand(*each)).map_or(0, |last| last + 1);
    (start == 0 || before[start - 1] == b'\n').then_some(start)
}

/// Writes one document in block style.
struct Writer<'a> {
    text: &'a str,
    tree: &'a Tree,
    /// How far the file indents members below a key, and lists.
    step: usize,
    list_step: usize,
    /// Nodes whose comments have been written.
    commented: HashSet<usize>,
    out: String,
}

impl<'a> Writer<'a> {
    fn new(text: &'a str, tree: &'a Tree) -> Self {
        let column = |span: &Span| span.column();
        let below = |of: fn(&NodeKind) -> bool| {
            let node = tree.ids().find(|&id| {
                let key = tree.key(id).map(|key| key.span.line());
                of(&tree.node(id).kind) && key.is_some_and(|line| tree.node(id).span.line() > line)
            })?;
            column(&tree.node(node).span).checked_sub(column(&tree.key(node)?.span))
        };
        let step = below(|kind| matches!(kind, NodeKind::Mapping { .. })).filter(|step| (1..=8).contains(step));
        let list_step = below(|kind| matches!(kind, NodeKind::Sequence { .. })).filter(|step| *step <= 8);
        let (step, list_step) = (step.unwrap_or(2), list_step.unwrap_or(0));
        Self { text, tree, step, list_step, commented: HashSet::new(), out: String::new() }
    }

    fn root(&mut self, value: &Arranged<'_>) {
        match &value.content {
            Content::Members(members) if !members.is_empty() => self.members(members, 0),
            Content::Items(items) if !items.is_empty() => self.items(items, 0),
            _ => {
                let text = yaml::scalar_at(&Ordered::from(value), 2);
                self.out.push_str(&text);
            }
        }
    }

    fn members(&mut self, members: &[(&str, Arranged<'_>)], indent: usize) {
        for (position, (name, value)) in members.iter().enumerate() {
            // The first member of an item stands behind its hyphen.
            if position > 0 || !self.out.ends_with("- ") {
                self.comments_above(value, indent);
                let _ = write!(self.out, "{:indent$}", "");
            }
            let copied = self.copied_member(name, value, indent);
            if let Some(copied) = copied {
                self.out.push_str(&copied);
                self.out.push('\n');
                continue;
            }
            self.out.push_str(&yaml::scalar(name));
            self.out.push(':');
            match &value.content {
                Content::Members(members) if !members.is_empty() => {
                    self.end_line(self.comment_beside_key(value));
                    self.members(members, indent + self.step);
                }
                Content::Items(items) if !items.is_empty() => {
                    self.end_line(self.comment_beside_key(value));
                    self.items(items, indent + self.list_step);
                }
                _ => self.scalar(" ", value, indent + self.step),
            }
        }
    }

    fn items(&mut self, items: &[Arranged<'_>], indent: usize) {
        for item in items {
            self.comments_above(item, indent);
            if let Some(comment) = self.comment_beside_key(item) {
                let _ = writeln!(self.out, "{:indent$}{}", "", comment.trim_start());
            }
            let _ = write!(self.out, "{:indent$}", "");
            if let Some(copied) = self.copied_item(item, indent) {
                self.out.push_str(&copied);
                self.out.push('\n');
                continue;
            }
            self.out.push_str("- ");
            match &item.content {
                Content::Members(members) if !members.is_empty() => self.members(members, indent + 2),
                _ => self.scalar("", item, indent + 2),
            }
        }
    }

    fn scalar(&mut self, before: &str, value: &Arranged<'_>, indent: usize) {
        let text = yaml::scalar_at(&Ordered::from(value), indent);
        let comment = value.source.filter(|_| !text.contains('\n')).and_then(|(id, _)| {
            let node = self.tree.node(id);
            let rest = || rest_of_line(self.text, node.span.bytes().end).filter(|rest| is_shown(rest));
            (node.kind == NodeKind::Scalar && !node.span.is_multiline()).then(rest)?
        });
        let _ = write!(self.out, "{before}{text}");
        self.end_line(comment.filter(|comment| !comment.is_empty()));
    }

    fn end_line(&mut self, comment: Option<&str>) {
        self.out.push_str(comment.unwrap_or_default());
        self.out.push('\n');
    }

    /// The lines of comments and the blank ones above a node.
    fn comments_above(&mut self, value: &Arranged<'_>, indent: usize) {
        let Some((id, _)) = value.source.filter(|(id, _)| self.commented.insert(id.index())) else { return };
        let start = self.start(id);
        let Some(line_start) = start_of_line(self.text, start, |each| matches!(each, b' ' | b'-')) else { return };
        let above = self.text.get(self.tree.end_before(id)..line_start);
        let Some(above) = above.filter(|above| is_shown(above)) else { return };
        // The first part is the rest of a line.
        let Some((_, lines)) = above.split_once('\n') else { return };
        if lines.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
            for line in lines.lines().map(str::trim_end) {
                let content = line.trim_start();
                let further = indent + line.len() - content.len();
                let indent = if content.is_empty() { 0 } else { further.saturating_sub(start - line_start) };
                let _ = writeln!(self.out, "{:indent$}{content}", "");
            }
        }
    }

    /// The comment behind the colon of a node that stands below its key.
    fn comment_beside_key(&self, value: &Arranged<'_>) -> Option<&'a str> {
        let (id, _) = value.source?;
        let key = self.tree.key(id)?;
        let below = self.tree.node(id).span.line() > key.span.line();
        let rest = self.text.get(key.span.bytes().end..)?.trim_start_matches(' ').strip_prefix(':')?;
        let rest = rest_of_line(rest, 0)?;
        (below && !rest.is_empty() && is_shown(rest)).then_some(rest)
    }

    /// Where a node begins with its key or its hyphen.
    fn start(&self, id: NodeId) -> usize {
        let key = self.tree.key(id).map(|key| key.span.bytes().start);
        key.or_else(|| self.hyphen(id)).unwrap_or(self.tree.node(id).span.bytes().start)
    }

    /// Where the hyphen of an item stands, if it is the first in its line.
    fn hyphen(&self, id: NodeId) -> Option<usize> {
        let from = self.tree.end_before(id);
        let lines = self.text.get(from..self.tree.node(id).span.bytes().start)?.split_inclusive('\n');
        let starts = lines.scan(from, |next, line| {
            let content = line.trim_start_matches(' ');
            let at = *next + line.len() - content.len();
            *next += line.len();
            Some(content.starts_with('-').then_some(at))
        });
        starts.flatten().filter(|&at| self.indentation(at).is_some()).last()
    }

    /// How far a place is indented, if only blanks stand before it in its line.
    fn indentation(&self, at: usize) -> Option<usize> {
        start_of_line(self.text, at, |each| each == b' ').map(|start| at - start)
    }

    /// The text of a member that is as it was, if it reads as that at its new place.
    fn copied_member(&self, name: &str, value: &Arranged<'_>, indent: usize) -> Option<String> {
        let (id, old) = value.source.filter(|_| value.is_same())?;
        let key = self.tree.key(id)?;
        let (key, from) = if *key.text == *name {
            (self.text.get(key.span.bytes())?.to_owned(), key.span)
        } else {
            (yaml::scalar(name), key.span)
        };
        let text = format!("{key}{}", self.moved(from.bytes().end, id, from.column() - 1, indent)?);
        let read = super::read(format!("{:indent$}{text}\n", ""));
        reads_as(&read, |value| value.as_object().is_some_and(|read| read.len() == 1 && read.get(name) == Some(old)))
            .then_some(text)
    }

    /// The same of an item, with its hyphen.
    fn copied_item(&self, item: &Arranged<'_>, indent: usize) -> Option<String> {
        let (id, old) = item.source.filter(|_| item.is_same())?;
        let span = self.tree.node(id).span;
        if self.tree.key(id).is_some() {
            return None;
        }
        let whole = self.hyphen(id).and_then(|at| self.moved(at, id, self.indentation(at)?, indent));
        let alone = || Some(format!("- {}", self.moved(span.bytes().start, id, span.column() - 1, indent + 2)?));
        let text = whole.or_else(alone)?;
        let read = super::read(format!("{:indent$}{text}\n", ""));
        reads_as(&read, |value| value.as_array().is_some_and(|read| read.len() == 1 && read.first() == Some(old)))
            .then_some(text)
    }

    /// The text from `start` to the end of the node's last line, with other indentation after the first line.
    fn moved(&self, start: usize, id: NodeId, column: usize, indent: usize) -> Option<String> {
        let end = self.tree.node(id).span.bytes().end;
        let rest = rest_of_line(self.text, end)?;
        let text = self.text.get(start..end + rest.len()).filter(|text| is_shown(text))?;
        let mut lines = text.lines();
        let mut moved = lines.next().unwrap_or_default().to_owned();
        for line in lines {
            moved.push('\n');
            let blanks = line.len() - line.trim_start_matches(' ').len();
            let content = &line[blanks.min(column)..];
            if !content.is_empty() {
                let _ = write!(moved, "{:indent$}{content}", "");
            }
        }
        Some(moved)
    }
}

/// Whether a terminal shows the text as it is.
fn is_shown(text: &str) -> bool {
    text.chars().all(|each| matches!(each, '\n' | '\r' | '\t') || !terminal::is_obeyed(each))
}

fn reads_as(read: &Source, is_it: impl Fn(&Value) -> bool) -> bool {
    read.findings.is_empty() && matches!(read.documents.as_slice(), [document] if is_it(&document.value))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::yaml;

    /// The text with another value in its first document, each node of which was at the same place.
    fn rewritten(text: &str, value: &Value) -> String {
        let (source, value) = (yaml::read(text), Ordered::from(value));
        let origin = |path: &FieldPath| Some(path.clone());
        source.rewritten(&[Some(Replacement { value: &value, origin: &origin, head: &[] })])
    }

    #[test]
    fn what_stays_keeps_its_text_and_what_changes_its_comments() {
        let text = "\
# head
b: 'one'   # quoted

# about a
a:  # below
    - |
      # no comment
      two
    # the last
    - {x: 1}
c: old  # why
# end
";
        let new = json!({"b": "one", "a": ["# no comment\ntwo\n", {"x": 1}], "c": "new", "d": {"e": "16Gi"}});
        let expected = text.replace("c: old  # why\n", "c: new  # why\nd:\n  e: 16Gi\n");
        assert_eq!(rewritten(text, &new), expected);
    }

    #[test]
    fn items_that_stay_keep_their_hyphens_and_comments_their_indentation() {
        let text = "\
a:
  # above
  -   b: 1
      c:
          d: 2
      # below
  -
    # of e
    e: 3
  - {f: 4}   # flow
g: old
";
        let new = json!({"a": [{"b": 1, "c": {"d": 2}}, {"e": 3}, {"f": 4}], "g": "new"});
        assert_eq!(rewritten(text, &new), text.replace("old", "new"));
        let new = json!({"a": [{"b": 1, "c": {"d": 2}}, {"e": 3}, {"f": 5}], "g": "new"});
        let expected = text.replace("old", "new").replace("- {f: 4}   # flow", "- f: 5");
        assert_eq!(rewritten(text, &new), expected);
    }

    #[test]
    fn other_documents_stay_byte_for_byte() {
        let text = "a: 1\r\n---\r\n# x\r\nb:   [ 1 ]\r\n...\r\n";
        assert_eq!(rewritten(text, &json!({"a": 2})), text.replace("a: 1", "a: 2"));
    }

    #[test]
    fn what_an_alias_or_a_merge_brings_is_written_out() {
        let text = "x: &x {a: 1}\ny: *x\nz:\n  <<: *x\n  b: 2\n";
        let new = json!({"x": {"a": 1}, "y": {"a": 1}, "z": {"a": 1, "b": 3}});
        assert_eq!(yaml::read(rewritten(text, &new)).documents[0].value, new);
    }

    #[test]
    fn json_stays_json() {
        assert_eq!(rewritten("{\"a\": [1]}\n", &json!({"a": [2]})), "{\n  \"a\": [\n    2\n  ]\n}\n");
    }

    #[test]
    fn a_head_is_a_comment() {
        let (source, value) = (yaml::read("# x\na: 1\n"), Ordered::from(&json!({"a": 2})));
        let head = ["one".to_owned()];
        let replacement = Replacement { value: &value, origin: &|path| Some(path.clone()), head: &head };
        assert_eq!(source.rewritten(&[Some(replacement)]), "# x\n# one\na: 2\n");
    }

    /// Documents of members in all the ways to write them.
    fn documents() -> impl Strategy<Value = String> {
        const MEMBERS: [&str; 10] = [
            "a: 1\n",
            "# about b\nb:   'x'   # beside\n",
            "c:\n    d: |\n      # text\n\n        more\n    # about e\n    e: >-\n      folded\n      text\n",
            "f:  # below\n  - 1\n  # an item\n  - {g: [1, 2]}\n  -   h: 1\n      i: 2\n",
            "j: [1,\n  2]\n",
            "k: &k {a: 1}\nl: *k\n",
            "m: &m {b: 1}\nn:\n  <<: *m\n  o: 2\n",
            "\n# alone\n\no: |+\n  x\n\n",
            "g: \"a\n  b\"\n",
            "h:\n",
        ];
        let document = proptest::sample::subsequence(&MEMBERS[..], 1..=MEMBERS.len()).prop_shuffle();
        let document = document.prop_map(|members| members.concat());
        proptest::collection::vec(document, 1..3).prop_map(|documents| documents.join("---\n"))
    }

    fn arbitrary_value() -> impl Strategy<Value = Value> {
        let text = prop_oneof![
            "[a-z :#'\"\\-]{0,8}",
            "[a-z #]{0,3}\n[ a-z]{0,3}\n?",
            Just("1".to_owned()),
            Just("x".to_owned()),
        ];
        let leaf =
            prop_oneof![text.prop_map(Value::from), (0..3).prop_map(Value::from), Just(Value::Null), Just(json!(true))];
        leaf.prop_recursive(3, 20, 4, |inner| {
            let map = proptest::collection::btree_map("[a-o]", inner.clone(), 0..5);
            prop_oneof![
                proptest::collection::vec(inner, 0..4).prop_map(Value::from),
                map.prop_map(|members| members.into_iter().collect::<serde_json::Map<_, _>>().into()),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_reads_as_the_new_value(text in documents(), value in arbitrary_value()) {
            let source = yaml::read(&text);
            prop_assume!(!value.is_null());
            let again = yaml::read(rewritten(&text, &value));
            prop_assert_eq!(&again.documents[0].value, &value, "{}", rewritten(&text, &value));
            for (before, after) in source.documents.iter().zip(&again.documents).skip(1) {
                prop_assert_eq!(&before.value, &after.value);
            }
        }

        #[test]
        fn the_same_value_keeps_its_members_in_order(text in documents()) {
            // What is merged has no place of its own.
            let text = text.replace("<<", "q");
            let source = yaml::read(&text);
            let again = yaml::read(rewritten(&text, &source.documents[0].value));
            prop_assert_eq!(again.documents[0].in_order(), source.documents[0].in_order());
        }
    }
}
