//! Members that no type knows, put into an object.

use serde_json::{Map, Value};

use super::draw::Dice;
use super::node::{Node, Struct};

/// The name that is surely unknown.
const STRANGER: &str = "zzUnknown";

/// Puts at least one member that `node` doesn't know into an object of it; at any level, with one of `names`.
pub(super) fn inject(node: &Node, object: &mut Value, names: &[String], dice: &mut Dice) {
    let places = count(node, object);
    let sure = dice.below(places);
    let mut injection = Injection { names, dice, sure, place: 0, many: places.div_ceil(3) };
    injection.node(node, object);
}

struct Injection<'i, 'r> {
    names: &'i [String],
    dice: &'i mut Dice<'r>,
    /// The place that surely gets one.
    sure: usize,
    place: usize,
    many: usize,
}

impl Injection<'_, '_> {
    fn node(&mut self, node: &Node, value: &mut Value) {
        match (node, value) {
            (Node::Struct(object), Value::Object(members)) => self.object(object, members),
            (Node::List(list), Value::Array(items)) => items.iter_mut().for_each(|item| self.node(&list.item, item)),
            (Node::Nullable(node), value) => self.node(node, value),
            _ => {}
        }
    }

    fn object(&mut self, object: &Struct, members: &mut Map<String, Value>) {
        for (name, value) in members.iter_mut() {
            if let Some(node) = object.member(name) {
                self.node(node, value);
            }
        }
        if !object.is_closed() {
            return;
        }
        if self.place == self.sure || self.dice.one_in(self.many) {
            self.stranger(object, members);
        }
        self.place += 1;
    }

    fn stranger(&mut self, object: &Struct, members: &mut Map<String, Value>) {
        let name = match self.dice.pick(self.names) {
            Some(name) if !self.dice.one_in(3) && !object.members.contains_key(name) => name,
            _ => STRANGER,
        };
        let value = match self.dice.anything(2) {
            Value::Null => Value::Bool(true),
            value => value,
        };
        members.insert(name.to_owned(), value);
    }
}

fn count(node: &Node, value: &Value) -> usize {
    match (node, value) {
        (Node::Struct(object), Value::Object(members)) => {
            let below = |(name, value): (&String, &Value)| object.member(name).map_or(0, |node| count(node, value));
            usize::from(object.is_closed()) + members.iter().map(below).sum::<usize>()
        }
        (Node::List(list), Value::Array(items)) => items.iter().map(|item| count(&list.item, item)).sum(),
        (Node::Nullable(node), value) => count(node, value),
        _ => 0,
    }
}
