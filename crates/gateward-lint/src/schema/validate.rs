//! Judging an object by a schema.

use gateward_core::{FieldPath, Segment};
use serde_json::{Map, Value};

use super::finding::{SchemaFault, SchemaFinding};
use super::node::{Additional, Embedded, Kind, Node, Nullable, Unknown};
use super::{MAX_DEPTH, lists, values};

/// How many findings are kept; a hostile object has no end of them.
const MOST: usize = 256;

pub(super) fn object(root: &Node, object: &Value) -> Vec<SchemaFinding> {
    let mut walk = Walk::default();
    walk.node(root, object);
    walk.findings
}

/// The walk through an object: where it stands, and what it found. Paths are only made for findings.
#[derive(Default)]
pub(super) struct Walk {
    path: Vec<Segment>,
    findings: Vec<SchemaFinding>,
}

impl Walk {
    pub(super) fn add(&mut self, fault: SchemaFault) {
        if self.findings.len() < MOST {
            self.findings.push(SchemaFinding { path: self.path.iter().cloned().collect::<FieldPath>(), fault });
        }
    }

    pub(super) fn below(&mut self, step: Segment, visit: impl FnOnce(&mut Self)) {
        self.path.push(step);
        visit(self);
        self.path.pop();
    }

    fn node(&mut self, node: &Node, value: &Value) {
        if self.path.len() > MAX_DEPTH || (value.is_null() && node.nullable == Nullable::Yes) {
            return;
        }
        if let Some(fault) = wrong_type(node, value) {
            // What else the schema says of it presumes the type.
            return self.add(fault);
        }
        values::check(&node.values, value, self);
        self.logic(node, value);
        match value {
            Value::Object(members) => self.members(node, members),
            Value::Array(items) => self.items(node, items),
            _ => {}
        }
    }

    fn members(&mut self, node: &Node, members: &Map<String, Value>) {
        for name in node.required.iter().filter(|name| !members.contains_key(*name)) {
            self.below(Segment::Field(name.clone().into()), |walk| walk.add(SchemaFault::Required));
        }
        if node.embedded == Embedded::Yes {
            self.embedded(members);
        }
        for (name, member) in members {
            let step = Segment::Field(name.clone().into());
            match (node.properties.get(name), &node.additional) {
                (Some(property), _) => self.below(step, |walk| walk.node(property, member)),
                (None, Additional::Entries(entry)) => self.below(step, |walk| walk.node(entry, member)),
                (None, Additional::Anything) => {}
                (None, Additional::None) if is_known(node, name) => {}
                (None, Additional::None) => self.below(step, |walk| walk.add(SchemaFault::UnknownField)),
            }
        }
    }

    fn embedded(&mut self, members: &Map<String, Value>) {
        for name in ["apiVersion", "kind"] {
            let given = members.get(name).and_then(Value::as_str).is_some_and(|text| !text.is_empty());
            if !given {
                self.below(Segment::Field(name.into()), |walk| walk.add(SchemaFault::Required));
            }
        }
    }

    fn items(&mut self, node: &Node, items: &[Value]) {
        lists::check(node, items, self);
        let Some(schema) = node.items.as_deref() else { return };
        for (index, item) in items.iter().enumerate() {
            self.below(Segment::Index(index), |walk| walk.node(schema, item));
        }
    }

    fn logic(&mut self, node: &Node, value: &Value) {
        let logic = &node.logic;
        for schema in &logic.all_of {
            self.node(&without_structure(schema, node), value);
        }
        let fitting = |schemas: &[Node]| schemas.iter().filter(|schema| fits(schema, node, value)).count();
        let limit = match () {
            () if !logic.any_of.is_empty() && fitting(&logic.any_of) == 0 => {
                "must validate at least one schema (anyOf)"
            }
            () if !logic.one_of.is_empty() && fitting(&logic.one_of) != 1 => {
                "must validate one and only one schema (oneOf)"
            }
            () if logic.not.as_ref().is_some_and(|not| fits(not, node, value)) => "must not validate the schema (not)",
            () => return,
        };
        self.add(SchemaFault::Invalid { value: value.clone(), limit: limit.into() });
    }
}

/// Inside allOf, anyOf, oneOf and not only values are judged: which members exist is said outside.
fn without_structure(schema: &Node, outside: &Node) -> Node {
    let mut schema = schema.clone();
    schema.unknown = Unknown::Preserved;
    if schema.kind == Kind::Any {
        schema.kind = outside.kind;
    }
    schema.nullable = outside.nullable;
    for property in schema.properties.values_mut() {
        property.unknown = Unknown::Preserved;
    }
    schema
}

fn fits(schema: &Node, outside: &Node, value: &Value) -> bool {
    let mut walk = Walk::default();
    walk.node(&without_structure(schema, outside), value);
    walk.findings.is_empty()
}

/// Whether a member without a property of its own is no surprise.
fn is_known(node: &Node, name: &str) -> bool {
    node.unknown == Unknown::Preserved
        || node.embedded == Embedded::Yes && ["apiVersion", "kind", "metadata"].contains(&name)
        || node.kind != Kind::Object && node.properties.is_empty()
}

fn wrong_type(node: &Node, value: &Value) -> Option<SchemaFault> {
    let fits = match node.kind {
        Kind::Any => return None,
        Kind::Object => value.is_object(),
        Kind::Array => value.is_array(),
        Kind::String => value.is_string(),
        Kind::Integer => is_whole(value),
        Kind::Number => value.is_number(),
        Kind::Boolean => value.is_boolean(),
        Kind::IntOrString => is_whole(value) || value.is_string(),
    };
    let fault = || SchemaFault::Type { found: name_of(value), wanted: wanted(node.kind), value: value.clone() };
    (!fits).then(fault)
}

/// A number without a fraction; the API server takes `1.0` for an integer too.
fn is_whole(value: &Value) -> bool {
    value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0)
}

fn name_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

const fn wanted(kind: Kind) -> &'static str {
    match kind {
        Kind::Any => "any",
        Kind::Object => "object",
        Kind::Array => "array",
        Kind::String => "string",
        Kind::Integer => "integer",
        Kind::Number => "number",
        Kind::Boolean => "boolean",
        Kind::IntOrString => "integer,string",
    }
}
