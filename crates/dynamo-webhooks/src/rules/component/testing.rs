//! The vocabulary of tests on components.

use dynamo_api::v1beta1::ComponentSpec;
use gateward_core::{FieldPath, Issues};
use serde_json::{Value, json};

use super::{
    ComponentOperation, DeploymentContext, DeploymentKind, InferencePool, ScalePermission, SourceVersion, stateless,
    update,
};
use crate::operator::facts::{ClusterFacts, Gate};
use crate::rules::grove::WorkloadBackend;
use crate::testing::{listed, with};

/// The deployment of a component in a test; paths of findings begin with `c`.
pub(super) struct TestDeployment {
    deployment: DeploymentContext<'static>,
}

impl TestDeployment {
    /// A graph that Grove runs, on a cluster that has everything.
    pub(super) fn graph() -> Self {
        let facts: &'static ClusterFacts = Box::leak(Box::default());
        Self {
            deployment: DeploymentContext {
                kind: DeploymentKind::Graph,
                workload_backend: WorkloadBackend::Grove,
                provider: Some("grove"),
                source_version: SourceVersion::V1beta1,
                facts,
                inference_pool: InferencePool::Served,
                scale_permission: ScalePermission::Denied,
            },
        }
    }

    /// A DynamoComponentDeployment.
    pub(super) fn standalone() -> Self {
        let deployment = DeploymentContext {
            kind: DeploymentKind::Component,
            workload_backend: WorkloadBackend::Component,
            provider: None,
            inference_pool: InferencePool::NotNeeded,
            ..Self::graph().deployment
        };
        Self { deployment }
    }

    /// A graph that Grove doesn't run.
    pub(super) fn without_grove() -> Self {
        Self {
            deployment: DeploymentContext {
                workload_backend: WorkloadBackend::Component,
                provider: Some("component"),
                ..Self::graph().deployment
            },
        }
    }

    pub(super) fn without_checkpoints(mut self) -> Self {
        self.deployment.facts = Box::leak(Box::new(ClusterFacts { checkpoint: Gate::Off, ..ClusterFacts::default() }));
        self
    }

    pub(super) fn written_in_v1alpha1(mut self) -> Self {
        self.deployment.source_version = SourceVersion::V1alpha1;
        self
    }

    pub(super) fn inference_pool(mut self, learnt: InferencePool) -> Self {
        self.deployment.inference_pool = learnt;
        self
    }

    pub(super) fn may_scale(mut self) -> Self {
        self.deployment.scale_permission = ScalePermission::Granted;
        self
    }

    /// What is found on a new component, as `RULE path`, in order.
    pub(super) fn created(&self, new: &Value) -> Vec<String> {
        let mut issues = Issues::new();
        stateless(&read(new), &at(), ComponentOperation::Create, &self.deployment, &mut issues);
        listed(&issues)
    }

    /// What is found on the new component of an update, without its change.
    pub(super) fn stored(&self, old: &Value, new: &Value) -> Vec<String> {
        let mut issues = Issues::new();
        stateless(&read(new), &at(), ComponentOperation::Update(Some(&read(old))), &self.deployment, &mut issues);
        listed(&issues)
    }

    /// What is found on the change of a component.
    pub(super) fn changed(&self, old: &Value, new: &Value) -> Vec<String> {
        let mut issues = Issues::new();
        update(&read(old), &read(new), &at(), &self.deployment, &mut issues);
        listed(&issues)
    }
}

/// A worker that nothing is wrong with, with these members.
pub(super) fn worker(members: Value) -> Value {
    of_type("worker", members)
}

/// A component of this type with an image, one GPU and these members.
pub(super) fn of_type(component_type: &str, members: Value) -> Value {
    with(json!({"name": "drum", "type": component_type, "podTemplate": pod("depot.example/engine:1.4.2")}), members)
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
