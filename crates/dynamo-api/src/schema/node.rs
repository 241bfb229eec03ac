//! A node of a schema, and the constraints that can be added to it.

use serde_json::{Map, Value, json};

use super::rules::ValidationRule;

/// One place in a schema.
///
/// A step to a place that doesn't exist is noted as a mistake, and the place is made up so that the rest can go on.
pub struct SchemaCursor<'a> {
    schema: &'a mut Value,
    mistakes: &'a mut Vec<String>,
    place: String,
}

impl<'a> SchemaCursor<'a> {
    /// The schema of a type called `name`; mistakes are noted in `mistakes`.
    pub fn new(schema: &'a mut Value, mistakes: &'a mut Vec<String>, name: &str) -> Self {
        Self { schema, mistakes, place: name.to_owned() }
    }

    /// The member called `name`.
    pub fn property(&mut self, name: &str) -> SchemaCursor<'_> {
        let place = format!("{}.{name}", self.place);
        let members = object(object(self.schema).entry("properties").or_insert_with(|| json!({})));
        if !members.contains_key(name) {
            self.mistakes.push(format!("{place} doesn't exist"));
        }
        let schema = members.entry(name).or_insert_with(|| json!({}));
        SchemaCursor { schema, mistakes: self.mistakes, place }
    }

    /// The items of a list.
    pub fn items(&mut self) -> SchemaCursor<'_> {
        self.below("items", "[]")
    }

    /// The values of a map.
    pub fn values(&mut self) -> SchemaCursor<'_> {
        self.below("additionalProperties", "[*]")
    }

    fn below(&mut self, keyword: &str, mark: &str) -> SchemaCursor<'_> {
        let place = format!("{}{mark}", self.place);
        let keywords = object(self.schema);
        if !keywords.contains_key(keyword) {
            self.mistakes.push(format!("{place} doesn't exist"));
        }
        let schema = keywords.entry(keyword).or_insert_with(|| json!({}));
        SchemaCursor { schema, mistakes: self.mistakes, place }
    }

    /// Takes the member called `name` out.
    pub fn remove(&mut self, name: &str) -> &mut Self {
        let members = object(self.schema).get_mut("properties").and_then(Value::as_object_mut);
        if members.and_then(|members| members.remove(name)).is_none() {
            self.mistakes.push(format!("{}.{name} doesn't exist", self.place));
        }
        self
    }

    /// Sets the required members, in place of earlier ones.
    pub fn required(&mut self, names: &[&str]) -> &mut Self {
        for name in names {
            self.property(name);
        }
        self.set("required", json!(names))
    }

    /// Gives the value that the API server fills in.
    pub fn default(&mut self, value: impl Into<Value>) -> &mut Self {
        self.set("default", value.into())
    }

    /// Limits the characters of a string from both sides.
    pub fn length(&mut self, least: u32, most: u32) -> &mut Self {
        self.min_length(least).max_length(most)
    }

    /// Limits the characters of a string from below.
    pub fn min_length(&mut self, least: u32) -> &mut Self {
        self.set("minLength", json!(least))
    }

    /// Limits the characters of a string from above.
    pub fn max_length(&mut self, most: u32) -> &mut Self {
        self.set("maxLength", json!(most))
    }

    /// Demands that a string matches a regular expression.
    pub fn pattern(&mut self, expression: &str) -> &mut Self {
        self.set("pattern", json!(expression))
    }

    /// Limits a number from below.
    pub fn minimum(&mut self, least: i32) -> &mut Self {
        self.set("minimum", json!(least))
    }

    /// Limits a number from above.
    pub fn maximum(&mut self, most: i32) -> &mut Self {
        self.set("maximum", json!(most))
    }

    /// Limits the length of a list.
    pub fn max_items(&mut self, most: u32) -> &mut Self {
        self.set("maxItems", json!(most))
    }

    /// Limits the size of a map.
    pub fn max_properties(&mut self, most: u32) -> &mut Self {
        self.set("maxProperties", json!(most))
    }

    /// Sets the `enum` of a string, in place of the type's.
    pub fn one_of(&mut self, values: &[&str]) -> &mut Self {
        self.set("enum", json!(values))
    }

    /// Sets the `format` of an integer or string, for example `date-time`.
    pub fn format(&mut self, format: &str) -> &mut Self {
        self.set("format", json!(format))
    }

    /// Takes the width of an integer away.
    pub fn any_width(&mut self) -> &mut Self {
        object(self.schema).remove("format");
        self
    }

    /// Makes a list a map with these keys.
    pub fn keyed_by(&mut self, keys: &[&str]) -> &mut Self {
        self.set("x-kubernetes-list-type", json!("map")).set("x-kubernetes-list-map-keys", json!(keys))
    }

    /// Makes a list a set.
    pub fn unique(&mut self) -> &mut Self {
        self.set("x-kubernetes-list-type", json!("set"))
    }

    /// Makes the object itself a Kubernetes object, which has an `apiVersion` and a `kind`.
    pub fn embedded_resource(&mut self) -> &mut Self {
        self.set("x-kubernetes-embedded-resource", json!(true))
    }

    /// Has managed fields end at the object: its members belong to one manager. Those of free-form JSON would nest more
    /// deeply than the JSON, and an object that is stored with them may be one that nobody can read or delete.
    pub fn atomic(&mut self) -> &mut Self {
        self.set("x-kubernetes-map-type", json!("atomic"))
    }

    /// Adds a CEL rule.
    pub fn rule(&mut self, rule: &ValidationRule) -> &mut Self {
        let rules = object(self.schema).entry("x-kubernetes-validations").or_insert_with(|| json!([]));
        if let Value::Array(rules) = rules {
            rules.push(rule.to_value());
        }
        self
    }

    fn set(&mut self, keyword: &str, value: Value) -> &mut Self {
        object(self.schema).insert(keyword.to_owned(), value);
        self
    }
}

/// The members of a schema; a schema that is no object becomes an empty one.
pub(super) fn object(schema: &mut Value) -> &mut Map<String, Value> {
    if !schema.is_object() {
        *schema = json!({});
    }
    match schema {
        Value::Object(members) => members,
        // The line above made it an object.
        _ => unreachable!(),
    }
}
