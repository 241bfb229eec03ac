//! Drawing values from a schema.

use proptest::prelude::Rng;
use proptest::test_runner::TestRng;
use serde_json::{Map, Value, json};

use super::node::{Apart, Grain, List, Node, Presence, Room, Span, Struct, Text};

/// What chance decides.
pub(super) struct Dice<'r> {
    random: &'r mut TestRng,
    words: &'r [Value],
    /// How many values may still be drawn where none is demanded.
    left: usize,
}

impl<'r> Dice<'r> {
    pub(super) fn new(random: &'r mut TestRng, words: &'r [Value]) -> Self {
        Self { random, words, left: 0 }
    }

    /// A number below `limit`; 0 where that is 0.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        let drawn = usize::try_from(self.random.next_u64() >> 32).unwrap_or_default();
        drawn.checked_rem(limit).unwrap_or_default()
    }

    /// True once in so many times.
    pub(super) fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub(super) fn pick<'v, T>(&mut self, values: &'v [T]) -> Option<&'v T> {
        values.get(self.below(values.len()))
    }

    /// A value that `node` admits; of arbitrary size, but rarely large.
    pub(super) fn value(&mut self, node: &Node) -> Value {
        self.left = self.pick(&[20, 80, 200, 500]).copied().unwrap_or_default();
        self.node(node)
    }

    fn node(&mut self, node: &Node) -> Value {
        self.left = self.left.saturating_sub(1);
        match node {
            Node::Struct(object) => Value::Object(self.object(object)),
            Node::List(list) => Value::Array(self.list(list)),
            Node::Text(text) => self.text(text),
            Node::Number(span) => self.number(*span),
            Node::Truth => Value::Bool(self.one_in(2)),
            Node::Choice(values) => self.pick(values).cloned().unwrap_or_default(),
            Node::IntOrText(_) if self.one_in(3) => json!(self.below(9000)),
            Node::IntOrText(texts) => self.pick(texts).cloned().unwrap_or_else(|| json!(self.below(3))),
            Node::Nullable(_) if self.one_in(8) => Value::Null,
            Node::Nullable(node) => self.node(node),
            Node::Either(_, other) if self.one_in(5) => self.node(other),
            Node::Either(one, _) => self.node(one),
            Node::Anything => self.anything(3),
        }
    }

    /// Members are drawn from an arbitrary one on, so that none of them takes all the room.
    fn object(&mut self, object: &Struct) -> Map<String, Value> {
        let start = self.below(object.members.len());
        let mut drawn = Map::new();
        for (name, member) in object.members.iter().skip(start).chain(object.members.iter().take(start)) {
            if self.is_there(member.presence, object.members.len()) {
                drawn.insert(name.clone(), self.node(&member.node));
            }
        }
        match &object.entries {
            Some(entries) => self.entries(entries, object.most, &mut drawn),
            None if object.room != Room::Closed => self.free_members(object.room, &mut drawn),
            None => {}
        }
        drawn
    }

    fn is_there(&mut self, presence: Presence, among: usize) -> bool {
        match presence {
            Presence::Required => true,
            Presence::Mostly => !self.one_in(8),
            _ if self.left == 0 => false,
            Presence::Often => self.one_in(2),
            Presence::Sometimes if among <= 8 => self.one_in(2),
            Presence::Sometimes => self.below(among) < 3,
        }
    }

    fn entries(&mut self, entries: &Node, most: usize, drawn: &mut Map<String, Value>) {
        for _ in 0..self.count(0, most) {
            let name = self.word();
            let value = self.node(entries);
            drawn.insert(name, value);
        }
    }

    fn free_members(&mut self, room: Room, drawn: &mut Map<String, Value>) {
        for _ in 0..self.count(0, 3) {
            let name = self.word();
            let value = self.anything(2);
            drawn.insert(name, value);
        }
        if room == Room::Embedded {
            drawn.insert("apiVersion".into(), "example.org/v1".into());
            drawn.insert("kind".into(), "Otter".into());
            drawn.remove("metadata");
        }
    }

    fn list(&mut self, list: &List) -> Vec<Value> {
        let mut items: Vec<Value> = Vec::new();
        let wanted = self.count(list.least, list.most);
        for _ in 0..wanted * 4 {
            if items.len() == wanted {
                break;
            }
            let item = self.node(&list.item);
            if !items.iter().any(|other| is_same(&list.distinct, &item, other)) {
                items.push(item);
            }
        }
        items
    }

    /// How many: mostly few, and none once there is no room.
    fn count(&mut self, least: usize, most: usize) -> usize {
        let drawn = if self.left == 0 { 0 } else { self.pick(&[0, 1, 1, 2, 2, 3]).copied().unwrap_or_default() };
        drawn.max(least).min(most)
    }

    fn text(&mut self, text: &Text) -> Value {
        match text.free {
            Some((least, most)) if text.words.is_empty() || self.one_in(6) => self.letters(least, most).into(),
            _ => self.pick(&text.words).cloned().unwrap_or_default(),
        }
    }

    fn word(&mut self) -> String {
        match self.pick(self.words).and_then(Value::as_str) {
            Some(word) if !word.is_empty() && !self.one_in(8) => word.to_owned(),
            _ => self.letters(1, 12),
        }
    }

    fn letters(&mut self, least: usize, most: usize) -> String {
        const LETTERS: [char; 16] =
            ['a', 'b', 'z', 'A', '0', '9', '-', '.', '/', '_', '"', '\\', ' ', '\n', '\u{e9}', '\u{1f9a6}'];
        let length = self.below(20).max(least).min(most);
        (0..length).filter_map(|_| self.pick(&LETTERS).copied()).collect()
    }

    fn number(&mut self, span: Span) -> Value {
        let near = i64::try_from(self.below(12)).unwrap_or_default() - 3;
        let drawn = match self.below(24) {
            0 => span.least,
            1 => span.most,
            2 => near.saturating_mul(1 << 20),
            _ => near,
        };
        let drawn = drawn.clamp(span.least, span.most);
        match span.grain {
            Grain::Fraction if self.one_in(2) && drawn < span.most && i32::try_from(drawn).is_ok() => {
                json!(f64::from(i32::try_from(drawn).unwrap_or_default()) + 0.25)
            }
            _ => json!(drawn),
        }
    }

    /// Any JSON of no great depth.
    pub(super) fn anything(&mut self, depth: usize) -> Value {
        match self.below(if depth == 0 { 6 } else { 9 }) {
            0 => Value::Null,
            1 => Value::Bool(self.one_in(2)),
            2 => json!(self.below(3000)),
            3 => json!(f64::from(u16::try_from(self.below(3000)).unwrap_or_default()) / 8.0 - 20.0),
            4 | 5 => Value::String(self.word()),
            6 => (0..self.below(4)).map(|_| self.anything(depth - 1)).collect(),
            _ => (0..self.below(4)).map(|_| (self.word(), self.anything(depth - 1))).collect(),
        }
    }
}

fn is_same(apart: &Apart, one: &Value, other: &Value) -> bool {
    match apart {
        Apart::Position => false,
        Apart::Value => one == other,
        Apart::Keys(keys) => {
            keys.iter().all(|(key, default)| one.get(key).unwrap_or(default) == other.get(key).unwrap_or(default))
        }
    }
}
