//! The annotation that keeps what would otherwise be lost between two versions.
//!
//! It has two parts for each version. `known` is what the way there and back would change of what the types know.
//! `unknown` are fields that no type knows, where their place has no counterpart.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::conversion::difference::Difference;
use crate::conversion::preserved_field::PreservedFields;
use crate::conversion::stash::Stash;
use crate::rule::issue::Issues;

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
    known: BTreeMap<String, Box<RawValue>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub unknown: PreservedFields,
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

    /// Takes away the differences of a version; damage is noted and counts as absence.
    pub fn take_known(&mut self, version: &str, issues: &mut Issues) -> Vec<Difference> {
        let Some(known) = self.known.remove(version) else { return Vec::new() };
        serde_json::from_str(known.get()).unwrap_or_else(|_| {
            PRESERVED.note_damage(issues);
            Vec::new()
        })
    }

    /// Keeps the differences of a version.
    pub fn keep_known(&mut self, version: &str, differences: &[Difference]) {
        if !differences.is_empty() {
            self.known.extend(to_raw_value(differences).ok().map(|known| (version.to_owned(), known)));
        }
    }

    /// Writes the annotation, unless it holds nothing.
    pub fn put(self, annotations: &mut BTreeMap<String, String>) {
        if !self.known.is_empty() || !self.unknown.is_empty() {
            PRESERVED.put(annotations, &Self { version: FORM, ..self });
        }
    }
}
