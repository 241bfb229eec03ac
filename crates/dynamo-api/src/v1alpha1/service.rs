//! Parts of a component that only v1alpha1 has.

use std::collections::BTreeMap;

use crate::parts::{
    CheckpointDeletionPolicy, CheckpointIdentity, CheckpointJob, CheckpointMode, CheckpointStartupPolicy,
    GpuMemoryClientPod,
};
use crate::pod::{EnvVar, ResourceClaim, ScalingBehavior, ScalingMetric};
use crate::{Quantity, Raw};

object! {
    /// CPU, memory and GPUs of the main container.
    pub struct Resources {
        /// What the container is sure to get.
        pub requests: Option<ResourceItem>,
        /// The most that the container may use.
        pub limits: Option<ResourceItem>,
        /// Claims of the pod that the container uses.
        pub claims: Vec<ResourceClaim>,
    }
}

object! {
    /// Amounts, each a quantity in plain text that is not checked.
    pub struct ResourceItem {
        /// CPU.
        pub cpu: String,
        /// Memory.
        pub memory: String,
        /// GPUs.
        pub gpu: String,
        /// Resource name of the GPUs; empty means `nvidia.com/gpu`.
        pub gpu_type: String,
        /// Further amounts by resource name.
        pub custom: BTreeMap<String, String>,
    }
}

object! {
    /// Horizontal autoscaling; ignored and deprecated.
    pub struct Autoscaling {
        /// Whether it is on.
        pub enabled: bool,
        /// Fewest replicas.
        pub min_replicas: Option<i64>,
        /// Most replicas.
        pub max_replicas: Option<i64>,
        /// How fast it scales.
        pub behavior: Option<Raw<ScalingBehavior>>,
        /// What it scales by.
        pub metrics: Vec<Raw<ScalingMetric>>,
    }
}

object! {
    /// A volume mounted in the main container.
    pub struct VolumeMount {
        /// Name of a PersistentVolumeClaim.
        pub name: Option<String>,
        /// Where the volume is mounted.
        pub mount_point: String,
        /// Whether compiled kernels are kept on it.
        pub use_as_compilation_cache: bool,
    }
}

object! {
    /// How a component is reached from outside.
    pub struct Ingress {
        /// Whether it is.
        pub enabled: bool,
        /// Host name.
        pub host: String,
        /// Whether an Istio `VirtualService` is made.
        pub use_virtual_service: bool,
        /// Gateway of the `VirtualService`.
        pub virtual_service_gateway: Option<String>,
        /// Put before the host name.
        pub host_prefix: Option<String>,
        /// Annotations of the Ingress.
        pub annotations: BTreeMap<String, String>,
        /// Labels of the Ingress.
        pub labels: BTreeMap<String, String>,
        /// Certificate of the host.
        pub tls: Option<IngressTls>,
        /// Put behind the host name.
        pub host_suffix: Option<String>,
        /// Ingress class.
        pub ingress_controller_class_name: Option<String>,
    }
}

object! {
    /// Certificate of a host.
    pub struct IngressTls {
        /// Name of the Secret that holds it.
        pub secret_name: String,
    }
}

object! {
    /// Size of `/dev/shm`.
    pub struct SharedMemory {
        /// Whether the pods do without.
        pub disabled: bool,
        /// The size.
        pub size: Option<Quantity>,
    }
}

object! {
    /// Labels and annotations of the pods.
    pub struct ExtraPodMetadata {
        /// Annotations by key.
        pub annotations: BTreeMap<String, String>,
        /// Labels by key.
        pub labels: BTreeMap<String, String>,
    }
}

object! {
    /// Puts replicas in the hands of a scaling adapter.
    pub struct ScalingAdapter {
        /// Whether it does; an empty block means no.
        pub enabled: bool,
    }
}

object! {
    /// A container beside the main one that takes requests.
    pub struct FrontendSidecar {
        /// Image reference.
        pub image: Option<String>,
        /// Arguments of the image's entry point.
        pub args: Vec<String>,
        /// Name of a Secret whose keys become environment variables.
        pub env_from_secret: Option<String>,
        /// Environment variables.
        pub envs: Vec<Raw<EnvVar>>,
    }
}

object! {
    /// Snapshot and restore of a component.
    pub struct Checkpoint {
        /// Whether checkpoints are used.
        pub enabled: bool,
        /// Who makes checkpoints; deprecated.
        pub mode: Option<CheckpointMode>,
        /// When workers start, seen from the checkpoint.
        pub startup_policy: Option<CheckpointStartupPolicy>,
        /// What becomes of automatic checkpoints.
        pub deletion_policy: Option<CheckpointDeletionPolicy>,
        /// Name of a `PodSnapshot` in the same namespace.
        pub checkpoint_ref: Option<String>,
        /// What makes a checkpoint the right one; deprecated.
        pub identity: Option<CheckpointIdentity>,
        /// Container that the snapshot is taken of.
        pub target_container_name: String,
        /// The pod that the checkpoint is taken in.
        pub job: Option<CheckpointJob>,
    }
}

string_enum! {
    /// Whether a feature works within one pod or between pods.
    pub enum PodMode {
        /// Within one pod.
        IntraPod = "intraPod",
        /// Between pods.
        InterPod = "interPod",
    }
}

object! {
    /// A service that holds GPU memory for several processes.
    pub struct GpuMemoryService {
        /// Whether it is used.
        pub enabled: Option<bool>,
        /// Within one pod or between pods; absent means within one.
        pub mode: Option<PodMode>,
        /// Device class of the claims.
        pub device_class_name: String,
        /// Further containers of the pod that use the service.
        pub extra_client_containers: Vec<String>,
        /// Further pods that use the service; reserved.
        pub extra_client_pods: Vec<GpuMemoryClientPod>,
    }
}

object! {
    /// Engines in reserve.
    pub struct Failover {
        /// Whether there are any.
        pub enabled: Option<bool>,
        /// Within one pod or between pods; absent means within one.
        pub mode: Option<PodMode>,
        /// How many engines stand in reserve.
        pub num_shadows: Option<i32>,
    }
}
