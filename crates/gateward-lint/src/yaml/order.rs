//! The members of a document in the order in which they were written.

use std::collections::HashMap;

use gateward_core::Ordered;
use serde_json::{Map, Value};

use super::tree::{Key, KeyRole, NodeId, Tree};

impl Tree {
    /// `value`, which was built from the node `id`, in the order of the text.
    pub(super) fn in_order(&self, id: NodeId, value: &Value) -> Ordered {
        let id = self.resolved(id);
        match value {
            Value::Object(members) => Ordered::Members(self.members_in_order(id, members)),
            Value::Array(items) => {
                Ordered::Items(self.children(id).zip(items).map(|(child, item)| self.in_order(child, item)).collect())
            }
            scalar => Ordered::Scalar(scalar.clone()),
        }
    }

    /// Merged members follow the mapping's own, in the order of names.
    fn members_in_order(&self, id: NodeId, members: &Map<String, Value>) -> Vec<(String, Ordered)> {
        let own: HashMap<&str, (usize, NodeId)> = self.children(id).enumerate().filter_map(|at| self.own(at)).collect();
        let mut placed: Vec<(usize, (String, Ordered))> = Vec::with_capacity(members.len());
        for (name, value) in members {
            let found = own.get(name.as_str());
            let place = found.map_or(usize::MAX, |(place, _)| *place);
            let ordered = found.map_or_else(|| Ordered::from(value), |(_, child)| self.in_order(*child, value));
            placed.push((place, (name.clone(), ordered)));
        }
        placed.sort_by_key(|(place, _)| *place);
        placed.into_iter().map(|(_, member)| member).collect()
    }

    fn own(&self, (place, child): (usize, NodeId)) -> Option<(&str, (usize, NodeId))> {
        match self.key(child)? {
            Key { role: KeyRole::Member, text, .. } => Some((text, (place, child))),
            Key { role: KeyRole::Merge, .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::yaml;

    fn in_order(text: &str) -> String {
        yaml::read(text).documents[0].in_order().to_string()
    }

    #[test]
    fn members_stand_as_they_were_written() {
        assert_eq!(in_order("b: 1\na:\n- d: 2\n  c: [x]\n"), r#"{"b":1,"a":[{"d":2,"c":["x"]}]}"#);
        assert_eq!(in_order(r#"{"b": 1, "a": null}"#), r#"{"b":1,"a":null}"#);
    }

    #[test]
    fn an_alias_has_the_order_of_what_it_stands_for() {
        assert_eq!(in_order("z: &z {b: 1, a: 2}\nw: *z\n"), r#"{"z":{"b":1,"a":2},"w":{"b":1,"a":2}}"#);
    }

    #[test]
    fn merged_members_follow_the_others() {
        assert_eq!(in_order("z: &z {q: 1}\nw:\n  <<: *z\n  a: 2\n"), r#"{"z":{"q":1},"w":{"a":2,"q":1}}"#);
    }

    #[test]
    fn a_key_that_stands_twice_has_the_last_value() {
        assert_eq!(in_order("a: {x: 1}\nb: 2\na: {w: 3}\n"), r#"{"b":2,"a":{"w":3}}"#);
    }
}
