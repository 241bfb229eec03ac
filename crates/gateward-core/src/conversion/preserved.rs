//! The annotation that keeps what would otherwise be lost between two versions.
//!
//! It has two parts for each version. `known` is what the way there and back would change of what the types know.
//! `unknown` are fields that no type knows, where their place has no counterpart.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::conversion::difference::Difference;
use crate::conversion::preserved_field::PreservedFields;
use crate::conversion::stash::{note_damage_of, read_from};
use crate::rule::issue::Issues;
use crate::wire::envelope::Editable;

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
    /// Takes the annotation `key` away and reads it; damage, and a form that is not known yet, is noted and counts as
    /// absence.
    pub fn take(key: &str, annotations: &mut Editable<'_>, issues: &mut Issues) -> Self {
        // To take from them is to edit them, which copies all of them.
        let text = annotations.contains_key(key).then(|| annotations.remove(key)).flatten();
        let Some(text) = text.filter(|text| !text.is_empty()) else { return Self::default() };
        read_from::<Self>(&text).filter(|preserved| preserved.version <= FORM).unwrap_or_else(|| {
            note_damage_of(key, issues);
            Self::default()
        })
    }

    /// Takes away the differences of a version; damage is noted at the annotation `key` and counts as absence.
    pub fn take_known(&mut self, version: &str, key: &str, issues: &mut Issues) -> Vec<Difference> {
        let Some(known) = self.known.remove(version) else { return Vec::new() };
        serde_json::from_str(known.get()).unwrap_or_else(|_| {
            note_damage_of(key, issues);
            Vec::new()
        })
    }

    /// Keeps the differences of a version.
    pub fn keep_known(&mut self, version: &str, differences: &[Difference]) {
        if !differences.is_empty() {
            self.known.extend(to_raw_value(differences).ok().map(|known| (version.to_owned(), known)));
        }
    }

    /// Writes the annotation `key`, unless it holds nothing.
    pub fn put(self, key: &str, annotations: &mut Editable<'_>) {
        if !self.known.is_empty() || !self.unknown.is_empty() {
            let text = serde_json::to_string(&Self { version: FORM, ..self });
            annotations.extend(text.map(|text| (key.to_owned().into(), text.into())));
        }
    }
}
