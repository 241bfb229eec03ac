//! The values of the chart, out of their schema, and what is made of them: the table in the README, the lists of those
//! that have no effect and of those that were removed, and the values of the chart around the operator's.

use std::fmt::Write;

use gateward_core::Ordered;
use serde_json::Value;

/// A value of the chart.
pub struct ChartValue {
    /// Its keys, joined by dots.
    pub path: String,
    /// What it is, in a sentence or two; empty for one that is refused.
    description: String,
    /// What becomes of it.
    pub standing: Standing,
}

/// What becomes of a value.
pub enum Standing {
    /// It changes what is installed; its default as JSON, where it has one.
    Used(Option<String>),
    /// It is accepted, and says nothing here, with the reason.
    WithoutEffect(String),
    /// It is refused with a sentence: altogether, or only one setting of it.
    Refused { setting: Option<Value>, sentence: String },
}

/// All values, in the order of the schema.
pub fn all(schema: &Ordered, defaults: &Value) -> Vec<ChartValue> {
    let mut values = Vec::new();
    let definitions = member(schema, "definitions").unwrap_or(&NOTHING);
    collect(&mut values, &Schemas { definitions, defaults }, "", schema);
    values
}

static NOTHING: Ordered = Ordered::Members(Vec::new());

struct Schemas<'a> {
    definitions: &'a Ordered,
    defaults: &'a Value,
}

fn collect(values: &mut Vec<ChartValue>, schemas: &Schemas<'_>, path: &str, schema: &Ordered) {
    let Some(Ordered::Members(properties)) = member(schema, "properties") else { return };
    for (name, property) in properties {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        let description = text(property, "description").unwrap_or_default();
        match schemas.standing(&path, property) {
            Some(standing) => values.push(ChartValue { path, description, standing }),
            None => collect(values, schemas, &path, property),
        }
    }
}

impl Schemas<'_> {
    /// What becomes of one value; `None` for a group of values.
    fn standing(&self, path: &str, property: &Ordered) -> Option<Standing> {
        if let Some(why) = text(property, "x-without-effect") {
            return Some(Standing::WithoutEffect(why));
        }
        if member(property, "description").is_some() {
            return Some(Standing::Used(self.default_of(path)));
        }
        let reference = text(property, "$ref")?;
        let definition = member(self.definitions, reference.rsplit('/').next()?)?;
        let refusal = member(definition, "then").unwrap_or(definition);
        let setting = member(definition, "if").and_then(|condition| scalar(condition, "const")).cloned();
        Some(Standing::Refused { setting, sentence: text(refusal, "const")? })
    }

    fn default_of(&self, path: &str) -> Option<String> {
        let pointer = format!("/{}", path.replace('.', "/"));
        self.defaults.pointer(&pointer).map(Value::to_string)
    }
}

fn member<'a>(object: &'a Ordered, name: &str) -> Option<&'a Ordered> {
    let Ordered::Members(members) = object else { return None };
    members.iter().find(|(member, _)| member == name).map(|(_, value)| value)
}

fn scalar<'a>(object: &'a Ordered, name: &str) -> Option<&'a Value> {
    match member(object, name)? {
        Ordered::Scalar(value) => Some(value),
        _ => None,
    }
}

fn text(object: &Ordered, name: &str) -> Option<String> {
    scalar(object, name)?.as_str().map(str::to_owned)
}

/// Three tables: values with an effect, values without, values that are refused.
pub fn tables(values: &[ChartValue]) -> String {
    let [mut used, mut idle, mut refused] = [
        "| value | default | |\n|---|---|---|\n".to_owned(),
        "| value | | why it has no effect |\n|---|---|---|\n".to_owned(),
        "| value | what the chart says |\n|---|---|\n".to_owned(),
    ];
    for ChartValue { path, description, standing } in values {
        // Writing to a string can't fail.
        let _ = match standing {
            Standing::Used(default) => {
                let default = default.as_ref().map(|default| format!("`{default}`")).unwrap_or_default();
                writeln!(used, "| `{path}` | {default} | {description} |")
            }
            Standing::WithoutEffect(why) => writeln!(idle, "| `{path}` | {description} | {why} |"),
            Standing::Refused { setting, sentence } => {
                let setting = setting.as_ref().map(|setting| format!(": {setting}")).unwrap_or_default();
                writeln!(refused, "| `{path}{setting}` | {sentence} |")
            }
        };
    }
    format!("{used}\n### Without effect here\n\n{idle}\n### Refused\n\n{refused}")
}

/// The values without effect as a template that returns a list.
pub fn without_effect(values: &[ChartValue]) -> String {
    let lines = values.iter().filter_map(|value| match &value.standing {
        Standing::WithoutEffect(why) => Some(format!("- path: {}\n  why: {why}\n", value.path)),
        _ => None,
    });
    let lines: String = lines.collect();
    format!("{{{{- define \"dynamo-operator.withoutEffect\" -}}}}\n{lines}{{{{- end -}}}}\n")
}

/// The values that are refused altogether, as Rust: the operator says so before Helm does.
pub fn removed(values: &[ChartValue]) -> String {
    let lines = values.iter().filter_map(|ChartValue { path, standing, .. }| match standing {
        Standing::Refused { setting: None, sentence } => Some(format!("    ({path:?}, {sentence:?}),\n")),
        _ => None,
    });
    let lines: String = lines.collect();
    format!(
        "//! Values that the chart had once. Generated by `cargo xtask generate chart` from the schema of its values; do \
         not edit.\n\n/// Paths, each with what to do about it.\n#[rustfmt::skip]\npub(super) const REMOVED_VALUES: \
         &[(&str, &str)] = &[\n{lines}];\n"
    )
}

/// The values of the chart around the operator's, which has the same values one level deeper.
pub fn of_the_platform(operator: &str) -> String {
    let indented = operator.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("  {line}\n") });
    let indented: String = indented.collect();
    format!(
        "# Generated by `cargo xtask generate chart` from the operator's own values; do not edit.\ndynamo-operator:\n{indented}"
    )
}
