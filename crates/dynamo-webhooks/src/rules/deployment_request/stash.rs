//! What a v1alpha1 object keeps in annotations because its version can't say it.

use std::collections::BTreeMap;

use dynamo_api::meta::ObjectMeta;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::conversion::preserved::REQUEST_ANNOTATIONS;

/// The part of the v1beta1 spec that the object keeps. What can't be read counts as absent.
pub(super) fn spec(metadata: &ObjectMeta) -> Map<String, Value> {
    let Some(mut members) = REQUEST_ANNOTATIONS.spec.get::<Map<_, _>>(&metadata.annotations) else { return Map::new() };
    match members.remove("spec") {
        Some(Value::Object(spec)) => spec,
        Some(_) => Map::new(),
        // Older stashes are the spec itself, without an envelope.
        None => members,
    }
}

/// What core keeps of the v1beta1 object: differences, and fields that no version knows.
///
/// They are compared as text: no tree of them is made, which could take many times as much.
pub(super) fn of_core(metadata: &ObjectMeta) -> [Option<String>; 2] {
    let text = metadata.annotations.get(PRESERVED);
    let Preserved { known, unknown } = text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    [known, unknown].map(|of| of.get("v1beta1").map(|kept| kept.get().to_owned()))
}

/// `ConversionKeys::preserved` of our prefix.
const PRESERVED: &str = "gateward.dev/preserved";

/// The annotation, as far as rules read it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Preserved {
    known: BTreeMap<String, Box<RawValue>>,
    unknown: BTreeMap<String, Box<RawValue>>,
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
    REQUEST_ANNOTATIONS.status.get(&metadata.annotations)
}
