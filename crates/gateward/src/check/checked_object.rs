//! What was found about one object.

use std::collections::BTreeSet;

use gateward_core::{DECODE, Decision, FieldPath, Outcome, Severity};
use gateward_lint::schema::VersionSchema;
use serde_json::Value;

use super::finding::Finding;

/// What was found about an object.
pub(super) struct CheckedObject {
    pub found: Vec<Finding>,
    /// The messages of the CEL rules that it may break.
    pub unevaluated: BTreeSet<String>,
    /// The object as it was judged, defaults included.
    pub object: Value,
}

impl CheckedObject {
    /// What a handler said.
    pub(super) fn take_in(&mut self, said: Decision) {
        if let Outcome::Error(why) = &said.outcome {
            self.found.push(Finding::of_webhook(Severity::Error, format!("no verdict: {why}")));
        }
        let denial = said.denial.map(|text| Finding::of_webhook(Severity::Error, text));
        let warnings = said.warnings.into_iter().map(|text| Finding::of_webhook(Severity::Warning, text));
        self.found.extend(denial.into_iter().chain(warnings).chain(said.issues.into_iter().map(Finding::from)));
    }

    /// What defaulting and judging both say is said once, and what the schema says of a node's type in its words.
    pub(super) fn without_repetition(mut self) -> Self {
        let found = std::mem::take(&mut self.found);
        for finding in &found {
            let schema_says_it =
                finding.rule == DECODE.id && found.iter().any(|other| other.is_schema_at(&finding.path));
            if !schema_says_it && !self.found.iter().any(|known| known.repeats(finding)) {
                self.found.push(finding.clone());
            }
        }
        self
    }

    /// The paths as the schema writes them: a reader of JSON can't tell an entry of a map from a member.
    pub(super) fn spelled_by(mut self, schema: Option<&VersionSchema>) -> Self {
        let Some(version) = schema else { return self };
        for finding in &mut self.found {
            finding.path = version.schema.spelled(&finding.path);
            finding.anchor = finding.anchor.as_ref().map(|anchor| version.schema.spelled(anchor));
        }
        self
    }

    /// Whether defaulting put the value at `path` there.
    pub(super) fn was_filled_in(&self, path: &FieldPath, written: &Value) -> bool {
        match (path.find(written), path.find(&self.object)) {
            (None, Some(_)) => true,
            // A node that has members gets further ones; it is the author's all the same.
            (Some(written), Some(judged)) => written != judged && !written.is_object() && !written.is_array(),
            (_, None) => false,
        }
    }
}
