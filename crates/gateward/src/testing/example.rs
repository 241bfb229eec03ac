//! An example of the catalogue: an object, and what else its rule looks at.

use gateward_core::{GroupVersionKind, Operation, Rule};
use gateward_lint::yaml;
use serde::Deserialize;
use serde_json::Value;

/// One document of YAML, as [`Rule::bad`] and [`Rule::good`] hold it.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RuleExample {
    pub object: Value,
    pub old: Value,
    pub facts: Value,
    pub user: Option<String>,
}

impl RuleExample {
    pub fn read(text: &str) -> Result<Self, String> {
        let source = yaml::read(text);
        if let Some(finding) = source.findings.first() {
            let (line, column) = (finding.span.line(), finding.span.column());
            return Err(format!("is no plain YAML: line {line}, column {column}: {}", finding.message));
        }
        let [document] = source.documents.as_slice() else {
            return Err(format!("holds {} documents; write one", source.documents.len()));
        };
        let example = Self::deserialize(&document.value)
            .map_err(|error| format!("can't be read: {error}; the object stands below `object:`"))?;
        if example.object.is_null() && example.old.is_null() {
            return Err("is about nothing; write an object below `object:`, or below `old:` if it is deleted".into());
        }
        Ok(example)
    }

    /// What its rule is shown: a connection only where the rule knows nothing else that has no stored object.
    pub fn operation(&self, rule: &Rule) -> Operation {
        let connects = rule.operations.contains(&Operation::Connect) && !rule.operations.contains(&Operation::Create);
        match (self.old.is_null(), self.object.is_null()) {
            (true, _) if connects => Operation::Connect,
            (true, _) => Operation::Create,
            (false, false) => Operation::Update,
            (false, true) => Operation::Delete,
        }
    }

    fn gvk(&self) -> GroupVersionKind {
        let about = if self.object.is_null() { &self.old } else { &self.object };
        let text = |member: &str| about[member].as_str().unwrap_or_default();
        GroupVersionKind::of(text("apiVersion"), text("kind"))
    }

    /// Whether the rule says of itself that it judges this.
    pub fn is_of(&self, rule: &Rule) -> Result<(), String> {
        let (gvk, operation) = (self.gvk(), self.operation(rule));
        let lists = |listed: &[&str], name: &str| listed.is_empty() || listed.contains(&name);
        if !lists(rule.kinds, &gvk.kind) || !lists(rule.versions, &gvk.version) {
            let (kinds, versions) = (rule.kinds.join(", "), rule.versions.join(", "));
            return Err(format!("is about {gvk}, and the rule is for {kinds} in {versions}"));
        }
        if !rule.operations.contains(&operation) {
            let operations: Vec<&str> = rule.operations.iter().map(|known| known.as_str()).collect();
            return Err(format!("is about {operation}, and the rule is for {}", operations.join(", ")));
        }
        Ok(())
    }
}
