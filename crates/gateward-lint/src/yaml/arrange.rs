//! A new value in the order in which its document was written.

use std::collections::HashSet;
use std::ops::Range;

use gateward_core::{FieldPath, Ordered, Segment};
use serde_json::Value;

use super::Document;
use super::tree::{NodeId, Tree};

impl Document {
    /// The new value with its members in the order of the file, by name where all of the file is. Items that were members,
    /// which have no order in the new version, keep theirs.
    pub fn in_order_of(&self, value: &Ordered, origin: &dyn Fn(&FieldPath) -> Option<FieldPath>) -> Ordered {
        self.arranged(value, origin).into()
    }

    pub(super) fn arranged<'a>(
        &'a self,
        value: &'a Ordered,
        origin: &dyn Fn(&FieldPath) -> Option<FieldPath>,
    ) -> Arranged<'a> {
        let mut arranged = self.arrange(value, &FieldPath::root(), origin);
        if self.is_alphabetical(&arranged) {
            arranged.sort_by_name(&self.tree);
        }
        arranged
    }

    /// Whether members stand in the order of their names everywhere, as programs write them; but for those that are items
    /// of a list now, which has an order of its own. Chance brings that order too: so one mapping has five members, and an
    /// item has one before its name, as nobody writes it, here or in the new value. The way back is known by the same.
    fn is_alphabetical(&self, new: &Arranged<'_>) -> bool {
        let mut items = NewItems::default();
        items.add(new, &self.tree);
        let keys =
            |mapping| self.tree.children(mapping).filter_map(|member| self.tree.key(member)).map(|key| &*key.text);
        let is_late = |item: NodeId| self.tree.key(item).is_none() && has_late_name(keys(item));
        let is_sorted = |mapping| {
            keys(mapping).is_sorted() || self.tree.children(mapping).all(|member| items.were_members.contains(&member))
        };
        let has_long = self.tree.ids().any(|mapping| keys(mapping).count() >= 5);
        has_long && (items.have_late_names || self.tree.ids().any(is_late)) && self.tree.ids().all(is_sorted)
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
        let mut sources: Vec<NodeId> = nodes.iter().filter_map(|node| arranged(node).own()).collect();
        sources.sort_unstable_by_key(|id| id.index());
        let mut follows = None;
        let mut placed: Vec<(Option<usize>, T)> = Vec::with_capacity(nodes.len());
        for node in nodes {
            follows = arranged(&node).position(&self.tree, &sources).or(follows);
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
    /// The node that it was.
    fn own(&self) -> Option<NodeId> {
        self.source.map(|(id, _)| id)
    }

    /// Where it stood in the text: at the last part that it still has of what it was. Where others of that are its siblings
    /// now, by `sources`, it is the last part beside them: a pod that became a member beside the variables of its container
    /// stands behind them, if the image did, wherever the tolerations of the pod are.
    fn position(&self, tree: &Tree, sources: &[NodeId]) -> Option<usize> {
        let within = |id: NodeId| self.last_leaf(tree, Some(&tree.node(id).span.bytes()));
        let beside = self.own().and_then(|own| tree.around(sources, own)).and_then(within);
        let leaf = beside.or_else(|| self.own().map_or_else(|| self.last_leaf(tree, None), within));
        leaf.or_else(|| self.own()).map(NodeId::index)
    }

    /// The last node within a stretch of the text that it still has, and of which it has no part.
    fn last_leaf(&self, tree: &Tree, within: Option<&Range<usize>>) -> Option<NodeId> {
        let part = match &self.content {
            Content::Scalar(_) => None,
            Content::Items(items) => items.iter().rev().find_map(|item| item.last_leaf(tree, within)),
            Content::Members(members) => members.iter().rev().find_map(|(_, member)| member.last_leaf(tree, within)),
        };
        let stood = |id: &NodeId| tree.node(*id).span.bytes().start;
        part.or_else(|| self.own().filter(|id| within.is_none_or(|range| range.contains(&stood(id)))))
    }

    /// Puts members in the order of their names, but for those that were the items of a list.
    fn sort_by_name(&mut self, tree: &Tree) {
        match &mut self.content {
            Content::Scalar(_) => {}
            Content::Items(items) => items.iter_mut().for_each(|item| item.sort_by_name(tree)),
            Content::Members(members) => {
                for (_, member) in members.iter_mut() {
                    member.sort_by_name(tree);
                }
                let was_item = |member: &Arranged<'_>| member.own().is_some_and(|id| tree.key(id).is_none());
                if !members.iter().all(|(_, member)| was_item(member)) {
                    members.sort_by_key(|(name, _)| *name);
                }
            }
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

/// What is known of the items of lists in a new value.
#[derive(Default)]
struct NewItems {
    /// The nodes that they were, where those were members.
    were_members: HashSet<NodeId>,
    /// Whether one has a member that goes before its name by the alphabet.
    have_late_names: bool,
}

impl NewItems {
    fn add(&mut self, value: &Arranged<'_>, tree: &Tree) {
        match &value.content {
            Content::Scalar(_) => {}
            Content::Members(members) => members.iter().for_each(|(_, member)| self.add(member, tree)),
            Content::Items(items) => {
                for item in items {
                    self.were_members.extend(item.own().filter(|id| tree.key(*id).is_some()));
                    if let Content::Members(members) = &item.content {
                        self.have_late_names |= has_late_name(members.iter().map(|(name, _)| *name));
                    }
                    self.add(item, tree);
                }
            }
        }
    }
}

/// Whether there is a name, and what goes before it by the alphabet.
fn has_late_name<'n>(names: impl Iterator<Item = &'n str>) -> bool {
    names.fold((false, false), |(has, late), name| (has || name == "name", late || name < "name")) == (true, true)
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::yaml;

    /// The value in the order of the text, with the parts of `main` in `pod` and `vars` beside it made from the first item.
    fn in_order_of(text: &str, value: &Value) -> String {
        let origin = |path: &FieldPath| {
            let container = (FieldPath::field("pod") / "containers").index(0);
            let main = FieldPath::field("pod") / "main";
            match path.strip_prefix(&main) {
                Some(rest) => Some(container.join(rest)),
                None if *path == FieldPath::field("vars") => Some(container / "env"),
                None => Some(path.clone()),
            }
        };
        yaml::read(text).documents[0].in_order_of(&Ordered::from(value), &origin).to_string()
    }

    #[test]
    fn a_pod_stands_where_its_parts_stood_beside_what_left_it() {
        let value = json!({"pod": {"main": {"image": "i"}, "tolerations": "t"}, "vars": "e"});
        let text = "pod:\n  containers:\n  - image: i\n    env: e\n  tolerations: t\n";
        assert_eq!(in_order_of(text, &value), r#"{"pod":{"main":{"image":"i"},"tolerations":"t"},"vars":"e"}"#);
        let text = "pod:\n  containers:\n  - env: e\n    image: i\n  tolerations: t\n";
        assert_eq!(in_order_of(text, &value), r#"{"vars":"e","pod":{"main":{"image":"i"},"tolerations":"t"}}"#);
    }

    #[test]
    fn a_file_in_alphabetical_order_stays_so_and_a_short_one_has_it_by_chance() {
        let value = json!({"pod": {"main": {"image": "i", "name": "n"}}, "vars": "e"});
        let text = "pod:\n  containers:\n  - env: e\n    image: i\n    name: n\n";
        assert_eq!(in_order_of(text, &value), r#"{"vars":"e","pod":{"main":{"image":"i","name":"n"}}}"#);
        let long = "pod:\n  containers:\n  - args: []\n    command: []\n    env: e\n    image: i\n    name: n\n";
        assert_eq!(in_order_of(long, &value), r#"{"pod":{"main":{"image":"i","name":"n"}},"vars":"e"}"#);
    }
}
