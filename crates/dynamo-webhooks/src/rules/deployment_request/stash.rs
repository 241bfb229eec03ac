//! What a v1alpha1 object keeps in annotations because its version can't say it.

use dynamo_api::constants::{REQUEST_SPEC_STASH, REQUEST_STATUS_STASH};
use dynamo_api::meta::ObjectMeta;
use gateward::conversion::ANNOTATION_LIMIT;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The part of the v1beta1 spec that the object keeps. What can't be read counts as absent.
pub(super) fn spec(metadata: &ObjectMeta) -> Map<String, Value> {
    let Some(Value::Object(mut members)) = read(metadata, REQUEST_SPEC_STASH) else { return Map::new() };
    match members.remove("spec") {
        Some(Value::Object(spec)) => spec,
        Some(_) => Map::new(),
        // Older stashes are the spec itself, without an envelope.
        None => members,
    }
}

/// The part of the v1beta1 status that the object keeps, as far as rules read it.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Status {
    /// The phase, where it doesn't follow from the state.
    pub phase: String,
    /// The graph that the phase is about.
    pub dgd_name: String,
}

/// See [`Status`]. What can't be read counts as absent.
pub(super) fn status(metadata: &ObjectMeta) -> Option<Status> {
    read(metadata, REQUEST_STATUS_STASH)
}

fn read<T: DeserializeOwned>(metadata: &ObjectMeta, key: &str) -> Option<T> {
    let text = metadata.annotation(key).filter(|text| is_worth_a_tree(text))?;
    serde_json::from_str(text).ok()
}

/// What a tree may take beside six times its text.
const ROOM: usize = 4 << 20;

/// Whether a tree of the text takes no more memory than a user may ask for: annotations are input, and an object of a
/// dozen bytes takes most of a kilobyte as a tree. What stands in texts is counted too; nothing that a conversion keeps
/// comes near.
fn is_worth_a_tree(text: &str) -> bool {
    let cost = text.bytes().map(|byte| match byte {
        b'{' => 700,
        b'[' => 160,
        b',' => 64,
        _ => 0,
    });
    text.len() <= ANNOTATION_LIMIT && cost.sum::<usize>() <= ROOM + 6 * text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_would_be_a_great_tree_counts_as_absent() {
        let kept = |text: String| {
            let annotations = [(REQUEST_SPEC_STASH.to_owned(), text)].into();
            !spec(&ObjectMeta { annotations, ..ObjectMeta::default() }).is_empty()
        };
        let objects = |count: usize| format!(r#"{{"spec": {{"a": [{}0]}}}}"#, r#"{"b":1},"#.repeat(count));
        assert!(kept(objects(5_000)));
        assert!(!kept(objects(10_000)));
        assert!(!kept(format!(r#"{{"spec": {{"a": "{}"}}}}"#, "a".repeat(ANNOTATION_LIMIT))));
    }
}
