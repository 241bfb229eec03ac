//! Compiles an `openAPIV3Schema`.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

use regex::Regex;
use serde_json::{Map, Number, Value};

use super::error::SchemaError;
use super::format::Format;
use super::node::{
    Additional, Bound, Embedded, EvaluatedOn, Kind, ListType, Logic, MAX_DEPTH, Nullable, Reach, Rule, SchemaNode,
    Unique, Unknown, Values,
};
use super::{metadata, pattern};

/// A schema that is being read.
struct At<'s> {
    schema: &'s Map<String, Value>,
    place: Place<'s>,
    part: Part,
    patterns: &'s Patterns,
}

/// Where a schema stands in the one that is compiled.
#[derive(Clone, Copy)]
struct Place<'s> {
    above: Option<&'s Place<'s>>,
    /// The members that lead here from the schema above.
    steps: [&'s str; 2],
    depth: usize,
}

impl Place<'_> {
    const ROOT: Place<'static> = Place { above: None, steps: ["", ""], depth: 0 };

    fn path(&self) -> String {
        let Some(above) = self.above else { return String::new() };
        let steps: String =
            self.steps.into_iter().filter(|step| !step.is_empty()).flat_map(|step| ["/", step]).collect();
        above.path() + &steps
    }

    fn fault(&self, member: &str, message: &str) -> SchemaError {
        let path = if member.is_empty() { self.path() } else { format!("{}/{member}", self.path()) };
        SchemaError { path, message: message.to_owned() }
    }
}

/// Members of most schemas; those of the others say something of values.
const STRUCTURE: [&str; 5] = ["type", "properties", "items", "required", "additionalProperties"];

/// Patterns that are compiled already: schemas repeat few of them hundreds of times.
type Patterns = RefCell<HashMap<String, Regex>>;

/// Which part of a schema is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The structural part, which specifies the members.
    Structure,
    /// Within `allOf`, `anyOf`, `oneOf` and `not`, which constrain values only.
    Values,
}

pub(super) fn root(schema: &Value) -> Result<SchemaNode, SchemaError> {
    let mut node = node(schema, Place::ROOT, Part::Structure, &Patterns::default())?;
    metadata::complete(&mut node);
    Ok(*node)
}

fn node(schema: &Value, place: Place<'_>, part: Part, patterns: &Patterns) -> Result<Box<SchemaNode>, SchemaError> {
    let schema = schema.as_object().ok_or_else(|| place.fault("", "a schema is an object"))?;
    if place.depth > MAX_DEPTH {
        return Err(place.fault("", "nested too deep"));
    }
    if schema.contains_key("$ref") {
        return Err(place.fault("", "a structural schema has no $ref"));
    }
    At { schema, place, part, patterns }.node()
}

impl At<'_> {
    fn node(&self) -> Result<Box<SchemaNode>, SchemaError> {
        let mut node = Box::<SchemaNode>::default();
        node.kind = self.kind()?;
        node.unknown = self.unknown();
        node.required = self.texts("required");
        node.properties = self.properties()?;
        node.additional = self.additional()?;
        node.items = self.child("items", self.part)?;
        if !self.schema.keys().all(|member| STRUCTURE.contains(&member.as_str())) {
            self.refine(&mut node)?;
        }
        Ok(node)
    }

    /// What most schemas don't say.
    fn refine(&self, node: &mut SchemaNode) -> Result<(), SchemaError> {
        node.nullable = if self.flag("nullable") { Nullable::Yes } else { Nullable::No };
        node.list = self.list_type();
        node.embedded = self.embedded();
        node.values = self.values()?;
        node.default = self.schema.get("default").cloned();
        node.logic = self.logic()?;
        node.rules = self.rules();
        if node.embedded == Embedded::Yes {
            metadata::complete(node);
        }
        Ok(())
    }

    fn embedded(&self) -> Embedded {
        if self.flag("x-kubernetes-embedded-resource") { Embedded::Yes } else { Embedded::No }
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

    fn properties(&self) -> Result<BTreeMap<String, Box<SchemaNode>>, SchemaError> {
        let members = self.schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        let compiled =
            members.map(|(name, schema)| Ok((name.clone(), self.below(schema, ["properties", name], self.part)?)));
        compiled.collect()
    }

    fn additional(&self) -> Result<Additional, SchemaError> {
        match self.schema.get("additionalProperties") {
            None | Some(Value::Bool(false)) => Ok(Additional::None),
            Some(Value::Bool(true)) => Ok(Additional::Anything),
            Some(entry) => self.below(entry, ["additionalProperties", ""], self.part).map(Additional::Entries),
        }
    }

    fn below(&self, schema: &Value, steps: [&str; 2], part: Part) -> Result<Box<SchemaNode>, SchemaError> {
        node(schema, Place { above: Some(&self.place), steps, depth: self.place.depth + 1 }, part, self.patterns)
    }

    fn child(&self, member: &str, part: Part) -> Result<Option<Box<SchemaNode>>, SchemaError> {
        self.schema.get(member).map(|schema| self.below(schema, [member, ""], part)).transpose()
    }

    fn children(&self, member: &str) -> Result<Vec<SchemaNode>, SchemaError> {
        let schemas = self.schema.get(member).and_then(Value::as_array);
        schemas
            .into_iter()
            .flatten()
            .map(|schema| self.below(schema, [member, ""], Part::Values).map(|node| *node))
            .collect()
    }

    fn list_type(&self) -> ListType {
        match self.schema.get("x-kubernetes-list-type").and_then(Value::as_str) {
            Some("set") => ListType::Set,
            Some("map") => ListType::Map(self.texts("x-kubernetes-list-map-keys")),
            _ => ListType::Atomic,
        }
    }

    fn unknown(&self) -> Unknown {
        let preserved = self.part == Part::Values || self.flag("x-kubernetes-preserve-unknown-fields");
        if preserved { Unknown::Preserved } else { Unknown::Pruned }
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

    fn pattern(&self) -> Result<Option<(String, Regex)>, SchemaError> {
        let Some(pattern) = self.schema.get("pattern").and_then(Value::as_str) else { return Ok(None) };
        if let Some(compiled) = self.patterns.borrow().get(pattern) {
            return Ok(Some((pattern.to_owned(), compiled.clone())));
        }
        let compiled = pattern::compile(pattern).map_err(|error| self.fault("pattern", &error.to_string()))?;
        self.patterns.borrow_mut().insert(pattern.to_owned(), compiled.clone());
        Ok(Some((pattern.to_owned(), compiled)))
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
            not: self.child("not", Part::Values)?,
        })
    }

    fn rules(&self) -> Vec<Rule> {
        let text = |rule: &Value, member: &str| rule.get(member).and_then(Value::as_str).unwrap_or_default().to_owned();
        let rules = self.schema.get("x-kubernetes-validations").and_then(Value::as_array);
        let each = |rule| Rule {
            expression: text(rule, "rule"),
            message: text(rule, "message"),
            evaluated_on: evaluated_on(rule),
        };
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
        self.place.fault(member, message)
    }
}

/// A transition rule uses `oldSelf`, so it is evaluated on updates only.
fn evaluated_on(rule: &Value) -> EvaluatedOn {
    let expression = rule.get("rule").and_then(Value::as_str).unwrap_or_default();
    let is_optional = rule.get("optionalOldSelf") == Some(&Value::Bool(true));
    if expression.contains("oldSelf") && !is_optional { EvaluatedOn::Update } else { EvaluatedOn::EveryWrite }
}
