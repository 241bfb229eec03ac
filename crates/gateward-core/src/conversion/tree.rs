//! JSON that is opened only where somebody looks; all else stays text, byte for byte.
//!
//! A tree of values would lose what it can't hold: numbers beyond its own, text that nests deeper than a parser goes,
//! the spelling of a number.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use serde_json::value::RawValue;

use crate::json::members::{items, longer_than, member_at, members};
use crate::rule::field::Segment;

/// A node of a document.
#[derive(Debug)]
pub(crate) enum Tree<'a> {
    /// Not looked into yet, or a scalar.
    Text(&'a RawValue),
    /// An object.
    Members(BTreeMap<Cow<'a, str>, Tree<'a>>),
    /// A list.
    Items(Items<'a>),
}

/// The items of a list.
#[derive(Debug)]
pub(crate) struct Items<'a> {
    items: Vec<Tree<'a>>,
    /// Worked out when somebody first asks for an item by its name.
    named: Option<HashMap<String, ItemsOfName>>,
}

/// The items of a list that bear a name.
#[derive(Debug, Clone, Copy)]
struct ItemsOfName {
    first: usize,
    count: usize,
}

impl<'a> Tree<'a> {
    /// Reads a document. `None` for text that is no JSON.
    pub fn read(json: &'a str) -> Option<Self> {
        serde_json::from_str(json).ok().map(Self::Text)
    }

    /// An object without members.
    pub const fn empty() -> Self {
        Self::Members(BTreeMap::new())
    }

    /// The text, if it isn't opened.
    pub const fn text(&self) -> Option<&'a RawValue> {
        match self {
            Self::Text(text) => Some(text),
            Self::Members(_) | Self::Items(_) => None,
        }
    }

    /// The member or item that has more than half of the text, with its step, where the text isn't opened. Only that one
    /// is kept of all: there may be a great many.
    pub fn largest_child(&self) -> Option<(Segment, Self)> {
        let text = self.text()?.get();
        longer_than(text.len() / 2, text).map(|(step, child)| (step, Self::Text(child)))
    }

    /// The node at `path`.
    pub fn find(&mut self, path: &[Segment]) -> Option<&mut Self> {
        path.iter().try_fold(self, |node, segment| match segment {
            Segment::Field(name) | Segment::Key(name) => node.members()?.get_mut(name.as_ref()),
            Segment::Index(index) => node.items()?.items.get_mut(*index),
        })
    }

    /// The members of an object.
    pub fn members(&mut self) -> Option<&mut BTreeMap<Cow<'a, str>, Self>> {
        self.open();
        match self {
            Self::Members(members) => Some(members),
            Self::Text(_) | Self::Items(_) => None,
        }
    }

    /// The items of a list.
    pub fn items(&mut self) -> Option<&mut Items<'a>> {
        self.open();
        match self {
            Self::Items(items) => Some(items),
            Self::Text(_) | Self::Members(_) => None,
        }
    }

    fn open(&mut self) {
        let Self::Text(text) = *self else { return };
        if let Some(members) = members(text.get()) {
            let members = members.into_iter().map(|(name, text)| (name, Self::Text(text)));
            *self = Self::Members(members.collect());
        } else if let Some(items) = items(text.get()) {
            *self = Self::Items(Items { items: items.into_iter().map(Self::Text).collect(), named: None });
        }
    }

    fn write(&self, to: &mut String) {
        match self {
            Self::Text(text) => to.push_str(text.get()),
            Self::Members(members) => {
                to.push('{');
                for (position, (name, node)) in members.iter().enumerate() {
                    to.push_str(if position == 0 { "" } else { "," });
                    to.push_str(&serde_json::to_string(name).unwrap_or_default());
                    to.push(':');
                    node.write(to);
                }
                to.push('}');
            }
            Self::Items(Items { items, .. }) => {
                to.push('[');
                for (position, node) in items.iter().enumerate() {
                    to.push_str(if position == 0 { "" } else { "," });
                    node.write(to);
                }
                to.push(']');
            }
        }
    }

    /// The document as JSON.
    pub fn to_json(&self) -> String {
        // Texts may be long; one that grows takes twice what it holds.
        let mut json = String::with_capacity(self.length());
        self.write(&mut json);
        json
    }

    /// How long its text is, but for escapes in names.
    fn length(&self) -> usize {
        const BESIDE_A_NAME: usize = 4;
        match self {
            Self::Text(text) => text.get().len(),
            Self::Members(members) => {
                let member = |(name, node): (&Cow<'_, str>, &Self)| name.len() + BESIDE_A_NAME + node.length();
                2 + members.iter().map(member).sum::<usize>()
            }
            Self::Items(Items { items, .. }) => 2 + items.iter().map(|node| 1 + node.length()).sum::<usize>(),
        }
    }

    /// What the member `name` says. It is read without opening the node.
    fn name(&self) -> Option<String> {
        let name = match self {
            Self::Text(text) => member_at(text.get(), "name"),
            Self::Members(members) => members.get("name")?.text().map(RawValue::get),
            Self::Items(_) => None,
        };
        serde_json::from_str(name?).ok()
    }
}

/// <https://kubernetes.io/docs/concepts/overview/working-with-objects/names/>
const LONGEST_NAME: usize = 253;

impl<'a> Items<'a> {
    /// The item at a position.
    pub fn get_mut(&mut self, index: usize) -> Option<&mut Tree<'a>> {
        self.items.get_mut(index)
    }

    /// Takes an item out; whether there was one.
    pub fn remove(&mut self, index: usize) -> bool {
        self.named = None;
        let is_there = index < self.items.len();
        if is_there {
            self.items.remove(index);
        }
        is_there
    }

    /// The first item of this name.
    pub fn named(&mut self, name: &str) -> Option<&mut Tree<'a>> {
        let ItemsOfName { first, .. } = *self.names().get(name)?;
        self.items.get_mut(first)
    }

    /// The name of an item that no other bears. An empty one is none: types leave it out. Nor is one that Kubernetes would
    /// refuse: each path would be as long.
    pub fn own_name(&mut self, index: usize) -> Option<String> {
        let name = self.items.get(index)?.name().filter(|name| (1..=LONGEST_NAME).contains(&name.len()))?;
        let alone = self.items.len() == 1 || self.names().get(&name).is_some_and(|bearers| bearers.count == 1);
        alone.then_some(name)
    }

    fn names(&mut self) -> &HashMap<String, ItemsOfName> {
        let items = &self.items;
        self.named.get_or_insert_with(|| {
            let mut names: HashMap<String, ItemsOfName> = HashMap::new();
            for (index, item) in items.iter().enumerate() {
                if let Some(name) = item.name() {
                    names.entry(name).or_insert(ItemsOfName { first: index, count: 0 }).count += 1;
                }
            }
            names
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(pointer: &[&str]) -> Vec<Segment> {
        let segment =
            |step: &&str| step.parse().map_or_else(|_| Segment::Field((*step).to_owned().into()), Segment::Index);
        pointer.iter().map(segment).collect()
    }

    #[test]
    fn what_nobody_looks_into_stays_byte_for_byte() {
        let deep = format!("{}1{}", "[".repeat(1000), "]".repeat(1000));
        let text =
            format!(r#"{{"a":{{"b":[1.10,-0.0, 1e400]}},"c":{{"d":{deep},"e":"\ud800"}},"f":123456789012345678901}}"#);
        let mut tree = Tree::read(&text).unwrap();
        assert!(tree.find(&path(&["c", "d"])).is_some());
        assert!(tree.find(&path(&["a", "x"])).is_none());
        assert_eq!(tree.to_json(), text);
    }

    #[test]
    fn a_node_is_found_by_names_and_positions() {
        let mut tree = Tree::read(r#"{"a":[{"b\u0041":1},{"b":2}],"":3}"#).unwrap();
        let mut found = |pointer: &[&str]| Some(tree.find(&path(pointer))?.to_json());
        assert_eq!(found(&["a", "0", "bA"]).as_deref(), Some("1"));
        assert_eq!(found(&["a", "1", "b"]).as_deref(), Some("2"));
        assert_eq!(found(&[""]).as_deref(), Some("3"));
        for nowhere in [&["a", "b"][..], &["a", "2"], &["", "x"], &["0"]] {
            assert_eq!(found(nowhere), None, "{nowhere:?}");
        }
    }

    #[test]
    fn only_a_name_that_no_other_item_bears_is_an_items_own() {
        let mut tree = Tree::read(r#"[{"name":"a"},{"name":"b"},{"name":"a"},{"name":""},{"name":5},{},7]"#).unwrap();
        let items = tree.items().unwrap();
        let names: Vec<Option<String>> = (0..8).map(|index| items.own_name(index)).collect();
        assert_eq!(names, [None, Some("b".to_owned()), None, None, None, None, None, None]);
        assert_eq!(items.named("a").unwrap().to_json(), r#"{"name":"a"}"#);
        assert!(items.named("c").is_none());
    }
}
