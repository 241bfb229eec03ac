//! The vocabulary of tests on components.

use dynamo_api::v1beta1::ComponentSpec;
use gateward_core::{FieldPath, Issue, Issues, Severity};
use serde_json::{Value, json};

use super::{InferencePool, MayScale, Occasion, Owner, OwnerKind, Written, stateless, update};
use crate::operator::facts::{ClusterFacts, Gate};
use crate::rules::grove::Pathway;

/// Somewhere a component may stand; findings on it have paths that begin with `c`.
pub(super) struct Place {
    owner: Owner<'static>,
}

impl Place {
    /// In a graph that Grove runs, on a cluster that has everything.
    pub(super) fn graph() -> Self {
        let facts: &'static ClusterFacts = Box::leak(Box::default());
        Self {
            owner: Owner {
                kind: OwnerKind::Graph,
                pathway: Pathway::Grove,
                provider: Some("grove"),
                written: Written::V1beta1,
                facts,
                inference_pool: InferencePool::Served,
                may_scale: MayScale::No,
            },
        }
    }

    /// On its own.
    pub(super) fn alone() -> Self {
        let owner = Owner {
            kind: OwnerKind::Component,
            pathway: Pathway::Plain,
            provider: None,
            inference_pool: InferencePool::NotAsked,
            ..Self::graph().owner
        };
        Self { owner }
    }

    /// In a graph that Grove doesn't run.
    pub(super) fn without_grove() -> Self {
        Self { owner: Owner { pathway: Pathway::Plain, provider: Some("component"), ..Self::graph().owner } }
    }

    pub(super) fn without_checkpoints(mut self) -> Self {
        self.owner.facts = Box::leak(Box::new(ClusterFacts { checkpoint: Gate::Off, ..ClusterFacts::default() }));
        self
    }

    pub(super) fn written_in_v1alpha1(mut self) -> Self {
        self.owner.written = Written::V1alpha1;
        self
    }

    pub(super) fn inference_pool(mut self, learnt: InferencePool) -> Self {
        self.owner.inference_pool = learnt;
        self
    }

    pub(super) fn may_scale(mut self) -> Self {
        self.owner.may_scale = MayScale::Yes;
        self
    }

    /// What is found on a new component, as `RULE path`, in order.
    pub(super) fn created(&self, new: &Value) -> Vec<String> {
        let mut issues = Issues::new();
        stateless(&read(new), &at(), Occasion::Create, &self.owner, &mut issues);
        listed(&issues)
    }

    /// What is found on the new component of an update, without its change.
    pub(super) fn stored(&self, old: &Value, new: &Value) -> Vec<String> {
        let mut issues = Issues::new();
        stateless(&read(new), &at(), Occasion::Update(Some(&read(old))), &self.owner, &mut issues);
        listed(&issues)
    }

    /// What is found on the change of a component.
    pub(super) fn changed(&self, old: &Value, new: &Value) -> Vec<String> {
        let mut issues = Issues::new();
        update(&read(old), &read(new), &at(), &self.owner, &mut issues);
        listed(&issues)
    }
}

/// A worker that nothing is wrong with, with these members.
pub(super) fn worker(members: Value) -> Value {
    of_type("worker", members)
}

/// A component of this type with an image, one GPU and these members.
pub(super) fn of_type(component_type: &str, members: Value) -> Value {
    let mut component =
        json!({"name": "drum", "type": component_type, "podTemplate": pod("depot.example/engine:1.4.2")});
    if let Value::Object(members) = members {
        members.into_iter().for_each(|(name, value)| component[name] = value);
    }
    component
}

/// A pod whose main container has this image and one GPU.
pub(super) fn pod(image: &str) -> Value {
    let resources = json!({"limits": {"nvidia.com/gpu": "1"}});
    json!({"spec": {"containers": [{"name": "main", "image": image, "resources": resources}]}})
}

/// A pod whose main container has no GPU.
pub(super) fn pod_without_gpu() -> Value {
    json!({"spec": {"containers": [{"name": "main", "image": "depot.example/engine:1.4.2"}]}})
}

fn read(component: &Value) -> ComponentSpec {
    serde_json::from_value(component.clone()).unwrap()
}

fn at() -> FieldPath {
    FieldPath::field("c")
}

/// Each finding as `RULE path`; one that doesn't deny says what it is.
fn listed(issues: &Issues) -> Vec<String> {
    let line = |Issue { rule, path, severity, .. }: &Issue| match severity {
        Severity::Error => format!("{rule} {path}"),
        other => format!("{} {rule} {path}", other.as_str()),
    };
    issues.iter().map(line).collect()
}
