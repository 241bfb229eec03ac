//! Annotations of conversion in the hands of somebody who knows their form.
//!
//! Whatever they say: conversion succeeds, what is judged is what is stored, a schema that held goes on holding, and
//! metadata and status are not theirs.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use dynamo_api::crds::{self, CrdFile};
use dynamo_api::{v1alpha1, v1beta1};
use gateward::conversion::{Strictness, StructuralSchemas};
use gateward::testing::block_on;
use gateward::testing::objects;
use gateward::{Context, FieldPath, Request, Resource, Validator, Verdict, Webhook, Webhooks, handler};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::conversion::schemas::CrdSchemas;
use crate::conversion::{ComponentConversion, DeploymentRequestConversion, GraphConversion};

const PRESERVED: &str = "gateward.dev/preserved";
const INCOMPLETE: &str = "gateward.dev/incomplete";

/// A kind whose objects are drawn.
#[derive(Debug, Clone, Copy)]
struct Drawn {
    crd: CrdFile,
    schemas: CrdSchemas,
    stashes: [&'static str; 2],
}

const GRAPH: Drawn = Drawn {
    crd: crds::GRAPH_DEPLOYMENT,
    schemas: CrdSchemas::Graph,
    stashes: ["nvidia.com/dgd-spec", "nvidia.com/dgd-status"],
};
const COMPONENT: Drawn = Drawn {
    crd: crds::COMPONENT_DEPLOYMENT,
    schemas: CrdSchemas::Component,
    stashes: ["nvidia.com/dcd-spec", "nvidia.com/dcd-status"],
};
const REQUEST: Drawn = Drawn {
    crd: crds::GRAPH_DEPLOYMENT_REQUEST,
    schemas: CrdSchemas::DeploymentRequest,
    stashes: ["nvidia.com/dgdr-spec", "nvidia.com/dgdr-status"],
};

/// Keeps the object that it is asked to judge.
#[derive(Clone, Default)]
struct Judged(Arc<Mutex<Option<Value>>>);

#[handler]
impl<H: Resource> Validator<H> for Judged {
    async fn create(&self, new: &H, _: &Request) -> Verdict {
        *self.0.lock().unwrap() = serde_json::to_value(new).ok();
        Verdict::allow()
    }
}

impl Drawn {
    fn webhooks(&self, judged: &Judged) -> Webhooks {
        let webhooks = Webhooks::new().with_annotation_prefix("gateward.dev");
        match self.schemas {
            CrdSchemas::Component => webhooks.register(
                Webhook::<v1beta1::DynamoComponentDeployment>::new()
                    .spoke::<v1alpha1::DynamoComponentDeployment>(ComponentConversion)
                    .schemas(self.schemas)
                    .validator(judged.clone()),
            ),
            CrdSchemas::DeploymentRequest => webhooks.register(
                Webhook::<v1beta1::DynamoGraphDeploymentRequest>::new()
                    .spoke::<v1alpha1::DynamoGraphDeploymentRequest>(DeploymentRequestConversion)
                    .schemas(self.schemas)
                    .validator(judged.clone()),
            ),
            CrdSchemas::Graph | CrdSchemas::ScalingAdapter => webhooks.register(
                Webhook::<v1beta1::DynamoGraphDeployment>::new()
                    .spoke::<v1alpha1::DynamoGraphDeployment>(GraphConversion)
                    .schemas(self.schemas)
                    .validator(judged.clone()),
            ),
        }
    }

    /// What the hub's validators are shown of a v1alpha1 object.
    fn judged(&self, object: &Value) -> Value {
        let judged = Judged::default();
        let webhooks = self.webhooks(&judged);
        let kind = json!({"group": "nvidia.com", "version": "v1alpha1", "kind": self.crd.kind});
        let request = json!({"uid": "u", "operation": "CREATE", "kind": kind, "object": object, "name": "otter", "namespace": "tidepool", "userInfo": {}});
        let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request});
        let context = Context::new(SystemTime::UNIX_EPOCH, Arc::new(()));
        let path = webhooks.paths().next().unwrap().0.to_owned();
        let answer = block_on(webhooks.handle(&path, review.to_string().as_bytes(), &context));
        let judged = judged.0.lock().unwrap().take();
        judged.unwrap_or_else(|| panic!("{} {}", answer.status, String::from_utf8_lossy(&answer.body)))
    }

    fn converted(&self, object: &Value, version: &str) -> Value {
        let converted =
            self.webhooks(&Judged::default()).convert(&object.to_string(), &format!("nvidia.com/{version}"));
        serde_json::from_str(&converted.unwrap().json).unwrap()
    }

    fn violations(&self, version: &str, object: &Value) -> BTreeSet<FieldPath> {
        self.schemas.violations(version, object, Strictness::Values).into_iter().collect()
    }

    /// What a type of the hub's reads of an object and writes again.
    fn typed(&self, object: &Value) -> Value {
        fn typed<T: Resource>(object: &Value) -> Value {
            serde_json::to_value(serde_json::from_str::<T>(&object.to_string()).unwrap()).unwrap()
        }
        match self.schemas {
            CrdSchemas::Component => typed::<v1beta1::DynamoComponentDeployment>(object),
            CrdSchemas::DeploymentRequest => typed::<v1beta1::DynamoGraphDeploymentRequest>(object),
            CrdSchemas::Graph | CrdSchemas::ScalingAdapter => typed::<v1beta1::DynamoGraphDeployment>(object),
        }
    }
}

fn without(object: &Value, keys: &[&str]) -> Value {
    let mut object = object.clone();
    if let Some(Value::Object(annotations)) = object.pointer_mut("/metadata/annotations") {
        annotations.retain(|key, _| !keys.contains(&key.as_str()));
    }
    object
}

/// All that must hold of an object, whatever its annotations.
fn holds(kind: &Drawn, object: &Value, through: &str) -> Result<(), TestCaseError> {
    let there = kind.converted(object, through);
    prop_assert!(there["metadata"]["labels"].get(INCOMPLETE).is_none(), "{}\n{}", object, there);
    let stashes: Vec<&str> = kind.stashes.into_iter().chain([PRESERVED]).collect();
    let plain = kind.converted(&without(object, &stashes), through);
    let (found, allowed) = (kind.violations(through, &there), kind.violations(through, &plain));
    prop_assert!(found.is_subset(&allowed), "breaks the schema at {:?}\n{}\n{}", found, object, there);
    let unkept = |object: &Value| {
        let mut metadata = without(object, &stashes)["metadata"].clone();
        metadata.as_object_mut().unwrap().retain(|_, value| *value != json!({}));
        metadata
    };
    prop_assert_eq!(unkept(&there), unkept(object));
    let without_ours = kind.converted(&without(object, &[PRESERVED]), through);
    prop_assert_eq!(&there["status"], &without_ours["status"], "{}", object);
    if through == "v1beta1" {
        prop_assert_eq!(kind.judged(object), kind.typed(&there), "judged is stored: {}", object);
    }
    kind.converted(&there, if through == "v1beta1" { "v1alpha1" } else { "v1beta1" });
    Ok(())
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        Just(json!(2_147_483_648_u64)),
        Just(json!("abc")),
        Just(json!("")),
        Just(json!({})),
        Just(json!([])),
        Just(json!([{"name": "main", "image": 5}])),
        Just(json!({"enabled": true})),
        Just(json!({"a": {"b": [1]}})),
    ]
}

const NAMES: [&str; 24] = [
    "spec",
    "status",
    "metadata",
    "components",
    "services",
    "minAvailable",
    "multinode",
    "restart",
    "replicas",
    "podTemplate",
    "containers",
    "extraPodSpec",
    "mainContainer",
    "envs",
    "name",
    "hardware",
    "workload",
    "sla",
    "searchStrategy",
    "overrides",
    "experimental",
    "scalingAdapter",
    "novel",
    "image",
];

fn step() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => prop::sample::select(&NAMES[..]).prop_map(Value::from),
        1 => (0..3_u32).prop_map(Value::from),
        1 => Just(json!({"name": "w"})),
        1 => Just(json!(u64::MAX)),
        1 => Just(json!(-1)),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Value>> {
    prop_oneof![
        8 => prop::collection::vec(step(), 0..6),
        1 => prop::collection::vec(Just(json!("x")), 200..201),
    ]
}

/// Entries of the part of the annotation that keeps unknown fields.
fn unknown() -> impl Strategy<Value = Value> {
    let hollow = prop_oneof![Just(json!(null)), (0..8_u64).prop_map(Value::from), Just(json!(u64::MAX))];
    let entry = (steps(), hollow, scalar()).prop_map(|(path, hollow, value)| {
        let mut entry = json!({"path": path, "value": value});
        if !hollow.is_null() {
            entry["hollow"] = hollow;
        }
        entry
    });
    prop::collection::vec(entry, 0..4).prop_map(Value::from)
}

/// Where in the result a difference is claimed to be, and what was there.
#[derive(Debug, Clone)]
struct Claim {
    /// Which member or item to step into.
    at: Vec<prop::sample::Index>,
    /// Steps below that, which may lead nowhere.
    below: Vec<Value>,
    /// What is claimed to come back, where that isn't what does.
    reads: Option<Value>,
    was: Option<Value>,
}

fn claims() -> impl Strategy<Value = Vec<Claim>> {
    let at = prop::collection::vec(any::<prop::sample::Index>(), 0..7);
    let below = prop_oneof![4 => Just(Vec::new()), 1 => prop::collection::vec(step(), 1..3), 1 => steps()];
    let reads = prop_oneof![4 => Just(None), 1 => scalar().prop_map(Some)];
    let claim = (at, below, reads, prop::option::of(scalar()));
    prop::collection::vec(claim.prop_map(|(at, below, reads, was)| Claim { at, below, reads, was }), 0..4)
}

impl Claim {
    /// The entry of the annotation, on an object that is converted to `plain` without it.
    fn on(&self, plain: &Value) -> Value {
        let (mut live, mut path) = (&plain["spec"], vec![json!("spec")]);
        for index in &self.at {
            let (step, below) = match live {
                Value::Object(members) if !members.is_empty() => {
                    let (name, below) = members.iter().nth(index.index(members.len())).unwrap();
                    (json!(name), below)
                }
                Value::Array(items) if !items.is_empty() => {
                    let index = index.index(items.len());
                    (json!(index), &items[index])
                }
                _ => break,
            };
            path.push(step);
            live = below;
        }
        for step in &self.below {
            path.push(step.clone());
            live = step.as_str().map_or(&Value::Null, |name| &live[name]);
        }
        let mut entry = json!({"path": path, "reads": self.reads.as_ref().unwrap_or(live)});
        if let Some(was) = &self.was {
            entry["was"] = was.clone();
        }
        entry
    }
}

/// The annotation, with differences whose readings fit the object.
fn preserved(kind: &Drawn, object: &Value, version: &str, unknown: &Value, claims: &[Claim]) -> String {
    let plain = kind.converted(object, version);
    let known: Vec<Value> = claims.iter().map(|claim| claim.on(&plain)).collect();
    json!({"version": 1, "known": {version: known}, "unknown": {version: unknown}}).to_string()
}

/// Which annotations of conversion an object has.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kept {
    /// None: it is judged the cheaper way, if it is small.
    Nothing,
    Ours,
    Operators,
    OursAndOperators,
    OursAndAllOfOperators,
    /// What conversion itself wrote.
    Honest,
    /// The same, and forged entries beside it.
    HonestAndForged,
}

const KEPT: [Kept; 7] = [
    Kept::Nothing,
    Kept::Ours,
    Kept::Operators,
    Kept::OursAndOperators,
    Kept::OursAndAllOfOperators,
    Kept::Honest,
    Kept::HonestAndForged,
];

/// Puts the members of one JSON text into another, lists behind lists.
fn joined(one: &str, other: &str) -> String {
    fn join(one: &mut Value, other: Value) {
        match (one, other) {
            (Value::Object(members), Value::Object(others)) => {
                for (name, other) in others {
                    join(members.entry(name).or_insert(Value::Null), other);
                }
            }
            (Value::Array(items), Value::Array(others)) => items.extend(others),
            (one, other) => *one = other,
        }
    }
    let mut joined = serde_json::from_str(one).unwrap();
    join(&mut joined, serde_json::from_str(other).unwrap());
    joined.to_string()
}

/// Puts a field that no version knows into an object, at one of these places that it has.
fn add_unknown(object: &mut Value, place: u8) {
    let at =
        ["/spec", "/status", "/spec/components/0", "/spec/services", "/spec/podTemplate/spec", "/spec/extraPodSpec"];
    let node = at.get(usize::from(place)).and_then(|at| object.pointer_mut(at));
    if let Some(Value::Object(members)) = node {
        match members.values_mut().next().filter(|_| at[usize::from(place)] == "/spec/services") {
            Some(Value::Object(service)) => service.insert("novel".into(), json!({"depth": [1]})),
            _ => members.insert("novel".into(), json!({"depth": [1]})),
        };
    }
}

fn hold(kind: &Drawn, from: &str, through: &str, cases: u32) {
    let own = objects(kind.crd.json, from).ready();
    let other = objects(kind.crd.json, through).ready();
    let kept = prop::sample::select(&KEPT[..]);
    let drawn = (own, other, unknown(), claims(), kept, 0..12_u8);
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let tried = runner.run(&drawn, |(mut object, mut donor, unknown, claims, kept, novel)| {
        if matches!(kept, Kept::Honest | Kept::HonestAndForged) {
            donor["metadata"]["name"] = "otter".into();
            object = kind.converted(&donor, from);
            prop_assume!(object["metadata"]["labels"].get(INCOMPLETE).is_none());
        }
        object["metadata"]["name"] = "otter".into();
        add_unknown(&mut object, novel);
        let ours = preserved(kind, &object, through, &unknown, &claims);
        let honest = object["metadata"]["annotations"][PRESERVED].as_str();
        let ours = honest.map_or_else(|| ours.clone(), |honest| joined(honest, &ours));
        let theirs = json!({"version": 1, "spec": donor["spec"]}).to_string();
        let put = match kept {
            Kept::Nothing | Kept::Honest => Vec::new(),
            Kept::Ours | Kept::HonestAndForged => vec![(PRESERVED, ours)],
            Kept::Operators => vec![(kind.stashes[0], theirs)],
            Kept::OursAndOperators => vec![(PRESERVED, ours), (kind.stashes[0], theirs)],
            Kept::OursAndAllOfOperators => {
                vec![(PRESERVED, ours), (kind.stashes[0], theirs), (kind.stashes[1], donor["status"].to_string())]
            }
        };
        for (key, text) in put {
            object["metadata"]["annotations"][key] = text.into();
        }
        holds(kind, &object, through)
    });
    tried.unwrap_or_else(|error| panic!("{error}"));
}

/// How many objects each property is tried on.
const OBJECTS: u32 = 300;

#[test]
fn no_annotation_of_a_v1alpha1_graph_makes_it_another() {
    hold(&GRAPH, "v1alpha1", "v1beta1", OBJECTS);
}

#[test]
fn no_annotation_of_a_v1beta1_graph_makes_it_another() {
    hold(&GRAPH, "v1beta1", "v1alpha1", OBJECTS);
}

#[test]
fn no_annotation_of_a_v1alpha1_component_makes_it_another() {
    hold(&COMPONENT, "v1alpha1", "v1beta1", OBJECTS);
}

#[test]
fn no_annotation_of_a_v1beta1_component_makes_it_another() {
    hold(&COMPONENT, "v1beta1", "v1alpha1", OBJECTS);
}

#[test]
fn no_annotation_of_a_v1alpha1_request_makes_it_another() {
    hold(&REQUEST, "v1alpha1", "v1beta1", OBJECTS);
}

#[test]
fn no_annotation_of_a_v1beta1_request_makes_it_another() {
    hold(&REQUEST, "v1beta1", "v1alpha1", OBJECTS);
}

fn graph(version: &str, spec: &Value) -> Value {
    let metadata = json!({"name": "otter", "namespace": "tidepool"});
    json!({"apiVersion": format!("nvidia.com/{version}"), "kind": "DynamoGraphDeployment", "metadata": metadata, "spec": spec})
}

fn annotated(mut object: Value, kept: &Value) -> Value {
    object["metadata"]["annotations"] = json!({PRESERVED: kept.to_string()});
    object
}

/// A graph of one worker in each version.
fn worker(version: &str) -> Value {
    match version {
        "v1alpha1" => graph(version, &json!({"services": {"w": {"componentType": "worker"}}})),
        _ => graph(version, &json!({"components": [{"name": "w", "type": "worker"}]})),
    }
}

#[test]
fn h0_a_path_of_thousands_of_steps_ends_no_process() {
    for (from, through) in [("v1alpha1", "v1beta1"), ("v1beta1", "v1alpha1")] {
        let path: Vec<&str> = std::iter::repeat_n("x", 8000).chain(["y"]).collect();
        let kept = json!({"version": 1, "unknown": {through: [{"path": path, "hollow": 8000, "value": 1}]}});
        let there = GRAPH.converted(&annotated(worker(from), &kept), through);
        assert_eq!(there["spec"], GRAPH.converted(&worker(from), through)["spec"]);
    }
}

#[test]
fn h1_a_known_field_does_not_come_alive_as_an_unknown_one() {
    let at = |name: &str| json!(["spec", "components", {"name": "w"}, name]);
    for (path, value) in [
        (at("minAvailable"), json!("abc")),
        (at("minAvailable"), json!(3)),
        (at("multinode"), json!({"nodeCount": 2})),
        (at("replicas"), json!(1000)),
        (json!(["spec", "components", {"name": "w"}, "multinode", "x"]), json!(1)),
        (json!(["spec", "components", {"name": "w"}, "scalingAdapter", "x"]), json!(1)),
        (json!(["spec", "restart"]), json!({"id": "now"})),
        (json!(["status"]), json!({"state": "successful"})),
        (json!(["status", "novel"]), json!(1)),
    ] {
        let kept = json!({"version": 1, "unknown": {"v1beta1": [{"path": path, "hollow": 1, "value": value}]}});
        let there = GRAPH.converted(&annotated(worker("v1alpha1"), &kept), "v1beta1");
        let plain = GRAPH.converted(&worker("v1alpha1"), "v1beta1");
        assert_eq!((&there["spec"], there.get("status")), (&plain["spec"], None), "{path}");
    }
}

#[test]
fn h1_a_difference_whose_reading_fits_changes_nothing_that_the_user_can_see() {
    let object = graph(
        "v1alpha1",
        &json!({"services": {"w": {"componentType": "worker", "envs": [{"name": "A", "value": "1"}]}}}),
    );
    let plain = GRAPH.converted(&object, "v1beta1");
    let pod = || vec![json!("spec"), json!("components"), json!({"name": "w"}), json!("podTemplate")];
    let below =
        |names: &[&str]| -> Vec<Value> { pod().into_iter().chain(names.iter().map(|name| json!(name))).collect() };
    let live = &plain["spec"]["components"][0]["podTemplate"];
    let containers = &live["spec"]["containers"];
    assert!(containers.is_array());
    for difference in [
        json!({"path": below(&["spec", "containers"]), "reads": containers, "was": "abc"}),
        json!({"path": below(&["spec", "containers"]), "reads": containers, "was": [{"name": "main", "image": "evil:1"}]}),
        json!({"path": below(&["spec", "hostNetwork"]), "was": true}),
        json!({"path": pod(), "reads": live}),
    ] {
        let kept = json!({"version": 1, "known": {"v1beta1": [difference]}});
        let there = GRAPH.converted(&annotated(object.clone(), &kept), "v1beta1");
        assert_eq!(there["spec"], plain["spec"], "{difference}");
    }
}

#[test]
fn h6_a_difference_that_replaces_the_whole_ends_nothing() {
    let object = json!({"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoComponentDeployment",
        "metadata": {"name": "otter", "namespace": "tidepool"}, "spec": {"componentType": "worker"}});
    let plain = COMPONENT.converted(&object, "v1beta1");
    for path in [json!([]), json!(["spec"])] {
        let kept = json!({"version": 1, "known": {"v1beta1": [{"path": path, "reads": plain["spec"], "was": 1}]}});
        let there = COMPONENT.converted(&annotated(object.clone(), &kept), "v1beta1");
        assert_eq!(there["spec"], plain["spec"]);
    }
}

#[test]
fn a_difference_that_the_other_version_can_not_see_comes_back_beside_forged_ones() {
    let object = worker("v1alpha1");
    let at = |steps: Value| -> Value {
        let steps = steps.as_array().unwrap().iter().cloned();
        [json!("spec"), json!("components"), json!({"name": "w"})].into_iter().chain(steps).collect()
    };
    let mut known: Vec<Value> =
        (0..5).map(|seconds| json!({"path": at(json!(["replicas"])), "was": seconds})).collect();
    known.insert(3, json!({"path": at(json!(["experimental"])), "was": {}}));
    let kept = json!({"version": 1, "known": {"v1beta1": known}});
    let there = GRAPH.converted(&annotated(object.clone(), &kept), "v1beta1");
    let mut expected = GRAPH.converted(&object, "v1beta1")["spec"].clone();
    expected["components"][0]["experimental"] = json!({});
    assert_eq!(there["spec"], expected);
}

#[test]
fn a_difference_that_breaks_the_schema_goes_alone() {
    let object = worker("v1alpha1");
    let at = |name: &str| json!(["spec", "components", {"name": "w"}, name]);
    // Both say nothing, so both lead back; a model has to have a name.
    let known = ["experimental", "modelRef"].map(|name| json!({"path": at(name), "was": {}}));
    let kept = json!({"version": 1, "known": {"v1beta1": known}});
    let there = GRAPH.converted(&annotated(object.clone(), &kept), "v1beta1");
    let mut expected = GRAPH.converted(&object, "v1beta1")["spec"].clone();
    expected["components"][0]["experimental"] = json!({});
    assert_eq!(there["spec"], expected);
}

#[test]
fn h7_an_integer_beyond_its_type_is_left_out_of_a_marked_view() {
    let mut object = worker("v1beta1");
    object["spec"]["components"][0]["replicas"] = json!(2_147_483_648_u64);
    let there = GRAPH.converted(&object, "v1alpha1");
    assert_eq!(there["spec"]["services"]["w"]["componentType"], "worker");
    assert_eq!(there["spec"]["services"]["w"].get("replicas"), None);
    assert_eq!(there["metadata"]["labels"][INCOMPLETE], "true");
    assert_eq!(there["metadata"]["annotations"]["gateward.dev/incomplete-fields"], "spec.components[0].replicas");
}
