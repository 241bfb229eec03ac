//! From Rust types to structural schemas: gathered by type, corrected by type, then written out at every use.

use std::collections::BTreeMap;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::node::{SchemaCursor, object};
use super::{Mismatch, kubernetes};

const REFERENCE: &str = "#/$defs/";

/// The schemas of all types that some root type needs, by name.
pub struct Types {
    schemas: BTreeMap<String, Value>,
    mistakes: Vec<String>,
}

impl Types {
    /// Gathers `Spec` and `Status` and what they need.
    pub fn of<Spec: JsonSchema, Status: JsonSchema>() -> Self {
        let mut generator: SchemaGenerator = SchemaSettings::draft2020_12().into_generator();
        generator.subschema_for::<Spec>();
        generator.subschema_for::<Status>();
        let mut schemas: BTreeMap<String, Value> = generator.take_definitions(false).into_iter().collect();
        schemas.values_mut().for_each(simplify);
        kubernetes::correct(&mut schemas);
        Self { schemas, mistakes: Vec::new() }
    }

    /// The schema of one type, to lay something over it.
    pub fn edit<T: JsonSchema>(&mut self) -> SchemaCursor<'_> {
        let name = T::schema_name();
        if !self.schemas.contains_key(name.as_ref()) {
            self.mistakes.push(format!("{name} isn't used"));
        }
        let schema = self.schemas.entry(name.to_string()).or_insert_with(|| json!({}));
        SchemaCursor::new(schema, &mut self.mistakes, &name)
    }

    /// The schemas of all types, by name.
    pub fn schemas(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.schemas.iter().map(|(name, schema)| (name.as_str(), schema))
    }

    /// The schemas of spec and status with every reference written out, after a last word about places that the
    /// types alone don't name.
    pub fn finish<Spec: JsonSchema, Status: JsonSchema>(
        mut self,
        last: impl FnOnce(&mut SchemaCursor, &mut SchemaCursor),
    ) -> Result<[Value; 2], Mismatch> {
        let mut spec = self.expanded::<Spec>();
        let mut status = self.expanded::<Status>();
        let mut places = [Vec::new(), Vec::new()];
        let [in_spec, in_status] = &mut places;
        last(
            &mut SchemaCursor::new(&mut spec, in_spec, "spec"),
            &mut SchemaCursor::new(&mut status, in_status, "status"),
        );
        let mistakes = [self.mistakes, places.concat()].concat();
        if mistakes.is_empty() { Ok([spec, status]) } else { Err(Mismatch(mistakes)) }
    }

    fn expanded<T: JsonSchema>(&mut self) -> Value {
        self.expand(&json!({"$ref": format!("{REFERENCE}{}", T::schema_name())}))
    }

    fn expand(&mut self, schema: &Value) -> Value {
        match schema {
            Value::Object(members) => self.expand_members(members),
            Value::Array(items) => items.iter().map(|item| self.expand(item)).collect(),
            scalar => scalar.clone(),
        }
    }

    /// Keywords beside a reference win over those of the type it names.
    fn expand_members(&mut self, members: &Map<String, Value>) -> Value {
        let mut expanded = match members.get("$ref").and_then(Value::as_str) {
            Some(reference) => self.referenced(reference),
            None => json!({}),
        };
        let keywords = object(&mut expanded);
        for (keyword, value) in members.iter().filter(|(keyword, _)| *keyword != "$ref") {
            keywords.insert(keyword.clone(), self.expand(value));
        }
        keywords.retain(|keyword, value| keyword != "required" || *value != json!([]));
        expanded
    }

    fn referenced(&mut self, reference: &str) -> Value {
        let Some(schema) = self.schemas.get(reference.trim_start_matches(REFERENCE)).cloned() else {
            self.mistakes.push(format!("{reference} is unknown"));
            return json!({});
        };
        self.expand(&schema)
    }
}

/// Brings what schemars writes into the form of the API server: no unions with null, no free-form `true`, no formats
/// of floating-point numbers, descriptions without markup.
fn simplify(schema: &mut Value) {
    if *schema == Value::Bool(true) {
        *schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    }
    match schema {
        Value::Object(keywords) => simplify_keywords(keywords),
        Value::Array(items) => items.iter_mut().for_each(simplify),
        _ => {}
    }
}

fn simplify_keywords(keywords: &mut Map<String, Value>) {
    merge_optional(keywords);
    if let Some(Value::String(only)) = keywords.get("type").and_then(|types| types.get(0)).cloned() {
        keywords.insert("type".into(), Value::String(only));
    }
    if let Some(Value::Array(values)) = keywords.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if keywords.get("format") == Some(&json!("double")) {
        keywords.remove("format");
    }
    if let Some(Value::String(text)) = keywords.get_mut("description") {
        *text = plain(text);
    }
    for (keyword, value) in keywords.iter_mut() {
        // `additionalProperties: false` and the like stay; only schemas are simplified.
        match keyword.as_str() {
            "properties" => object(value).values_mut().for_each(simplify),
            "items" | "additionalProperties" => simplify(value),
            _ => {}
        }
    }
}

/// `anyOf: [X, null]` becomes X, and a free-form member keeps its description.
fn merge_optional(keywords: &mut Map<String, Value>) {
    let Some(Value::Array(choices)) = keywords.remove("anyOf") else {
        if !keywords.contains_key("type") && !keywords.contains_key("$ref") && !keywords.contains_key("enum") {
            keywords.insert("type".into(), json!("object"));
            keywords.insert("x-kubernetes-preserve-unknown-fields".into(), json!(true));
        }
        return;
    };
    if let Some(Value::Object(choice)) = choices.into_iter().next() {
        for (keyword, value) in choice {
            keywords.entry(keyword).or_insert(value);
        }
    }
}

/// A description without the markup of rustdoc.
fn plain(text: &str) -> String {
    text.replace("[`", "").replace("`]", "").replace('`', "").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::v1alpha1::{DynamoModelSpec, DynamoModelStatus, ModelSource};

    #[test]
    fn a_member_that_does_not_exist_is_a_mistake() {
        let mut types = Types::of::<DynamoModelSpec, DynamoModelStatus>();
        types.edit::<ModelSource>().property("url").min_length(1);
        let mistakes = types.finish::<DynamoModelSpec, DynamoModelStatus>(|spec, _| {
            spec.remove("models");
        });
        assert_eq!(
            mistakes,
            Err(Mismatch(vec!["ModelSource.url doesn't exist".into(), "spec.models doesn't exist".into()]))
        );
    }

    #[test]
    fn what_is_said_at_a_use_wins_over_what_the_type_says() {
        let mut types = Types::of::<DynamoModelSpec, DynamoModelStatus>();
        types.edit::<ModelSource>().required(&["uri"]);
        types.edit::<DynamoModelSpec>().property("source").required(&[]);
        let [spec, _] = types.finish::<DynamoModelSpec, DynamoModelStatus>(|_, _| {}).unwrap();
        let source = &spec["properties"]["source"];
        assert_eq!(source["description"], "Where the weights are read from.");
        assert_eq!(source["required"], Value::Null);
    }
}
