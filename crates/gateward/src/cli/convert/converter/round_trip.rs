//! There and back: which fields don't mean what they did.

use std::fmt;

use gateward_lint::schema::SchemaDifference;
use serde_json::Value;

use super::remark::Remark;

/// A field that a round trip changes.
#[derive(Debug)]
pub(crate) struct Change {
    pub(super) remark: Remark,
    pub(super) via: String,
    pub(super) difference: SchemaDifference,
}

/// What happens on the way to `via` and back, as a sentence without its subject.
pub(super) fn said(difference: &SchemaDifference, via: &str) -> String {
    let what = match (&difference.before, &difference.after) {
        (_, None) => "is lost".to_owned(),
        (None, Some(after)) => shown(after).map_or("appears".to_owned(), |after| format!("appears as {after}")),
        (Some(before), Some(after)) => match (shown(before), shown(after)) {
            (Some(before), Some(after)) => format!("{before} becomes {after}"),
            _ => "changes".to_owned(),
        },
    };
    format!("{what} on the way to {via} and back")
}

impl Change {
    /// The same for scripts.
    pub(crate) fn json(&self) -> Value {
        let SchemaDifference { before, after, .. } = &self.difference;
        let change = match (before, after) {
            (_, None) => "lost",
            (None, _) => "added",
            _ => "changed",
        };
        let mut json = self.remark.json();
        json["via"] = self.via.clone().into();
        json["change"] = change.into();
        for (name, value) in [("before", before), ("after", after)] {
            if let Some(value) = value {
                json[name] = value.clone();
            }
        }
        json
    }
}

/// One line for people.
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.remark.fmt(f)
    }
}

/// Scalars that fit on a line.
fn shown(value: &Value) -> Option<String> {
    let scalar = !(value.is_object() || value.is_array());
    Some(value.to_string()).filter(|text| scalar && text.chars().count() <= 60)
}
