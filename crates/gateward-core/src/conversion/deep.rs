//! Objects that nest more deeply than an API server reads an answer.

use crate::conversion::serialized::Serialized;
use crate::json::members::each_member;
use crate::json::shallow::{nesting_at_most, nests_at_most};
use crate::rule::INCOMPLETE;
use crate::rule::field::FieldPath;
use crate::rule::issue::Issues;

/// Go reads 10,000 levels. The review takes three of them, so an object that was stored may be too deep to come back.
const MAX_DEPTH: usize = 10_000 - 3;

/// The members that nest too deeply below the object, with a note each.
pub(super) fn deep_members(written: &Serialized, issues: &mut Issues) -> Vec<FieldPath> {
    let mut deep = Vec::new();
    if nests_at_most(MAX_DEPTH - 1, &written.members) {
        return deep;
    }
    let members = format!("{{{}}}", written.members.trim_start_matches(','));
    let _ = each_member(&members, |name, text| {
        if !nests_at_most(MAX_DEPTH - 1, text.get()) {
            deep.push(FieldPath::field(name.into_owned()));
        }
    });
    issues
        .extend(deep.iter().map(|path| INCOMPLETE.note(path.clone(), "it nests so deeply that no answer can hold it")));
    deep
}

/// The object as an answer can hold it. What is lost of the metadata, such as the paths of managed fields, the API server
/// puts back: of a converted object it takes labels and annotations alone.
pub(super) fn answerable(json: String) -> String {
    if nests_at_most(MAX_DEPTH, &json) {
        return json;
    }
    nesting_at_most(MAX_DEPTH, &json).into_owned()
}
