//! A schema, as far as objects are drawn from it.

use std::collections::{BTreeMap, BTreeSet};

use gateward_lint::schema::Schema;
use serde_json::{Map, Value, json};

use super::vocabulary::Vocabulary;

/// How deep schemas are followed.
const MAX_DEPTH: usize = 64;

/// What may stand at a place.
#[derive(Debug, Clone)]
pub(super) enum Node {
    Struct(Struct),
    List(List),
    Text(Text),
    Number(Span),
    Truth,
    /// One of these values.
    Choice(Vec<Value>),
    /// An integer or one of these texts.
    IntOrText(Vec<Value>),
    Nullable(Box<Node>),
    /// Mostly the one, sometimes the other.
    Either(Box<Node>, Box<Node>),
    Anything,
}

/// An object.
#[derive(Debug, Clone, Default)]
pub(super) struct Struct {
    pub members: BTreeMap<String, Member>,
    /// What the values of a map are.
    pub entries: Option<Box<Node>>,
    pub most: usize,
    pub room: Room,
}

#[derive(Debug, Clone)]
pub(super) struct Member {
    pub node: Node,
    pub presence: Presence,
}

/// How likely a member is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    Required,
    /// A part of the object itself.
    Mostly,
    Often,
    Sometimes,
}

/// What may stand in an object beside its members.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Room {
    /// Nothing.
    #[default]
    Closed,
    /// Anything.
    Open,
    /// Anything, and the object says what it is.
    Embedded,
}

/// A list.
#[derive(Debug, Clone)]
pub(super) struct List {
    pub item: Box<Node>,
    pub least: usize,
    pub most: usize,
    pub distinct: Apart,
}

/// The keys that identify the items of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Apart {
    Position,
    Value,
    /// These members, each with its default.
    Keys(Vec<(String, Value)>),
}

/// A string.
#[derive(Debug, Clone)]
pub(super) struct Text {
    /// Those of the vocabulary that fit.
    pub words: Vec<Value>,
    /// Where any text of such a length will do.
    pub free: Option<(usize, usize)>,
}

/// A number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub least: i64,
    pub most: i64,
    pub grain: Grain,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grain {
    Whole,
    Fraction,
}

impl Node {
    /// The names of all members, at any depth.
    pub(super) fn names(&self, names: &mut BTreeSet<String>) {
        match self {
            Self::Struct(object) => {
                names.extend(object.members.keys().cloned());
                object.members.values().for_each(|member| member.node.names(names));
                object.entries.iter().for_each(|entry| entry.names(names));
            }
            Self::List(list) => list.item.names(names),
            Self::Nullable(node) => node.names(names),
            _ => {}
        }
    }

    /// Takes out what the schema doesn't know.
    pub(super) fn prune(&self, value: &mut Value) {
        match (self, value) {
            (Self::Struct(object), Value::Object(members)) => object.prune(members),
            (Self::List(list), Value::Array(items)) => items.iter_mut().for_each(|item| list.item.prune(item)),
            (Self::Nullable(node), value) => node.prune(value),
            _ => {}
        }
    }
}

impl Struct {
    /// What the schema says of a member.
    pub(super) fn member(&self, name: &str) -> Option<&Node> {
        self.members.get(name).map(|member| &member.node).or(self.entries.as_deref())
    }

    /// Whether a member that is no property is unknown.
    pub(super) fn is_closed(&self) -> bool {
        self.room == Room::Closed && self.entries.is_none()
    }

    fn prune(&self, members: &mut Map<String, Value>) {
        if self.is_closed() {
            members.retain(|name, _| self.members.contains_key(name));
        }
        for (name, value) in members {
            if let Some(node) = self.member(name) {
                node.prune(value);
            }
        }
    }
}

/// Reads schemas with a vocabulary.
pub(super) struct Reader<'v> {
    vocabulary: &'v Vocabulary,
    /// Which words fit is found out once for each set of limits.
    fitting: BTreeMap<String, Vec<Value>>,
}

impl<'v> Reader<'v> {
    pub(super) fn new(vocabulary: &'v Vocabulary) -> Self {
        Self { vocabulary, fitting: BTreeMap::new() }
    }

    pub(super) fn node(&mut self, schema: &Value, depth: usize) -> Node {
        let shape = self.shape(schema, depth);
        if schema["nullable"] == true { Node::Nullable(Box::new(shape)) } else { shape }
    }

    fn shape(&mut self, schema: &Value, depth: usize) -> Node {
        if let Some(choice) = schema["enum"].as_array() {
            return Node::Choice(choice.clone());
        }
        if schema["x-kubernetes-int-or-string"] == true {
            return Node::IntOrText(self.words(schema));
        }
        match schema["type"].as_str() {
            Some(_) if depth > MAX_DEPTH => Node::Anything,
            Some("object") => Node::Struct(self.object(schema, depth)),
            Some("array") => Node::List(self.list(schema, depth)),
            Some("string") => Node::Text(self.text(schema)),
            Some("integer") => Node::Number(span(schema, Grain::Whole)),
            Some("number") => Node::Number(span(schema, Grain::Fraction)),
            Some("boolean") => Node::Truth,
            _ => Node::Anything,
        }
    }

    fn object(&mut self, schema: &Value, depth: usize) -> Struct {
        let required: BTreeSet<&str> = texts(&schema["required"]);
        let members = schema["properties"].as_object().into_iter().flatten();
        let members = members.map(|(name, below)| {
            let presence = match name.as_str() {
                name if required.contains(name) => Presence::Required,
                _ if depth == 0 => Presence::Mostly,
                name if self.vocabulary.often.contains(name) => Presence::Often,
                _ => Presence::Sometimes,
            };
            (name.clone(), Member { node: self.named(name, below, depth + 1), presence })
        });
        Struct {
            members: members.collect(),
            entries: schema["additionalProperties"].as_object().map(|_| {
                let entries = self.node(&schema["additionalProperties"], depth + 1);
                Box::new(entries)
            }),
            most: count(&schema["maxProperties"]).unwrap_or(usize::MAX),
            room: room(schema),
        }
    }

    /// A member, of which the vocabulary may say more than the schema does.
    fn named(&mut self, name: &str, schema: &Value, depth: usize) -> Node {
        match self.vocabulary.members.get(name) {
            // A CRD says nothing of the metadata of its objects.
            _ if name == "metadata" && depth == 1 => Node::Struct(Struct { room: Room::Open, ..Struct::default() }),
            Some(said) if said["enum"].is_array() => match fitting(schema, said["enum"].as_array()) {
                values if values.is_empty() => self.node(schema, depth),
                values => Node::Choice(values),
            },
            Some(said) if said["type"] == schema["type"] => {
                Node::Either(Box::new(self.node(said, depth)), Box::new(self.node(schema, depth)))
            }
            _ => self.node(schema, depth),
        }
    }

    fn list(&mut self, schema: &Value, depth: usize) -> List {
        let distinct = match schema["x-kubernetes-list-type"].as_str() {
            Some("map") => {
                let keys = texts(&schema["x-kubernetes-list-map-keys"]);
                let default = |key: &str| schema["items"]["properties"][key]["default"].clone();
                Apart::Keys(keys.into_iter().map(|key| (key.to_owned(), default(key))).collect())
            }
            Some("set") => Apart::Value,
            _ => Apart::Position,
        };
        List {
            item: Box::new(self.node(&schema["items"], depth + 1)),
            least: count(&schema["minItems"]).unwrap_or(0),
            most: count(&schema["maxItems"]).unwrap_or(usize::MAX),
            distinct,
        }
    }

    fn text(&mut self, schema: &Value) -> Text {
        let length = |limit| count(&schema[limit]);
        let free = schema["pattern"].is_null() && schema["format"].is_null();
        let lengths = (length("minLength").unwrap_or(0), length("maxLength").unwrap_or(usize::MAX));
        Text { words: self.words(schema), free: free.then_some(lengths) }
    }

    fn words(&mut self, schema: &Value) -> Vec<Value> {
        let limits = ["type", "format", "pattern", "minLength", "maxLength", "x-kubernetes-int-or-string", "anyOf"];
        let limits: Map<String, Value> =
            limits.iter().filter_map(|limit| Some(((*limit).to_owned(), schema.get(limit)?.clone()))).collect();
        let limits = Value::Object(limits);
        let words = &self.vocabulary.words;
        self.fitting.entry(limits.to_string()).or_insert_with(|| fitting(&limits, Some(words))).clone()
    }
}

/// Those of the values that the schema admits.
fn fitting(schema: &Value, values: Option<&Vec<Value>>) -> Vec<Value> {
    let Ok(schema) = Schema::compile(schema) else { return Vec::new() };
    values.into_iter().flatten().filter(|value| schema.validate(value).is_empty()).cloned().collect()
}

fn room(schema: &Value) -> Room {
    let preserves = schema["x-kubernetes-preserve-unknown-fields"] == true;
    match () {
        () if schema["x-kubernetes-embedded-resource"] == true => Room::Embedded,
        () if preserves || schema["additionalProperties"] == json!(true) => Room::Open,
        () => Room::Closed,
    }
}

fn span(schema: &Value, grain: Grain) -> Span {
    let (low, high) = match schema["format"].as_str() {
        Some("int64") => (i64::MIN, i64::MAX),
        _ => (i64::from(i32::MIN), i64::from(i32::MAX)),
    };
    let bound = |limit, otherwise| schema[limit].as_i64().unwrap_or(otherwise);
    Span { least: bound("minimum", low), most: bound("maximum", high), grain }
}

fn count(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|count| usize::try_from(count).ok())
}

fn texts(value: &Value) -> BTreeSet<&str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}
