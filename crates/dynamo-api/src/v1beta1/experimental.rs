//! Preview features of a component.

use crate::parts::{
    CheckpointDeletionPolicy, CheckpointIdentity, CheckpointJob, CheckpointMode, CheckpointStartupPolicy,
    GpuMemoryClientPod,
};

object! {
    /// Preview features of a component.
    pub struct Experimental {
        /// Shares GPU memory between containers or pods.
        pub gpu_memory_service: Option<GpuMemoryService>,
        /// Engines in reserve; needs the GPU memory service in the same mode.
        pub failover: Option<Failover>,
        /// How Grove's objects are made.
        pub grove: Option<Grove>,
        /// Snapshot and restore.
        pub checkpoint: Option<Checkpoint>,
    }
}

string_enum! {
    /// Whether a feature works within one pod or between pods.
    pub enum PodMode {
        /// Within one pod.
        IntraPod = "IntraPod",
        /// Between pods.
        InterPod = "InterPod",
    }
}

object! {
    /// A service that holds GPU memory for several processes.
    pub struct GpuMemoryService {
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

impl GpuMemoryService {
    /// The mode in effect.
    pub fn effective_mode(&self) -> &PodMode {
        self.mode.as_ref().unwrap_or(&PodMode::IntraPod)
    }
}

object! {
    /// Engines in reserve.
    pub struct Failover {
        /// Within one pod or between pods; absent means within one.
        pub mode: Option<PodMode>,
        /// How many engines stand in reserve.
        pub num_shadows: Option<i32>,
    }
}

impl Failover {
    /// The mode in effect.
    pub fn effective_mode(&self) -> &PodMode {
        self.mode.as_ref().unwrap_or(&PodMode::IntraPod)
    }
}

object! {
    /// How Grove's objects are made.
    pub struct Grove {
        /// Makes a scaling group also where one clique would do.
        pub force_scaling_group: Option<bool>,
    }
}

object! {
    /// Snapshot and restore of a component.
    pub struct Checkpoint {
        /// Whether checkpoints are used.
        pub enabled: Option<bool>,
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
