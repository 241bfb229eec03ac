//! Lean views of the Kubernetes types that the kinds embed.
//!
//! A view names what rules and conversion read; everything else stays in the [`Raw`](crate::Raw) around it. In the
//! CRDs each view stands for the whole Kubernetes type.

use std::collections::BTreeMap;

use crate::Quantity;

object! {
    /// What is read of a `core/v1` `PodTemplateSpec`.
    pub struct PodTemplate of PodTemplateSpec {
        /// Labels and annotations of the pods.
        pub metadata: PodMetadata,
        /// Containers of the pods.
        pub spec: PodSpec,
    }
}

object! {
    /// Labels and annotations of the pods made from a template.
    pub struct PodMetadata of ObjectMeta {
        /// Labels by key.
        pub labels: BTreeMap<String, String>,
        /// Annotations by key.
        pub annotations: BTreeMap<String, String>,
    }
}

object! {
    /// What is read of a `core/v1` `PodSpec`.
    pub struct PodSpec of PodSpec {
        /// Containers that run side by side.
        pub containers: Vec<Container>,
        /// Containers that run first.
        pub init_containers: Vec<Container>,
    }
}

impl PodSpec {
    /// The first container of this name, with its place in the list.
    pub fn container(&self, name: &str) -> Option<(usize, &Container)> {
        self.containers.iter().enumerate().find(|(_, container)| container.name == name)
    }
}

object! {
    /// What is read of a v1alpha1 `extraPodSpec`: a `PodSpec` with one more member.
    pub struct ExtraPodSpec of ExtraPodSpec {
        /// Containers beside the main one.
        pub containers: Vec<Container>,
        /// Containers that run first.
        pub init_containers: Vec<Container>,
        /// What is laid over the main container.
        pub main_container: Option<Container>,
    }
}

object! {
    /// What is read of a `core/v1` Container.
    pub struct Container of Container {
        /// Name, unique in the pod.
        pub name: String,
        /// Image reference.
        pub image: String,
        /// Entry point; empty means the image's own.
        pub command: Vec<String>,
        /// Arguments of the entry point.
        pub args: Vec<String>,
        /// CPU, memory, GPUs and claims.
        pub resources: ResourceRequirements,
    }
}

object! {
    /// A `core/v1` `ResourceRequirements`.
    pub struct ResourceRequirements of ResourceRequirements {
        /// The most that the container may use, by resource name.
        pub limits: BTreeMap<String, Quantity>,
        /// What the container is sure to get, by resource name.
        pub requests: BTreeMap<String, Quantity>,
        /// Claims of the pod that the container uses.
        pub claims: Vec<ResourceClaim>,
    }
}

object! {
    /// A `core/v1` `ResourceClaim`: a reference to one of the pod's claims.
    pub struct ResourceClaim of ResourceClaim {
        /// Name of the claim in the pod's spec.
        pub name: Option<String>,
        /// One request of the claim; empty means all of it.
        pub request: String,
    }
}

object! {
    /// What is read of a `core/v1` `EnvVar`.
    pub struct EnvVar of EnvVar {
        /// Name of the variable.
        pub name: String,
    }
}

object! {
    /// A `core/v1` `ConfigMapKeySelector`.
    pub struct ConfigMapKeySelector of ConfigMapKeySelector {
        /// Name of the ConfigMap in the same namespace.
        pub name: String,
        /// Key in it.
        pub key: Option<String>,
        /// Whether the ConfigMap or the key may be missing.
        pub optional: Option<bool>,
    }
}

object! {
    /// A `core/v1` Probe; nothing of it is read.
    pub struct Probe of Probe {}
}

object! {
    /// A `core/v1` Toleration; nothing of it is read.
    pub struct Toleration of Toleration {}
}

object! {
    /// What is read of a `batch/v1` `JobSpec`.
    pub struct JobSpec of JobSpec {
        /// The job's pod.
        pub template: PodTemplate,
    }
}

object! {
    /// An `autoscaling/v2` `HorizontalPodAutoscalerBehavior`; nothing of it is read.
    pub struct ScalingBehavior of HorizontalPodAutoscalerBehavior {}
}

object! {
    /// An `autoscaling/v2` `MetricSpec`; nothing of it is read.
    pub struct ScalingMetric of MetricSpec {}
}
