//! Annotations of conversion in the hands of somebody who knows their form.
//!
//! Whatever they say: conversion succeeds, what is judged is what is stored, a schema that held goes on holding, and
//! metadata and status are not theirs.

mod annotations;
mod answers;
mod found;

use std::collections::BTreeSet;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::SystemTime;

use dynamo_api::crds::{self, CrdFile};
use dynamo_api::{v1alpha1, v1beta1};
use gateward::conversion::{Strictness, StructuralSchemas};
use gateward::schema::from_crd;
use gateward::testing::block_on;
use gateward::testing::objects;
use gateward::{Context, Converted, FieldPath, Request, Resource, Validator, Verdict, Webhook, Webhooks, handler};
use proptest::prelude::*;
use serde_json::{Value, json};

use self::annotations::{Claim, KEPT, Kept, claims, joined, unknown, value};
use crate::conversion::schemas::CrdSchemas;
use crate::conversion::{ComponentConversion, DeploymentRequestConversion, GraphConversion, ScalingAdapterConversion};

const PRESERVED: &str = "gateward.dev/preserved";
const INCOMPLETE: &str = "gateward.dev/incomplete";

/// The stack of a thread that judges or converts. The server sets none, so it is tokio's default. What isn't optimised
/// takes more of it than what is released.
const STACK: usize = 2 << 20;

/// A kind whose objects are drawn.
#[derive(Debug, Clone, Copy)]
struct Drawn {
    crd: CrdFile,
    schemas: CrdSchemas,
    /// The annotations of the operator's own.
    stashes: &'static [&'static str],
}

const GRAPH: Drawn = Drawn {
    crd: crds::GRAPH_DEPLOYMENT,
    schemas: CrdSchemas::Graph,
    stashes: &["nvidia.com/dgd-spec", "nvidia.com/dgd-status"],
};
const COMPONENT: Drawn = Drawn {
    crd: crds::COMPONENT_DEPLOYMENT,
    schemas: CrdSchemas::Component,
    stashes: &["nvidia.com/dcd-spec", "nvidia.com/dcd-status"],
};
const REQUEST: Drawn = Drawn {
    crd: crds::GRAPH_DEPLOYMENT_REQUEST,
    schemas: CrdSchemas::DeploymentRequest,
    stashes: &["nvidia.com/dgdr-spec", "nvidia.com/dgdr-status"],
};

const ADAPTER: Drawn =
    Drawn { crd: crds::GRAPH_DEPLOYMENT_SCALING_ADAPTER, schemas: CrdSchemas::ScalingAdapter, stashes: &[] };

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
            CrdSchemas::ScalingAdapter => webhooks.register(
                Webhook::<v1beta1::DynamoGraphDeploymentScalingAdapter>::new()
                    .spoke::<v1alpha1::DynamoGraphDeploymentScalingAdapter>(ScalingAdapterConversion)
                    .schemas(self.schemas)
                    .validator(judged.clone()),
            ),
            CrdSchemas::Graph => webhooks.register(
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

    fn convert(&self, object: &str, version: &str) -> Converted {
        self.webhooks(&Judged::default()).convert(object, &format!("nvidia.com/{version}")).unwrap()
    }

    fn converted(&self, object: &Value, version: &str) -> Value {
        serde_json::from_str(&self.convert(&object.to_string(), version).json).unwrap()
    }

    /// What a conversion has to say.
    fn noted(&self, object: &Value, version: &str) -> Vec<String> {
        self.convert(&object.to_string(), version).issues.iter().map(ToString::to_string).collect()
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
            CrdSchemas::ScalingAdapter => typed::<v1beta1::DynamoGraphDeploymentScalingAdapter>(object),
            CrdSchemas::Graph => typed::<v1beta1::DynamoGraphDeployment>(object),
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
    let stashes: Vec<&str> = kind.stashes.iter().copied().chain([PRESERVED]).collect();
    let plain = kind.converted(&without(object, &stashes), through);
    let (found, allowed) = (kind.violations(through, &there), kind.violations(through, &plain));
    prop_assert!(found.is_subset(&allowed), "breaks the schema at {:?}\n{}\n{}", found, object, there);
    // What the Go operator kept may have been of an object that lacked something, and so may what lacks something itself.
    let from = if through == "v1beta1" { "v1alpha1" } else { "v1beta1" };
    let whole = |version, object: &Value| -> BTreeSet<FieldPath> {
        kind.schemas.violations(version, object, Strictness::Whole).into_iter().collect()
    };
    if without(object, kind.stashes) == *object && whole(from, object).is_empty() {
        let (found, allowed) = (whole(through, &there), whole(through, &plain));
        prop_assert!(found.is_subset(&allowed), "lacks what the schema wants at {:?}\n{}\n{}", found, object, there);
    }
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
    kind.converted(&there, from);
    Ok(())
}

/// The annotation, with differences whose readings fit the object.
fn preserved(kind: &Drawn, object: &Value, version: &str, unknown: &Value, claims: &[Claim]) -> String {
    let plain = kind.converted(object, version);
    let known: Vec<Value> = claims.iter().map(|claim| claim.on(&plain)).collect();
    json!({"version": 1, "known": {version: known}, "unknown": {version: unknown}}).to_string()
}

/// Puts a field that no version knows into an object, at one of these places that it has.
fn add_unknown(object: &mut Value, place: u8, value: Value) {
    let at = [
        "/spec",
        "/status",
        "/spec/components/0",
        "/spec/services",
        "/spec/podTemplate/spec",
        "/spec/extraPodSpec",
        "/spec/dgdRef",
    ];
    let mut node = at.get(usize::from(place)).and_then(|at| object.pointer_mut(at));
    if at.get(usize::from(place)) == Some(&"/spec/services") {
        node = node.and_then(Value::as_object_mut).and_then(|services| services.values_mut().next());
    }
    if let Some(Value::Object(members)) = node {
        members.insert("novel".into(), value);
    }
}

/// Fails as the body does; one that overflows the stack ends the process.
fn on_the_stack_of_a_worker(body: impl FnOnce() + Send + 'static) {
    let worker = thread::Builder::new().stack_size(STACK).spawn(body).unwrap();
    worker.join().unwrap_or_else(|panic| resume_unwind(panic));
}

fn hold(kind: &'static Drawn, from: &'static str, through: &'static str, cases: u32) {
    on_the_stack_of_a_worker(move || try_on(kind, from, through, cases));
}

fn try_on(kind: &Drawn, from: &str, through: &str, cases: u32) {
    let own = objects(kind.crd.json, from).ready();
    let other = objects(kind.crd.json, through).ready();
    // With its defaults an object of one version is mostly a sound one of the other.
    let schemas = from_crd(&serde_json::from_str(kind.crd.json).unwrap()).unwrap();
    let schema = &schemas.iter().find(|schema| schema.version == through).unwrap().schema;
    let kept = prop::sample::select(&KEPT[..]);
    let drawn = (own, other, unknown(), claims(), kept, (0..14_u8, value()));
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let tried = runner.run(&drawn, |(mut object, mut donor, unknown, claims, kept, (place, novel))| {
        if matches!(kept, Kept::Honest | Kept::HonestAndForged) {
            donor["metadata"]["name"] = "otter".into();
            schema.apply_defaults(&mut donor);
            object = kind.converted(&donor, from);
            prop_assume!(object["metadata"]["labels"].get(INCOMPLETE).is_none());
        }
        object["metadata"]["name"] = "otter".into();
        add_unknown(&mut object, place, novel);
        let ours = preserved(kind, &object, through, &unknown, &claims);
        let honest = object["metadata"]["annotations"][PRESERVED].as_str();
        let ours = honest.map_or_else(|| ours.clone(), |honest| joined(honest, &ours));
        let theirs = json!({"version": 1, "spec": donor["spec"]}).to_string();
        let (is_ours, theirs_put) = match kept {
            Kept::Nothing | Kept::Honest => (false, 0),
            Kept::Ours | Kept::HonestAndForged => (true, 0),
            Kept::Operators => (false, 1),
            Kept::OursAndOperators => (true, 1),
            Kept::OursAndAllOfOperators => (true, 2),
        };
        let theirs = kind.stashes.iter().copied().zip([theirs, donor["status"].to_string()]).take(theirs_put);
        for (key, text) in is_ours.then_some((PRESERVED, ours)).into_iter().chain(theirs) {
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

#[test]
fn no_annotation_of_a_v1alpha1_adapter_makes_it_another() {
    hold(&ADAPTER, "v1alpha1", "v1beta1", OBJECTS);
}

#[test]
fn no_annotation_of_a_v1beta1_adapter_makes_it_another() {
    hold(&ADAPTER, "v1beta1", "v1alpha1", OBJECTS);
}
