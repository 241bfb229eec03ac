//! The annotation that keeps what would otherwise be lost between two versions.
//!
//! It has two parts for each version. `known` belongs to the operator's conversion: what the operator's own stash has no
//! room for. `unknown` belongs to the registry: fields that no type knows, where their place has no
//! counterpart.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::conversion::kept::Waiting;
use crate::conversion::stash::Stash;
use crate::issue::Issues;
use crate::raw::Raw;

/// The annotation.
pub const PRESERVED: Stash = Stash::new("gateward.dev/preserved");

/// The form of the annotation.
const FORM: u32 = 1;

/// What the annotation holds.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Preserved {
    version: u32,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub known: BTreeMap<String, Raw<Value>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub unknown: Waiting,
}

impl Preserved {
    /// Takes the annotation away and reads it; damage, and a form that is not known yet, is noted and counts as
    /// absence.
    pub fn take(annotations: &mut BTreeMap<String, String>, issues: &mut Issues) -> Self {
        let Some(preserved) = PRESERVED.take::<Self>(annotations, issues) else { return Self::default() };
        if preserved.version > FORM {
            PRESERVED.note_damage(issues);
            return Self::default();
        }
        preserved
    }

    /// Writes the annotation, unless it holds nothing.
    pub fn put(self, annotations: &mut BTreeMap<String, String>) {
        if !self.known.is_empty() || !self.unknown.is_empty() {
            PRESERVED.put(annotations, &Self { version: FORM, ..self });
        }
    }
}

/// Takes away and returns what a conversion has kept of `version`.
///
/// ```
/// use std::collections::BTreeMap;
/// use gateward_core::Issues;
/// use gateward_core::conversion::preserved;
/// use serde_json::json;
///
/// let mut annotations = BTreeMap::new();
/// preserved::keep(&mut annotations, "v1", json!({"middleName": "Maria"}), &mut Issues::new());
/// let kept = preserved::take(&mut annotations, "v1", &mut Issues::new());
/// assert_eq!(kept, Some(json!({"middleName": "Maria"})));
/// assert!(annotations.is_empty());
/// ```
pub fn take(annotations: &mut BTreeMap<String, String>, version: &str, issues: &mut Issues) -> Option<Value> {
    let mut preserved = Preserved::take(annotations, issues);
    let kept = preserved.known.remove(version);
    preserved.put(annotations);
    kept?.view().cloned().map_err(|_| PRESERVED.note_damage(issues)).ok()
}

/// Keeps what a conversion found in an object of `version` and has no other room for, until the object is of that
/// version again.
pub fn keep(annotations: &mut BTreeMap<String, String>, version: &str, value: Value, issues: &mut Issues) {
    let mut preserved = Preserved::take(annotations, issues);
    preserved.known.insert(version.to_owned(), value.into());
    preserved.put(annotations);
}
