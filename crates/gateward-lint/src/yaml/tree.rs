//! The nodes of a document and their spans.

use gateward_core::{FieldPath, Segment};

use super::limits::MAX_DEPTH;
use super::span::Span;

/// The nodes of one document in the order of the text. The first is the root.
#[derive(Debug, Clone, Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    keys: Vec<Key>,
}

/// The number of a node in its [`Tree`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct NodeId(u32);

#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) span: Span,
    pub(super) kind: NodeKind,
    key: Option<u32>,
    next: Option<NodeId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NodeKind {
    Scalar,
    Sequence { first: Option<NodeId> },
    Mapping { first: Option<NodeId> },
    Alias(NodeId),
}

#[derive(Debug, Clone)]
pub(super) struct Key {
    pub(super) text: Box<str>,
    pub(super) span: Span,
    pub(super) role: KeyRole,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyRole {
    Member,
    Merge,
}

/// The location of a node, or of its nearest existing ancestor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeLocation {
    /// The key that leads to the value; `None` for items of a list and the document itself.
    pub key: Option<Span>,
    /// The value.
    pub value: Span,
    /// What to underline: key and value if they are on one line, else the key or the first line.
    pub underline: Span,
    /// How many steps of the path were found.
    pub depth: usize,
    /// Whether all of them were.
    pub exact: bool,
}

impl Tree {
    pub(super) const ROOT: NodeId = NodeId(0);

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn add(&mut self, kind: NodeKind, span: Span) -> NodeId {
        let id = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(Node { span, kind, key: None, next: None });
        id
    }

    /// All nodes, in order.
    pub(super) fn ids(&self) -> impl Iterator<Item = NodeId> {
        (0..u32::try_from(self.nodes.len()).unwrap_or(u32::MAX)).map(NodeId)
    }

    pub(super) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    pub(super) fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id.index()]
    }

    /// Makes `child` the last child of `parent`, whose last one was `previous` until now.
    pub(super) fn append(&mut self, parent: NodeId, previous: Option<NodeId>, child: NodeId, key: Option<Key>) {
        if let Some(key) = key {
            self.nodes[child.index()].key = u32::try_from(self.keys.len()).ok();
            self.keys.push(key);
        }
        match (previous, &mut self.nodes[parent.index()].kind) {
            (Some(previous), _) => self.nodes[previous.index()].next = Some(child),
            (None, NodeKind::Sequence { first } | NodeKind::Mapping { first }) => *first = Some(child),
            (None, NodeKind::Scalar | NodeKind::Alias(_)) => {}
        }
    }

    pub(super) fn key(&self, id: NodeId) -> Option<&Key> {
        self.keys.get(self.node(id).key? as usize)
    }

    /// The items of a list or the values of a mapping, as written; none of a scalar.
    pub(super) fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let first = match self.node(id).kind {
            NodeKind::Sequence { first } | NodeKind::Mapping { first } => first,
            NodeKind::Scalar | NodeKind::Alias(_) => None,
        };
        std::iter::successors(first, |&id| self.node(id).next)
    }

    /// The innermost node in which all of `nodes` stand that stand within `whole`, if any does. They are in the order of the
    /// text.
    pub(super) fn around(&self, nodes: &[NodeId], whole: NodeId) -> Option<NodeId> {
        let (start, end) = (|id: NodeId| self.node(id).span.bytes().start, |id: NodeId| self.node(id).span.bytes().end);
        let from = nodes.partition_point(|node| node.index() <= whole.index());
        let within = nodes.get(from..)?;
        let within = within.get(..within.partition_point(|&node| start(node) < end(whole)))?;
        let (first, last) = (within.first()?, start(*within.last()?));
        let inner = |at: &NodeId| self.children(*at).find(|part| part.index() < first.index() && last < end(*part));
        std::iter::successors(Some(whole), inner).last()
    }

    /// The node that an alias refers to. An alias never points at another one.
    pub(super) fn resolved(&self, id: NodeId) -> NodeId {
        match self.node(id).kind {
            NodeKind::Alias(target) => target,
            _ => id,
        }
    }

    /// The node at `path`, where it stands there itself and is no other's by an alias or a merge.
    pub(super) fn written_at(&self, path: &FieldPath) -> Option<NodeId> {
        path.segments().iter().try_fold(Self::ROOT, |at, segment| self.step(at, segment, MAX_DEPTH))
    }

    /// Where the token before a node and its key ends, or the node's own start where it is its parent's first.
    pub(super) fn end_before(&self, id: NodeId) -> usize {
        let Some(before) = id.index().checked_sub(1).and_then(|before| self.nodes.get(before)) else { return 0 };
        let opens = matches!(before.kind, NodeKind::Sequence { first: Some(_) } | NodeKind::Mapping { first: Some(_) });
        let key = before.key.and_then(|key| self.keys.get(key as usize));
        match (opens, key) {
            (true, Some(key)) => key.span.bytes().end,
            (true, None) => before.span.bytes().start,
            (false, _) => before.span.bytes().end,
        }
    }

    /// The place of the node at `path`, or of its nearest ancestor.
    pub(super) fn nearest(&self, path: &FieldPath) -> NodeLocation {
        let mut at = Self::ROOT;
        for (depth, segment) in path.segments().iter().enumerate() {
            match self.step(self.resolved(at), segment, 0) {
                Some(child) => at = child,
                None => return NodeLocation { depth, exact: false, ..self.place(at) },
            }
        }
        NodeLocation { depth: path.segments().len(), exact: true, ..self.place(at) }
    }

    fn place(&self, id: NodeId) -> NodeLocation {
        let key = self.key(id).map(|key| key.span);
        NodeLocation { key, value: self.node(id).span, underline: self.underline(id), depth: 0, exact: true }
    }

    /// One line that shows where the node is, without the lines below it. An item of a list is shown by its name.
    fn underline(&self, id: NodeId) -> Span {
        let mut at = id;
        loop {
            let value = self.node(at).span;
            if let Some(key) = self.key(at) {
                let whole = key.span.to(&value);
                return if whole.is_multiline() || value.line() < key.span.line() { key.span } else { whole };
            }
            let shown = self.own_name(at).or_else(|| self.children(at).next());
            match shown.filter(|_| value.is_multiline()) {
                Some(shown) => at = shown,
                None => return value,
            }
        }
    }

    /// The value of `name`, where the mapping itself has it: a merged one stands elsewhere.
    fn own_name(&self, mapping: NodeId) -> Option<NodeId> {
        let is_name = |key: &Key| key.role == KeyRole::Member && *key.text == *"name";
        self.children(mapping).find(|child| self.key(*child).is_some_and(is_name))
    }

    fn step(&self, parent: NodeId, segment: &Segment, level: usize) -> Option<NodeId> {
        match (segment, self.node(parent).kind) {
            (Segment::Index(index), NodeKind::Sequence { .. }) => self.children(parent).nth(*index),
            (Segment::Field(name) | Segment::Key(name), NodeKind::Mapping { .. }) => self.member(parent, name, level),
            _ => None,
        }
    }

    /// The value that wins for a key: the last one, where a merge key counts as all the keys that it merges.
    fn member(&self, mapping: NodeId, name: &str, level: usize) -> Option<NodeId> {
        self.children(mapping).fold(None, |found, child| match self.key(child) {
            Some(Key { role: KeyRole::Member, text, .. }) if **text == *name => Some(child),
            Some(Key { role: KeyRole::Merge, .. }) => self.merged_member(child, name, level).or(found),
            _ => found,
        })
    }

    fn merged_member(&self, merged: NodeId, name: &str, level: usize) -> Option<NodeId> {
        if level >= MAX_DEPTH {
            return None;
        }
        let merged = self.resolved(merged);
        match self.node(merged).kind {
            NodeKind::Sequence { .. } => {
                self.children(merged).find_map(|mapping| self.member(self.resolved(mapping), name, level + 1))
            }
            _ => self.member(merged, name, level + 1),
        }
    }
}

impl NodeId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}
