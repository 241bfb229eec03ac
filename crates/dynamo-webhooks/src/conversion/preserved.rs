//! The annotations in which the Go operator's conversion preserves fields, in its format.
//!
//! The annotation of the spec holds `{"version": 1, "spec": …, "rawJSON": […]}`, with a sparse spec of the version that
//! the object was converted from; an object without `spec` is such a spec itself, in the oldest format. The annotation of
//! the status holds a sparse status without an envelope.

use std::collections::BTreeMap;

use dynamo_api::constants::{
    COMPONENT_SPEC_STASH, COMPONENT_STATUS_STASH, GRAPH_SPEC_STASH, GRAPH_STATUS_STASH, REQUEST_SPEC_STASH,
    REQUEST_STATUS_STASH,
};
use dynamo_api::meta::ObjectMeta;
use gateward::conversion::ANNOTATION_LIMIT;
use gateward::{Issues, Stash};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

/// The annotations of one kind, used in both directions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConversionAnnotations {
    /// Preserves fields of the spec.
    pub spec: Stash,
    /// Preserves fields of the status.
    pub status: Stash,
}

/// The keys of the annotations of DynamoGraphDeployment.
pub(super) const GRAPH_KEYS: [&str; 2] = [GRAPH_SPEC_STASH, GRAPH_STATUS_STASH];

/// The keys of the annotations of DynamoComponentDeployment.
pub(super) const COMPONENT_KEYS: [&str; 2] = [COMPONENT_SPEC_STASH, COMPONENT_STATUS_STASH];

/// The keys of the annotations of DynamoGraphDeploymentRequest.
pub(super) const REQUEST_KEYS: [&str; 2] = [REQUEST_SPEC_STASH, REQUEST_STATUS_STASH];

/// The annotations of DynamoGraphDeployment.
pub(crate) const GRAPH_ANNOTATIONS: ConversionAnnotations =
    ConversionAnnotations { spec: Stash::new(GRAPH_SPEC_STASH), status: Stash::new(GRAPH_STATUS_STASH) };

/// The annotations of DynamoComponentDeployment.
pub(crate) const COMPONENT_ANNOTATIONS: ConversionAnnotations =
    ConversionAnnotations { spec: Stash::new(COMPONENT_SPEC_STASH), status: Stash::new(COMPONENT_STATUS_STASH) };

/// The annotations of DynamoGraphDeploymentRequest.
pub(crate) const REQUEST_ANNOTATIONS: ConversionAnnotations =
    ConversionAnnotations { spec: Stash::new(REQUEST_SPEC_STASH), status: Stash::new(REQUEST_STATUS_STASH) };

impl ConversionAnnotations {
    /// Whether an object has been converted before: one of the two isn't empty, readable or not.
    pub fn any_present(&self, annotations: &BTreeMap<String, String>) -> bool {
        [self.spec, self.status].iter().any(|stash| is_present(stash, annotations))
    }

    /// The metadata without the two, and what they preserve of a spec.
    pub(super) fn taken_from<S: DeserializeOwned>(
        &self,
        metadata: &ObjectMeta,
        issues: &mut Issues,
    ) -> (ObjectMeta, Option<PreservedSpec<S>>) {
        let mut metadata = metadata.clone();
        let preserved = PreservedSpec::take(self.spec, &mut metadata.annotations, issues);
        metadata.annotations.remove(self.status.annotation());
        (metadata, preserved)
    }
}

/// Whether the annotation is there and isn't empty, readable or not.
pub(crate) fn is_present(stash: &Stash, annotations: &BTreeMap<String, String>) -> bool {
    annotations.get(stash.annotation()).is_some_and(|text| !text.is_empty())
}

/// The preserved fields of a spec `S`, read from its annotation.
#[derive(Debug)]
pub(super) struct PreservedSpec<S> {
    /// The sparse spec, as `S` reads it.
    pub spec: S,
    /// The same as JSON.
    pub sparse: Map<String, Value>,
    nil: Vec<String>,
}

impl<S> PreservedSpec<S> {
    /// Whether the value at this path was nil.
    pub fn is_nil(&self, path: &str) -> bool {
        self.nil.iter().any(|recorded| recorded == path)
    }
}

impl<S: DeserializeOwned> PreservedSpec<S> {
    /// Removes the annotation and reads it. A wrong JSON type anywhere makes all of it unreadable.
    pub fn take(stash: Stash, annotations: &mut BTreeMap<String, String>, issues: &mut Issues) -> Option<Self> {
        let envelope: Envelope<Box<RawValue>> = Envelope::take(stash, annotations, issues)?;
        let text = envelope.spec.as_deref().map_or("{}", RawValue::get);
        let (Some(spec), Ok(sparse)) = (Stash::part(text), serde_json::from_str(text)) else {
            stash.note_damage(issues);
            return None;
        };
        let nil = envelope.raw_json.into_iter().flatten().filter(|record| record.nil == Some(true));
        Some(Self { spec, sparse, nil: nil.filter_map(|record| record.path).collect() })
    }
}

/// The annotation of a spec. Its members must have the right JSON types even if they aren't read.
#[derive(Debug, Serialize)]
pub(super) struct Envelope<S> {
    version: Option<i64>,
    /// The sparse spec.
    pub spec: Option<S>,
    #[serde(rename = "rawJSON", skip_serializing_if = "Option::is_none")]
    raw_json: Option<Vec<RawJsonRecord>>,
}

/// A value that plain JSON can't represent. Both versions can represent the values that the Go operator records here, so
/// only the nil paths are read.
#[derive(Debug, Serialize, Deserialize)]
struct RawJsonRecord {
    path: Option<String>,
    #[serde(rename = "raw", skip_serializing)]
    _raw: Option<String>,
    nil: Option<bool>,
}

impl<S> Envelope<S> {
    /// The envelope of a sparse spec.
    pub const fn of(spec: S) -> Self {
        Self { version: Some(1), spec: Some(spec), raw_json: None }
    }

    /// The envelope with the record that the value at this path is nil.
    pub fn with_nil(self, path: &str) -> Self {
        let record = RawJsonRecord { path: Some(path.to_owned()), nil: Some(true), _raw: None };
        Self { raw_json: Some(vec![record]), ..self }
    }
}

impl<S: Serialize> Envelope<S> {
    /// Writes the annotation.
    pub fn put(self, stash: Stash, annotations: &mut BTreeMap<String, String>) {
        stash.put(annotations, &self);
    }
}

impl<S: DeserializeOwned> Envelope<S> {
    /// Removes the annotation and reads it. The members stay text until their type is known: free-form JSON may nest more
    /// deeply than can be parsed.
    pub fn take(stash: Stash, annotations: &mut BTreeMap<String, String>, issues: &mut Issues) -> Option<Self> {
        let members: BTreeMap<String, Box<RawValue>> = stash.take(annotations, issues)?;
        let envelope = Self::read(&members);
        if envelope.is_none() {
            stash.note_damage(issues);
        }
        envelope
    }

    fn read(members: &BTreeMap<String, Box<RawValue>>) -> Option<Self> {
        let text = |name: &str| members.get(name).map_or("null", |text| text.get());
        if !members.contains_key("spec") {
            return Stash::part(&serde_json::to_string(members).ok()?).map(Self::of);
        }
        Some(Self {
            version: Stash::part(text("version"))?,
            spec: Stash::part(text("spec"))?,
            raw_json: Stash::part(text("rawJSON"))?,
        })
    }
}

/// The preserved fields of one component, each as text.
pub(super) type Entry = BTreeMap<String, Box<RawValue>>;

/// Fields as texts.
pub(super) fn entry(fields: Map<String, Value>) -> Entry {
    fields.into_iter().map(|(name, field)| (name, raw(&field))).collect()
}

/// A part as text. What has texts as keys always writes as JSON.
pub(super) fn raw(part: &(impl Serialize + ?Sized)) -> Box<RawValue> {
    to_raw_value(part).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// The JSON of a value of which only the fields to preserve are set. Text that is too large for an annotation stays one
/// text: it is left out anyway, and isn't worth a tree.
pub(super) fn sparse(value: &impl Serialize) -> Map<String, Value> {
    let Ok(text) = serde_json::to_string(value) else { return Map::new() };
    if text.len() > ANNOTATION_LIMIT {
        return Map::from_iter([("tooLarge".to_owned(), text.into())]);
    }
    serde_json::from_str(&text).unwrap_or_default()
}

/// The object at this member.
pub(super) fn object<'a>(members: &'a Map<String, Value>, name: &str) -> Option<&'a Map<String, Value>> {
    members.get(name)?.as_object()
}

#[cfg(test)]
mod tests {
    use dynamo_api::v1alpha1::DynamoGraphDeploymentSpec;
    use serde_json::json;

    use super::*;

    /// The preserved fields, and whether damage was noted.
    fn read(text: &str) -> (Option<PreservedSpec<DynamoGraphDeploymentSpec>>, bool) {
        let mut annotations = BTreeMap::from([(GRAPH_ANNOTATIONS.spec.annotation().to_owned(), text.to_owned())]);
        let mut issues = Issues::new();
        let envelope = PreservedSpec::take(GRAPH_ANNOTATIONS.spec, &mut annotations, &mut issues);
        assert!(annotations.is_empty(), "{text}");
        (envelope, !issues.is_empty())
    }

    #[test]
    fn the_version_is_not_checked_and_unknown_members_are_ignored() {
        for text in [
            r#"{"version": 7, "spec": {"pvcs": [{"name": "a"}], "novel": 1}, "more": 1}"#,
            r#"{"spec": {"pvcs": [{"name": "a"}]}}"#,
        ] {
            let (envelope, damaged) = read(text);
            assert_eq!(envelope.unwrap().spec.pvcs[0].name.as_deref(), Some("a"), "{text}");
            assert!(!damaged, "{text}");
        }
    }

    #[test]
    fn an_object_without_a_spec_is_a_bare_spec_of_old() {
        let (envelope, _) = read(r#"{"services": {"w": {"serviceName": "legacy"}}}"#);
        assert_eq!(envelope.unwrap().sparse["services"]["w"]["serviceName"], "legacy");
        assert!(read("{}").0.is_some());
    }

    #[test]
    fn wrong_types_inside_make_all_of_it_unreadable() {
        for text in [
            "[]",
            "null",
            "7",
            r#"{"version": "one", "spec": {}}"#,
            r#"{"spec": []}"#,
            r#"{"spec": {"services": 5}}"#,
            r#"{"spec": {"services": {"w": {"serviceName": 5}}}}"#,
            r#"{"spec": {}, "rawJSON": {}}"#,
        ] {
            let (envelope, damaged) = read(text);
            assert!(envelope.is_none() && damaged, "{text}");
        }
    }

    #[test]
    fn an_empty_annotation_is_absent() {
        let (envelope, damaged) = read("");
        assert!(envelope.is_none() && !damaged);
    }

    #[test]
    fn paths_at_which_nothing_stood_are_told() {
        let (envelope, _) =
            read(r#"{"spec": null, "rawJSON": [{"path": "a", "nil": true}, {"path": "b", "raw": "eA=="}]}"#);
        let envelope = envelope.unwrap();
        assert!(envelope.is_nil("a") && !envelope.is_nil("b"));
    }

    #[test]
    fn a_remainder_is_written_in_its_envelope() {
        let mut annotations = BTreeMap::new();
        let remainder = Envelope::of(sparse(&json!({"pvcs": []}))).with_nil("serviceName");
        remainder.put(GRAPH_ANNOTATIONS.spec, &mut annotations);
        let written: Value = serde_json::from_str(&annotations["nvidia.com/dgd-spec"]).unwrap();
        let expected = json!({"version": 1, "spec": {"pvcs": []}, "rawJSON": [{"path": "serviceName", "nil": true}]});
        assert_eq!(written, expected);
    }
}
