//! Values of a release, of which every key is one of the operator's chart: one that is misspelt would be passed over.

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use gateward_core::{FieldPath, Segment};
use gateward_lint::schema::nearest_name;
use serde_json::{Map, Value};

use crate::cli::values;
use crate::operator::Operator;

/// The values of all files together.
pub(crate) fn read<P: Operator>(operator: &P, files: &[PathBuf]) -> anyhow::Result<Value> {
    let values = values::read(files)?;
    match unknown(operator, &values)?.as_slice() {
        [] => Ok(values),
        unknown => bail!("the chart has no such values:\n{}", unknown.join("\n")),
    }
}

/// Each key that the operator's chart doesn't have, with the one that may be meant.
pub(crate) fn unknown<P: Operator>(operator: &P, values: &Value) -> anyhow::Result<Vec<String>> {
    let schema = match operator.chart_schema() {
        Some(schema) => schema,
        None => of_generated_chart()?,
    };
    Ok(unknown_keys(values, &schema))
}

/// The keys of the chart that `generate chart` writes.
fn of_generated_chart() -> anyhow::Result<Value> {
    let crds = format!(",\n{}", include_str!("generate/chart/text/values.schema-crds.json"));
    let text = include_str!("generate/chart/text/values.schema.json").replace("%crds%", &crds).replace("%modes%", "");
    serde_json::from_str(&text).context("the schema of a chart")
}

fn unknown_keys(values: &Value, schema: &Value) -> Vec<String> {
    let mut keys = Keys { schema, unknown: Vec::new() };
    keys.walk(values, schema, &FieldPath::root());
    keys.unknown
}

struct Keys<'s> {
    schema: &'s Value,
    unknown: Vec<String>,
}

impl<'s> Keys<'s> {
    /// A file nests no deeper than its reader allows.
    fn walk(&mut self, value: &Value, schema: &'s Value, at: &FieldPath) {
        let schema = self.resolved(schema);
        match value {
            Value::Object(members) => {
                // What is null has been taken away.
                for (name, value) in members.iter().filter(|(_, value)| !value.is_null()) {
                    self.member(name, value, schema, at);
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.walk(item, &schema["items"], &at.clone().index(index));
                }
            }
            _ => {}
        }
    }

    fn member(&mut self, name: &str, value: &Value, schema: &'s Value, at: &FieldPath) {
        let path = below(at, name);
        match schema["properties"].get(name) {
            Some(schema) => self.walk(value, schema, &path),
            None if self.is_closed(schema) => self.unknown.push(format!("{path}: {}", self.meant(name, schema, at))),
            None => {}
        }
    }

    /// What may be meant: a key beside it, or one of the same name below or elsewhere.
    fn meant(&self, name: &str, schema: &Value, at: &FieldPath) -> String {
        let known = schema["properties"].as_object().into_iter().flat_map(Map::keys);
        let mut beside: Vec<&str> = known.map(String::as_str).collect();
        let nearest = nearest_name(name, beside.iter().copied()).map(|known| below(at, known));
        let deeper = || path_to(name, schema, at).or_else(|| path_to(name, self.schema, &FieldPath::root()));
        let Some(path) = nearest.or_else(deeper) else {
            beside.sort_unstable();
            return format!("known are {}", beside.join(", "));
        };
        format!("did you mean {path}?")
    }

    fn resolved(&self, schema: &'s Value) -> &'s Value {
        let target = schema["$ref"].as_str().and_then(|target| self.schema.pointer(target.strip_prefix('#')?));
        target.unwrap_or(schema)
    }

    /// Whether further keys are refused. A `const` refuses them with the advice that it is.
    fn is_closed(&self, schema: &'s Value) -> bool {
        let further = self.resolved(&schema["additionalProperties"]);
        *further == Value::Bool(false) || further["const"].is_string()
    }
}

/// Where the schema has a key of this name, as high up as it has one.
fn path_to(name: &str, schema: &Value, at: &FieldPath) -> Option<FieldPath> {
    let members = schema["properties"].as_object()?;
    if members.contains_key(name) {
        return Some(below(at, name));
    }
    let deeper = members.iter().filter_map(|(member, schema)| path_to(name, schema, &below(at, member)));
    deeper.min_by_key(|path| path.segments().len())
}

fn below(at: &FieldPath, name: &str) -> FieldPath {
    at.clone() / Segment::Field(name.to_owned().into())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn unknown_of(values: &Value) -> Vec<String> {
        unknown_keys(values, &of_generated_chart().unwrap())
    }

    #[test]
    fn an_unknown_key_is_named_with_the_nearest_known_one() {
        let values = json!({"replica": 3, "certificates": {"mod": "auto"}, "imagePullSecrets": [{"nam": "x"}]});
        let wanted = [
            "certificates.mod: did you mean certificates.mode?",
            "imagePullSecrets[0].nam: did you mean imagePullSecrets[0].name?",
            "replica: did you mean replicas?",
        ];
        assert_eq!(unknown_of(&values), wanted);
    }

    #[test]
    fn a_key_that_stands_elsewhere_is_found_there() {
        assert_eq!(
            unknown_of(&json!({"failurePolicy": "Fail"})),
            ["failurePolicy: did you mean webhook.failurePolicy?"]
        );
    }

    #[test]
    fn where_no_key_is_near_all_are_named() {
        let wanted = ["image.otter: known are digest, pullPolicy, repository, tag"];
        assert_eq!(unknown_of(&json!({"image": {"otter": 1}})), wanted);
    }

    #[test]
    fn what_the_chart_has_is_known_and_what_is_null_is_not_there() {
        let selector = json!({"matchLabels": {"any": "thing"}});
        let values = json!({
            "webhook": {"namespaceSelector": selector}, "resources": {"limits": {}}, "global": {"x": 1}, "otter": null,
            "crds": {"install": true}, "nodeSelector": {"any": "thing"},
        });
        assert_eq!(unknown_of(&values), [""; 0]);
    }
}
