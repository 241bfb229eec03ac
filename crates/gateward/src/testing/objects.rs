//! Arbitrary objects of a kind.

use std::collections::BTreeSet;
use std::sync::Arc;

use gateward_lint::schema::{Schema, SchemaFinding};
use gateward_lint::yaml;
use proptest::strategy::{NewTree, Strategy};
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};

use super::draw::Dice;
use super::node::Reader;
use super::object_schema::ObjectSchema;
use super::shrink::Shrinking;
use super::unknown;
use super::vocabulary::Vocabulary;

/// Arbitrary objects that the schema of a CRD's version admits: spec, status, and metadata as the API server sends it
/// to a conversion webhook. Rules in CEL are not evaluated.
///
/// Panics where the text is no CRD or lacks the version.
///
/// ```
/// use gateward::testing::objects;
/// use proptest::strategy::{Strategy, ValueTree};
/// use proptest::test_runner::TestRunner;
///
/// const CRD: &str = r#"
/// spec:
///   group: example.org
///   names: {kind: Otter}
///   versions:
///   - name: v1
///     schema:
///       openAPIV3Schema:
///         type: object
///         properties:
///           spec: {type: object, required: [den], properties: {den: {type: string, minLength: 1}}}
/// "#;
/// let otter = objects(CRD, "v1").new_tree(&mut TestRunner::default()).unwrap().current();
/// assert_eq!(otter["apiVersion"], "example.org/v1");
/// ```
#[track_caller]
pub fn objects(crd: &str, version: &str) -> Objects {
    CrdDocument::read(crd).objects(version)
}

/// A CRD.
#[derive(Debug, Clone)]
pub(super) struct CrdDocument(Value);

#[allow(clippy::panic, reason = "a test with a text that is no CRD is a mistake of the test")]
impl CrdDocument {
    #[track_caller]
    pub(super) fn read(text: &str) -> Self {
        let source = yaml::read(text);
        match source.documents.into_iter().find(|document| document.value["spec"]["versions"].is_array()) {
            Some(document) => Self(document.value),
            None => panic!("the text is no CRD"),
        }
    }

    pub(super) fn versions(&self) -> Vec<String> {
        let versions = self.0["spec"]["versions"].as_array().into_iter().flatten();
        versions.filter_map(|version| version["name"].as_str()).map(str::to_owned).collect()
    }

    pub(super) fn group(&self) -> &str {
        self.0["spec"]["group"].as_str().unwrap_or_default()
    }

    #[track_caller]
    pub(super) fn objects(&self, version: &str) -> Objects {
        let schema = with_root_members(self.schema(version).clone());
        let mut types = Map::new();
        types.insert("apiVersion".into(), format!("{}/{version}", self.group()).into());
        types.insert("kind".into(), self.0["spec"]["names"]["kind"].clone());
        Objects { types, schema, vocabulary: Vocabulary::default(), strangers: Strangers::None, kind: None }
    }

    #[track_caller]
    fn schema(&self, version: &str) -> &Value {
        let mut versions = self.0["spec"]["versions"].as_array().into_iter().flatten();
        match versions.find(|found| found["name"] == version) {
            Some(found) => &found["schema"]["openAPIV3Schema"],
            None => panic!("the CRD has no version {version}"),
        }
    }

    /// The names of all members of a version.
    pub(super) fn names(&self, version: &str) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        Reader::new(&Vocabulary::default()).node(self.schema(version), 0).names(&mut names);
        names
    }
}

/// The schema with the members of every object's root that it leaves to the API server, as kube's derive does.
fn with_root_members(mut schema: Value) -> Value {
    for (name, of_type) in [("apiVersion", "string"), ("kind", "string"), ("metadata", "object")] {
        if schema["properties"].get(name).is_none() {
            schema["properties"][name] = json!({"type": of_type});
            let said = schema["required"].as_array().cloned().unwrap_or_default();
            schema["required"] = said.into_iter().chain([name.into()]).collect();
        }
    }
    schema
}

/// A strategy for objects of one version of a kind; made by [`objects`].
#[derive(Debug, Clone)]
pub struct Objects {
    types: Map<String, Value>,
    schema: Value,
    vocabulary: Vocabulary,
    strangers: Strangers,
    kind: Option<Arc<ObjectSchema>>,
}

/// Members that the schema doesn't know.
#[derive(Debug, Clone)]
enum Strangers {
    None,
    /// With these names.
    Named(Vec<String>),
}

impl Objects {
    /// These words more are likely strings and names.
    pub fn words(mut self, words: &[&str]) -> Self {
        // As likely as all others together.
        for _ in 0..(self.vocabulary.words.len() / words.len().max(1)).max(1) {
            self.vocabulary.words.extend(words.iter().map(|word| Value::from(*word)));
        }
        self.reworked()
    }

    /// Members of these names are there half of the time, however many others their object may have.
    pub fn often(mut self, names: &[&str]) -> Self {
        self.vocabulary.often.extend(names.iter().map(|name| (*name).to_owned()));
        self.reworked()
    }

    /// Members of this name are drawn from this schema, wherever it is of the type that the CRD says. An `enum` gives
    /// likely values, of which those are left out that the CRD doesn't admit.
    pub fn member(mut self, name: &str, schema: Value) -> Self {
        self.vocabulary.members.insert(name.to_owned(), schema);
        self.reworked()
    }

    /// Objects get members of these names that the schema doesn't know, at every level.
    pub fn with_unknown_fields(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.strangers = Strangers::Named(names.into_iter().collect());
        self
    }

    /// What the API server would refuse of an object.
    #[allow(clippy::missing_panics_doc, reason = "a schema that can't be compiled is a mistake of the test")]
    pub fn refusals(&self, object: &Value) -> Vec<SchemaFinding> {
        self.kind().schema.validate(object)
    }

    /// Takes out of an object what the schema doesn't know.
    pub fn prune(&self, object: &mut Value) {
        self.kind().node.prune(object);
    }

    fn reworked(mut self) -> Self {
        self.kind = None;
        self
    }

    /// The same, with what is to be known of the schema worked out, so that a clone needn't.
    pub fn ready(mut self) -> Self {
        self.kind = Some(self.kind());
        self
    }

    #[allow(clippy::panic, reason = "a schema that can't be compiled is a mistake of the test")]
    pub(super) fn kind(&self) -> Arc<ObjectSchema> {
        if let Some(kind) = &self.kind {
            return Arc::clone(kind);
        }
        let schema = Schema::compile(&self.schema).unwrap_or_else(|error| panic!("{error}"));
        Arc::new(ObjectSchema { node: Reader::new(&self.vocabulary).node(&self.schema, 0), schema })
    }

    fn draw(&self, kind: &ObjectSchema, dice: &mut Dice) -> Value {
        let Value::Object(mut object) = dice.value(&kind.node) else { return Value::Null };
        object.extend(self.types.clone());
        object.insert("metadata".into(), metadata(dice));
        let mut object = Value::Object(object);
        if let Strangers::Named(names) = &self.strangers {
            unknown::inject(&kind.node, &mut object, names, dice);
        }
        object
    }
}

impl Strategy for Objects {
    type Tree = Shrinking;
    type Value = Value;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let kind = self.kind();
        let object = self.draw(&kind, &mut Dice::new(runner.rng(), &self.vocabulary.words));
        Ok(Shrinking::new(kind, object))
    }
}

/// As server-side apply or as the store sends it.
fn metadata(dice: &mut Dice) -> Value {
    if dice.one_in(16) {
        return json!({});
    }
    let mut metadata = json!({"name": "otter", "namespace": "tidepool"});
    let more = [
        ("uid", json!("1c9f2d5e-0000-4000-8000-000000000001")),
        ("resourceVersion", json!("4711")),
        ("generation", json!(7)),
        ("creationTimestamp", json!("2025-03-04T05:06:07Z")),
        ("deletionTimestamp", json!("2025-03-04T06:07:08Z")),
        ("finalizers", json!(["example.org/hold"])),
        ("ownerReferences", json!([{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u", "controller": true}])),
        ("labels", json!({"app": "otter", "example.org/tier": ""})),
        ("annotations", json!({"example.org/note": "{\"a\": 1}", "keep": "\u{e9}"})),
        (
            "managedFields",
            json!([{"manager": "kubectl", "operation": "Apply", "apiVersion": "example.org/v1", "time": "2025-03-04T05:06:07Z",
                "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:replicas": {}, ".": {}}}}]),
        ),
    ];
    for (name, value) in more {
        if dice.one_in(3) {
            metadata[name] = value;
        }
    }
    metadata
}
