//! YAML as kubectl reads it, with the span of every node.
//!
//! A text may hold several documents. Each is read for itself: a fault in one leaves the others readable.
//!
//! ```
//! use gateward_core::FieldPath;
//!
//! let source = gateward_lint::yaml::read("kind: Graph\nspec:\n  replicas: 0x10\n");
//! let document = &source.documents[0];
//! assert_eq!(document.value["spec"]["replicas"], 16);
//!
//! let place = document.span_of(&(FieldPath::field("spec") / "replicas")).expect("it is there");
//! assert_eq!((place.value.line(), place.value.column()), (3, 13));
//! ```

mod arrange;
mod build;
mod comments;
mod compose;
mod finding;
mod json;
mod limits;
mod order;
mod refused;
mod region;
mod rewrite;
mod scalar;
mod span;
mod text;
mod tree;

use std::sync::Arc;

use gateward_core::{FieldPath, Ordered};
use serde_json::Value;

pub use comments::Comment;
pub use finding::{SyntaxFinding, SyntaxKind};
pub use limits::{MAX_BYTES, MAX_DEPTH};
pub use rewrite::Replacement;
pub use span::Span;
pub use tree::NodeLocation;

use compose::Composed;
use json::JsonReader;
use limits::MAX_NODES;
use text::{Chunk, Text};
use tree::Tree;

/// A text that was read.
#[derive(Debug, Clone)]
pub struct Source {
    /// The text itself. Its bytes are those of the file, but for a `?` in place of each that is not UTF-8.
    pub text: Arc<str>,
    /// The documents that could be read, in order. Empty ones are left out.
    pub documents: Vec<Document>,
    /// What was wrong, in order.
    pub findings: Vec<SyntaxFinding>,
}

/// One document.
#[derive(Debug, Clone)]
pub struct Document {
    /// Its content.
    pub value: Value,
    /// How it is written.
    pub notation: Notation,
    tree: Tree,
}

/// The language of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    /// YAML.
    Yaml,
    /// JSON.
    Json,
}

/// Reads a file as kubectl does: YAML, or JSON where it starts with a brace and is JSON throughout.
///
/// Never panics, whatever the bytes are; what can't be read is in [`Source::findings`].
pub fn read(bytes: impl AsRef<[u8]>) -> Source {
    read_as(bytes.as_ref(), |text| {
        let json = text.content().0.trim_start().starts_with('{').then(|| json_documents(text));
        json.filter(Outcome::is_clean).unwrap_or_else(|| yaml_documents(text))
    })
}

/// Reads a file that is to be JSON: one value, or several one after the other.
///
/// Never panics, whatever the bytes are; what can't be read is in [`Source::findings`].
pub fn read_json(bytes: impl AsRef<[u8]>) -> Source {
    read_as(bytes.as_ref(), json_documents)
}

impl Document {
    /// The location of the node at `path`, if the text has it.
    pub fn span_of(&self, path: &FieldPath) -> Option<NodeLocation> {
        Some(self.nearest(path)).filter(|place| place.exact)
    }

    /// The location of the node at `path`, or of its nearest ancestor that the text has.
    pub fn nearest(&self, path: &FieldPath) -> NodeLocation {
        self.tree.nearest(path)
    }

    /// Its content, with members in the order of the text.
    pub fn in_order(&self) -> Ordered {
        self.tree.in_order(Tree::ROOT, &self.value)
    }

    /// The whole document.
    pub fn span(&self) -> Span {
        self.nearest(&FieldPath::root()).value
    }
}

struct Outcome {
    documents: Vec<Document>,
    findings: Vec<SyntaxFinding>,
    /// How much aliases may yet repeat.
    aliases: usize,
}

impl Outcome {
    fn new() -> Self {
        Self { documents: Vec::new(), findings: Vec::new(), aliases: build::ALIAS_BUDGET }
    }

    /// Whether nothing kept a document from being read.
    fn is_clean(&self) -> bool {
        self.findings.iter().all(|finding| matches!(finding.kind, SyntaxKind::DuplicateKey))
    }

    /// Takes in a document; one that is null counts as empty.
    fn take(&mut self, mut composed: Composed, notation: Notation) {
        match build::build(&mut composed, &mut self.aliases, &mut self.findings) {
            Ok(Value::Null) => {}
            Ok(value) => self.documents.push(Document { value, notation, tree: composed.tree }),
            Err(finding) => self.findings.push(finding),
        }
    }
}

fn read_as(bytes: &[u8], documents: impl Fn(&Text) -> Outcome) -> Source {
    if bytes.len() > MAX_BYTES {
        let message = format!("the file is {} bytes long; at most {MAX_BYTES} are read", bytes.len());
        let finding = SyntaxFinding::new(SyntaxKind::TooLarge, Span::locate("", 0..0), message);
        return Source { text: Arc::from(""), documents: Vec::new(), findings: vec![finding] };
    }
    let text = Text::new(bytes);
    let Outcome { documents, mut findings, .. } = documents(&text);
    findings.sort_by_key(|finding| finding.span);
    Source { text: text.text, documents, findings }
}

fn json_documents(text: &Text) -> Outcome {
    let mut outcome = Outcome::new();
    outcome.findings.extend(text.fault(&text.whole()));
    let (content, offset) = text.content();
    let mut reader = JsonReader::new(content, offset, MAX_NODES);
    while outcome.is_clean() {
        match reader.next_value() {
            Ok(Some(composed)) => outcome.take(composed, Notation::Json),
            Ok(None) => break,
            Err(finding) => outcome.findings.push(finding),
        }
    }
    outcome
}

fn yaml_documents(text: &Text) -> Outcome {
    let mut outcome = Outcome::new();
    let mut nodes_left = MAX_NODES;
    for chunk in text.chunks(&mut outcome.findings) {
        match compose(text, &chunk, nodes_left) {
            Ok(composed) => {
                nodes_left -= composed.tree.len();
                outcome.findings.extend(oddities(&chunk, &composed));
                outcome.take(composed, Notation::Yaml);
            }
            Err(finding) => outcome.findings.push(finding),
        }
    }
    outcome
}

fn compose(text: &Text, chunk: &Chunk, max_nodes: usize) -> Result<Composed, SyntaxFinding> {
    match text.fault(chunk).or_else(|| refused::directive(chunk)) {
        Some(fault) => Err(fault),
        None => compose::compose(chunk, max_nodes),
    }
}

/// The findings where kubectl reads the document differently or rejects it.
fn oddities(chunk: &Chunk, composed: &Composed) -> impl Iterator<Item = SyntaxFinding> {
    let ignored = composed.followed_by.map(|span| {
        let message = "kubectl drops what follows `...`; separate documents by `---`";
        SyntaxFinding::new(SyntaxKind::Ignored, span, message)
    });
    refused::first(chunk, &composed.regions).into_iter().chain(ignored)
}
