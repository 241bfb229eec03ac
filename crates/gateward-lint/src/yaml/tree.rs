//! The nodes of a document and their spans.

use std::collections::HashMap;
use std::sync::OnceLock;

use gateward_core::{FieldPath, Segment};

use super::limits::MAX_DEPTH;
use super::span::Span;

/// The nodes of one document in the order of the text. The first is the root.
#[derive(Debug, Clone, Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    keys: Vec<Key>,
    /// Each list and mapping with more children than [`SHORT`]: a path through 100,000 items is found without going through
    /// them.
    long: OnceLock<HashMap<NodeId, Children>>,
}

#[derive(Debug, Clone)]
struct Children {
    /// The items of a list, or the members of a mapping by name; those of one name as written.
    ordered: Vec<NodeId>,
    /// The merge keys of a mapping, as written.
    merges: Vec<NodeId>,
}

/// How many children a node may have that are looked through one by one. An index of all nodes would take more memory than
/// the nodes: four million of them may have a single child each.
const SHORT: usize = 16;

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
            (Segment::Index(index), NodeKind::Sequence { .. }) => match self.long(parent) {
                Some(items) => items.ordered.get(*index).copied(),
                None => self.children(parent).nth(*index),
            },
            (Segment::Field(name) | Segment::Key(name), NodeKind::Mapping { .. }) => self.member(parent, name, level),
            _ => None,
        }
    }

    /// The value that wins for a key: the last one, where a merge key counts as all the keys that it merges.
    fn member(&self, mapping: NodeId, name: &str, level: usize) -> Option<NodeId> {
        let Some(Children { ordered, merges }) = self.long(mapping) else {
            return self.children(mapping).fold(None, |found, child| match self.key(child) {
                Some(Key { role: KeyRole::Member, text, .. }) if **text == *name => Some(child),
                Some(Key { role: KeyRole::Merge, .. }) => self.merged_member(child, name, level).or(found),
                _ => found,
            });
        };
        let until = ordered.partition_point(|member| self.name(*member) <= Some(name));
        let own = ordered[..until].last().copied().filter(|member| self.name(*member) == Some(name));
        let mut later = merges.iter().rev().take_while(|merge| own.is_none_or(|own| own.index() < merge.index()));
        later.find_map(|merge| self.merged_member(*merge, name, level)).or(own)
    }

    fn name(&self, member: NodeId) -> Option<&str> {
        self.key(member).map(|key| &*key.text)
    }

    /// The children of a node that has many.
    fn long(&self, parent: NodeId) -> Option<&Children> {
        let is_long = |id: &NodeId| self.children(*id).nth(SHORT).is_some();
        let children = |id: NodeId| {
            let is_merge = |child: &NodeId| self.key(*child).is_some_and(|key| key.role == KeyRole::Merge);
            let (merges, mut ordered): (Vec<_>, Vec<_>) = self.children(id).partition(is_merge);
            ordered.sort_by(|one, other| self.name(*one).cmp(&self.name(*other)));
            (id, Children { ordered, merges })
        };
        self.long.get_or_init(|| self.ids().filter(is_long).map(children).collect()).get(&parent)
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

#[cfg(test)]
mod tests {
    use gateward_core::{FieldPath, Segment};
    use proptest::prelude::*;

    use crate::yaml;

    /// What stands at a path that ends in `name`, below a mapping of so many further members.
    fn found(members: &[(bool, u8)], further: usize, name: &str) -> Option<String> {
        let mut text = String::from("whole:\n");
        for (line, (is_merge, name)) in members.iter().enumerate() {
            let member = if *is_merge { format!("<<: {{a{name}: m{line}}}") } else { format!("a{name}: v{line}") };
            text.extend(["  ", &member, "\n"]);
        }
        text.extend((0..further).map(|number| format!("  z{number}: z\n")));
        let source = yaml::read(text.as_str());
        let path = FieldPath::field("whole").child(Segment::Field(name.to_owned().into()));
        let location = source.documents.first()?.nearest(&path);
        location.exact.then(|| text[location.value.bytes()].to_owned())
    }

    proptest! {
        #[test]
        fn a_member_of_a_long_mapping_is_the_one_that_a_short_one_would_have(
            members in prop::collection::vec((prop::bool::weighted(0.2), 0..6_u8), 1..8),
            name in 0..6_u8,
        ) {
            let name = format!("a{name}");
            prop_assert_eq!(found(&members, 1, &name), found(&members, 1_000, &name));
        }
    }

    #[test]
    fn an_item_of_a_long_list_is_found_where_it_stands() {
        let text: String = (0..1_000).map(|number| format!("- i{number}\n")).collect();
        let document = &yaml::read(text.as_str()).documents[0];
        let at = |index| document.nearest(&FieldPath::root().index(index));
        assert_eq!((&text[at(731).value.bytes()], at(731).exact), ("i731", true));
        assert!(!at(1_000).exact);
    }
}
