//! From an `openAPIV3Schema` to nodes.

use regex::Regex;
use serde_json::{Map, Number, Value};

use super::format::Format;
use super::node::{
    Additional, Bound, Embedded, Kind, ListType, Logic, Node, Nullable, Reach, Rule, Unique, Unknown, Values,
};
use super::{MAX_DEPTH, SchemaError};

/// A schema member that is being read, with the path to it.
struct At<'s> {
    schema: &'s Map<String, Value>,
    path: String,
    depth: usize,
}

pub(super) fn root(schema: &Value) -> Result<Node, SchemaError> {
    let mut node = node(schema, "", 0)?;
    // Every object has these, whatever its schema says of them; it may still add limits to the name.
    for member in ["apiVersion", "kind"] {
        node.properties.entry(member.into()).or_insert_with(|| Node { kind: Kind::String, ..Node::default() });
    }
    let metadata = node.properties.entry("metadata".into()).or_default();
    metadata.kind = Kind::Object;
    metadata.unknown = Unknown::Preserved;
    for map in ["labels", "annotations"] {
        metadata.properties.entry(map.into()).or_insert_with(string_map);
    }
    for text in ["name", "generateName", "namespace"] {
        metadata.properties.entry(text.into()).or_insert_with(|| nullable(Kind::String));
    }
    Ok(node)
}

/// The API server decodes metadata as Go does: null counts as absent.
fn nullable(kind: Kind) -> Node {
    Node { kind, nullable: Nullable::Yes, ..Node::default() }
}

fn string_map() -> Node {
    let entry = Node { kind: Kind::String, ..Node::default() };
    Node { additional: Additional::Entries(Box::new(entry)), ..nullable(Kind::Object) }
}

fn node(schema: &Value, path: &str, depth: usize) -> Result<Node, SchemaError> {
    let fault = |message: &str| SchemaError { path: path.to_owned(), message: message.to_owned() };
    let schema = schema.as_object().ok_or_else(|| fault("a schema is an object"))?;
    if depth > MAX_DEPTH {
        return Err(fault("nested too deep"));
    }
    if schema.contains_key("$ref") {
        return Err(fault("a structural schema has no $ref"));
    }
    At { schema, path: path.to_owned(), depth }.node()
}

impl At<'_> {
    fn node(&self) -> Result<Node, SchemaError> {
        Ok(Node {
            kind: self.kind()?,
            nullable: if self.flag("nullable") { Nullable::Yes } else { Nullable::No },
            properties: self.properties()?,
            required: self.texts("required"),
            additional: self.additional()?,
            items: self.child("items")?.map(Box::new),
            list: self.list_type(),
            unknown: self.unknown(),
            embedded: if self.flag("x-kubernetes-embedded-resource") { Embedded::Yes } else { Embedded::No },
            values: self.values()?,
            default: self.schema.get("default").cloned(),
            logic: self.logic()?,
            rules: self.rules(),
        })
    }

    fn kind(&self) -> Result<Kind, SchemaError> {
        if self.flag("x-kubernetes-int-or-string") {
            return Ok(Kind::IntOrString);
        }
        Ok(match self.schema.get("type").and_then(Value::as_str) {
            None => Kind::Any,
            Some("object") => Kind::Object,
            Some("array") => Kind::Array,
            Some("string") => Kind::String,
            Some("integer") => Kind::Integer,
            Some("number") => Kind::Number,
            Some("boolean") => Kind::Boolean,
            Some(other) => return Err(self.fault("type", &format!("{other:?} is no type"))),
        })
    }

    fn properties(&self) -> Result<std::collections::BTreeMap<String, Node>, SchemaError> {
        let members = self.schema.get("properties").and_then(Value::as_object);
        let compiled = members.into_iter().flatten().map(|(name, schema)| {
            Ok((name.clone(), node(schema, &format!("{}/properties/{name}", self.path), self.depth + 1)?))
        });
        compiled.collect()
    }

    fn additional(&self) -> Result<Additional, SchemaError> {
        match self.schema.get("additionalProperties") {
            None | Some(Value::Bool(false)) => Ok(Additional::None),
            Some(Value::Bool(true)) => Ok(Additional::Anything),
            Some(_) => {
                Ok(self.child("additionalProperties")?.map_or(Additional::None, |n| Additional::Entries(n.into())))
            }
        }
    }

    fn child(&self, member: &str) -> Result<Option<Node>, SchemaError> {
        let schema = self.schema.get(member);
        schema.map(|schema| node(schema, &format!("{}/{member}", self.path), self.depth + 1)).transpose()
    }

    fn children(&self, member: &str) -> Result<Vec<Node>, SchemaError> {
        let schemas = self.schema.get(member).and_then(Value::as_array);
        let each = |schema| node(schema, &format!("{}/{member}", self.path), self.depth + 1);
        schemas.into_iter().flatten().map(each).collect()
    }

    fn list_type(&self) -> ListType {
        match self.schema.get("x-kubernetes-list-type").and_then(Value::as_str) {
            Some("set") => ListType::Set,
            Some("map") => ListType::Map(self.texts("x-kubernetes-list-map-keys")),
            _ => ListType::Atomic,
        }
    }

    fn unknown(&self) -> Unknown {
        if self.flag("x-kubernetes-preserve-unknown-fields") { Unknown::Preserved } else { Unknown::Pruned }
    }

    fn values(&self) -> Result<Values, SchemaError> {
        Ok(Values {
            accepted: self.schema.get("enum").and_then(Value::as_array).cloned().unwrap_or_default(),
            minimum: self.bound("minimum", "exclusiveMinimum"),
            maximum: self.bound("maximum", "exclusiveMaximum"),
            multiple_of: self.number("multipleOf"),
            min_length: self.count("minLength"),
            max_length: self.count("maxLength"),
            pattern: self.pattern()?,
            min_items: self.count("minItems"),
            max_items: self.count("maxItems"),
            min_properties: self.count("minProperties"),
            max_properties: self.count("maxProperties"),
            unique: if self.flag("uniqueItems") { Unique::Yes } else { Unique::No },
            format: self.schema.get("format").and_then(Value::as_str).and_then(Format::parse),
        })
    }

    fn pattern(&self) -> Result<Option<Regex>, SchemaError> {
        let Some(pattern) = self.schema.get("pattern").and_then(Value::as_str) else { return Ok(None) };
        Regex::new(pattern).map(Some).map_err(|error| self.fault("pattern", &error.to_string()))
    }

    fn bound(&self, member: &str, exclusive: &str) -> Option<Bound> {
        let reach = if self.flag(exclusive) { Reach::Exclusive } else { Reach::Inclusive };
        self.number(member).map(|value| Bound { value, reach })
    }

    fn logic(&self) -> Result<Logic, SchemaError> {
        Ok(Logic {
            all_of: self.children("allOf")?,
            any_of: self.children("anyOf")?,
            one_of: self.children("oneOf")?,
            not: self.child("not")?.map(Box::new),
        })
    }

    fn rules(&self) -> Vec<Rule> {
        let text = |rule: &Value, member: &str| rule.get(member).and_then(Value::as_str).unwrap_or_default().to_owned();
        let rules = self.schema.get("x-kubernetes-validations").and_then(Value::as_array);
        let each = |rule| Rule { expression: text(rule, "rule"), message: text(rule, "message") };
        rules.into_iter().flatten().map(each).collect()
    }

    fn flag(&self, member: &str) -> bool {
        self.schema.get(member) == Some(&Value::Bool(true))
    }

    fn number(&self, member: &str) -> Option<Number> {
        self.schema.get(member).and_then(Value::as_number).cloned()
    }

    fn count(&self, member: &str) -> Option<usize> {
        self.schema.get(member).and_then(Value::as_u64).and_then(|count| usize::try_from(count).ok())
    }

    fn texts(&self, member: &str) -> Vec<String> {
        let items = self.schema.get(member).and_then(Value::as_array);
        items.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    fn fault(&self, member: &str, message: &str) -> SchemaError {
        SchemaError { path: format!("{}/{member}", self.path), message: message.to_owned() }
    }
}
