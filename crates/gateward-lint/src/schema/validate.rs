//! Validates an object against a schema.

use gateward_core::Segment;
use serde_json::{Map, Value};

use super::finding::{SchemaFault, SchemaFinding};
use super::node::{Additional, Embedded, Kind, MAX_DEPTH, Nullable, SchemaNode, Unknown};
use super::walk::Walk;
use super::{lists, values};

pub(super) fn object(root: &SchemaNode, object: &Value) -> Vec<SchemaFinding> {
    let mut walk = Walk::default();
    walk.node(root, object, None);
    walk.into_findings()
}

/// Validates an update with ratcheting: an unchanged node has no findings, and duplicate items are accepted if the old
/// object has some.
pub(super) fn update(root: &SchemaNode, old: &Value, new: &Value) -> Vec<SchemaFinding> {
    let mut walk = Walk::default();
    walk.node(root, new, Some(old));
    let mut findings = walk.into_findings();
    if object(root, old).iter().any(SchemaFinding::is_repetition) {
        findings.retain(|finding| !finding.is_repetition());
    }
    findings
}

impl Walk {
    fn node(&mut self, node: &SchemaNode, value: &Value, old: Option<&Value>) {
        if old == Some(value) {
            self.unchanged(|walk| walk.check(node, value, old));
        } else {
            self.check(node, value, old);
        }
    }

    fn check(&mut self, node: &SchemaNode, value: &Value, old: Option<&Value>) {
        if self.depth() > MAX_DEPTH || (value.is_null() && node.nullable == Nullable::Yes) {
            return;
        }
        if let Some(fault) = wrong_type(node, value) {
            // The other checks presume the type.
            return self.add(fault);
        }
        values::check(&node.values, value, self);
        self.logic(node, value);
        match value {
            Value::Object(members) => self.members(node, members, old),
            Value::Array(items) => self.items(node, items, old),
            _ => {}
        }
    }

    fn members(&mut self, node: &SchemaNode, members: &Map<String, Value>, old: Option<&Value>) {
        for name in node.required.iter().filter(|name| !members.contains_key(*name)) {
            self.below(node.step(name), |walk| walk.add(SchemaFault::Required));
        }
        if node.embedded == Embedded::Yes {
            self.embedded(members);
        }
        for (name, member) in members {
            let step = node.step(name);
            match (node.member(name), &node.additional) {
                (Some(child), _) => {
                    let old = old.and_then(|old| old.get(name));
                    self.below(step, |walk| walk.node(child, member, old));
                }
                (None, Additional::None) if !is_known(node) => {
                    self.below(step, |walk| walk.add(SchemaFault::UnknownField));
                }
                (None, _) => {}
            }
        }
    }

    /// An embedded object needs `apiVersion` and `kind`.
    fn embedded(&mut self, members: &Map<String, Value>) {
        for name in ["apiVersion", "kind"] {
            let step = Segment::Field(name.into());
            match members.get(name) {
                None => self.below(step, |walk| walk.add(SchemaFault::Required)),
                Some(Value::String(text)) => self.below(step, |walk| walk.type_meta(name, text)),
                Some(_) => {}
            }
        }
    }

    fn type_meta(&mut self, name: &str, text: &str) {
        let why = match name {
            _ if text.is_empty() => "must not be empty".to_owned(),
            "apiVersion" if text.matches('/').count() > 1 => format!("unexpected GroupVersion string: {text}"),
            "kind" if !is_kind(text) => "must be letters, digits and '-', the first a letter".to_owned(),
            _ => return,
        };
        self.add(SchemaFault::Malformed { value: text.into(), why });
    }

    fn items(&mut self, node: &SchemaNode, items: &[Value], old: Option<&Value>) {
        lists::check(node, items, self);
        let Some(schema) = node.items.as_deref() else { return };
        // Without keys no item has a counterpart.
        let old = old.and_then(Value::as_array).and_then(|old| lists::ByKeys::of(node, old));
        for (index, item) in items.iter().enumerate() {
            self.below(Segment::Index(index), |walk| {
                walk.node(schema, item, old.as_ref().and_then(|old| old.counterpart(item)));
            });
        }
    }

    fn logic(&mut self, node: &SchemaNode, value: &Value) {
        let logic = &node.logic;
        for schema in &logic.all_of {
            self.node(schema, value, None);
        }
        if !logic.any_of.is_empty() && !logic.any_of.iter().any(|schema| fits(schema, value)) {
            self.add(SchemaFault::Unmatched { why: "must validate at least one schema (anyOf)".into() });
        }
        if !logic.one_of.is_empty() {
            self.one_of(&logic.one_of, value);
        }
        if logic.not.as_ref().is_some_and(|not| fits(not, value)) {
            self.add(SchemaFault::Unmatched { why: "must not validate the schema (not)".into() });
        }
    }

    fn one_of(&mut self, schemas: &[SchemaNode], value: &Value) {
        let found = match schemas.iter().filter(|schema| fits(schema, value)).count() {
            1 => return,
            0 => "Found none valid".to_owned(),
            found => format!("Found {found} valid alternatives"),
        };
        let why = format!("must validate one and only one schema (oneOf). {found}");
        self.add(SchemaFault::Unmatched { why });
    }
}

fn fits(schema: &SchemaNode, value: &Value) -> bool {
    let mut walk = Walk::default();
    walk.node(schema, value, None);
    walk.into_findings().is_empty()
}

/// A DNS label of at most 63 characters that begins with a letter, in mixed case.
fn is_kind(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() <= 63
        && bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
}

/// Whether the node accepts members without a property of their own.
fn is_known(node: &SchemaNode) -> bool {
    node.unknown == Unknown::Preserved || node.kind != Kind::Object && node.properties.is_empty()
}

fn wrong_type(node: &SchemaNode, value: &Value) -> Option<SchemaFault> {
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
    let fault = || SchemaFault::Type { found: name_of(value), wanted: wanted(node.kind) };
    (!fits).then(fault)
}

/// An integer of 64 bits; the API server takes `1.0` for one too.
fn is_whole(value: &Value) -> bool {
    /// Where doubles stop telling integers apart; the API server takes none beyond.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let exact = |number: f64| number.fract() == 0.0 && number.abs() < EXACT;
    value.is_i64() || !value.is_u64() && value.as_f64().is_some_and(exact)
}

fn name_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_i64() => "integer",
        Value::Number(_) => "number",
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
