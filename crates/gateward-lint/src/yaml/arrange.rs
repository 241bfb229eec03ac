//! A new value in the order in which its document was written.

use std::ops::Range;

use gateward_core::{FieldPath, Ordered, Segment};
use serde_json::Value;

use super::Document;
use super::tree::{NodeId, Tree};

impl Document {
    /// The new value with its members in the order of the file. Items that were members, which have no order in the new
    /// version, keep theirs.
    pub fn in_order_of(&self, value: &Ordered, origin: &dyn Fn(&FieldPath) -> Option<FieldPath>) -> Ordered {
        self.arranged(value, origin).into()
    }

    pub(super) fn arranged<'a>(
        &'a self,
        value: &'a Ordered,
        origin: &dyn Fn(&FieldPath) -> Option<FieldPath>,
    ) -> Arranged<'a> {
        self.arrange(value, &FieldPath::root(), origin)
    }

    fn arrange<'a>(
        &'a self,
        value: &'a Ordered,
        path: &FieldPath,
        origin: &dyn Fn(&FieldPath) -> Option<FieldPath>,
    ) -> Arranged<'a> {
        let source = origin(path).and_then(|path| Some((self.tree.written_at(&path)?, path.find(&self.value)?)));
        let content = match value {
            Ordered::Scalar(value) => Content::Scalar(value),
            Ordered::Members(members) => {
                let arrange = |(name, value): &'a (String, Ordered)| {
                    let path = path.child(Segment::Field(name.clone().into()));
                    (name.as_str(), self.arrange(value, &path, origin))
                };
                let mut members: Vec<_> = members.iter().map(arrange).collect();
                members.sort_by_key(|(name, member)| *name != "name" || member.source.is_some());
                Content::Members(self.sorted(members, |(_, member)| member))
            }
            Ordered::Items(items) => {
                let arrange = |(index, item): (usize, &'a Ordered)| self.arrange(item, &path.index(index), origin);
                let items: Vec<_> = items.iter().enumerate().map(arrange).collect();
                let were_members =
                    items.iter().all(|item| item.source.is_some_and(|(id, _)| self.tree.key(id).is_some()));
                Content::Items(if were_members { self.sorted(items, |item| item) } else { items })
            }
        };
        Arranged { source, content }
    }

    /// The nodes in the order of the text. What wasn't there stays behind what it follows.
    fn sorted<'a, T>(&self, nodes: Vec<T>, arranged: impl Fn(&T) -> &Arranged<'a>) -> Vec<T> {
        let mut follows = None;
        let mut placed: Vec<(Option<usize>, T)> = Vec::with_capacity(nodes.len());
        for node in nodes {
            follows = arranged(&node).position(&self.tree).or(follows);
            placed.push((follows, node));
        }
        placed.sort_by_key(|(place, _)| *place);
        placed.into_iter().map(|(_, node)| node).collect()
    }
}

/// A new value beside what it was.
pub(super) struct Arranged<'a> {
    pub(super) source: Option<(NodeId, &'a Value)>,
    pub(super) content: Content<'a>,
}

pub(super) enum Content<'a> {
    Scalar(&'a Value),
    Items(Vec<Arranged<'a>>),
    Members(Vec<(&'a str, Arranged<'a>)>),
}

impl Arranged<'_> {
    /// Where it stood in the text: at the last scalar that it still has of what it was, since others of that may be its
    /// siblings now. A pod that became a member beside its variables stands behind them, if its image did.
    fn position(&self, tree: &Tree) -> Option<usize> {
        let own = self.source.map(|(id, _)| id);
        let was = own.map(|id| tree.node(id).span.bytes());
        self.last_scalar(tree, was.as_ref()).or(own).map(NodeId::index)
    }

    fn last_scalar(&self, tree: &Tree, within: Option<&Range<usize>>) -> Option<NodeId> {
        match &self.content {
            Content::Scalar(_) => {
                let stood = |id: &NodeId| tree.node(*id).span.bytes().start;
                self.source.map(|(id, _)| id).filter(|id| within.is_none_or(|range| range.contains(&stood(id))))
            }
            Content::Items(items) => items.iter().rev().find_map(|item| item.last_scalar(tree, within)),
            Content::Members(members) => members.iter().rev().find_map(|(_, member)| member.last_scalar(tree, within)),
        }
    }

    pub(super) fn is_same(&self) -> bool {
        self.source.is_some_and(|(_, old)| self.equals(old))
    }

    fn equals(&self, old: &Value) -> bool {
        match (&self.content, old) {
            (Content::Scalar(new), old) => *new == old,
            (Content::Items(new), Value::Array(old)) => {
                new.len() == old.len() && new.iter().zip(old).all(|(new, old)| new.equals(old))
            }
            (Content::Members(new), Value::Object(old)) => {
                let is_in = |(name, new): &(&str, Arranged<'_>)| old.get(*name).is_some_and(|old| new.equals(old));
                new.len() == old.len() && new.iter().all(is_in)
            }
            _ => false,
        }
    }
}

impl From<Arranged<'_>> for Ordered {
    fn from(arranged: Arranged<'_>) -> Self {
        Self::from(&arranged)
    }
}

impl From<&Arranged<'_>> for Ordered {
    fn from(arranged: &Arranged<'_>) -> Self {
        match &arranged.content {
            Content::Scalar(value) => Self::Scalar((*value).clone()),
            Content::Items(items) => Self::Items(items.iter().map(Self::from).collect()),
            Content::Members(members) => {
                Self::Members(members.iter().map(|(name, value)| ((*name).to_owned(), value.into())).collect())
            }
        }
    }
}
