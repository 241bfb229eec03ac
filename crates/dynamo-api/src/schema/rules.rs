//! The CEL rules of the CRDs, which the API server evaluates itself.
//!
//! Ids are those of the rule book. A rule that is the same in both versions is here once.

use serde_json::{Value, json};

/// A CEL rule.
#[derive(Debug, PartialEq, Eq)]
pub struct ValidationRule {
    /// Id in the rule book, of v1beta1 where both versions have the rule.
    pub id: &'static str,
    /// The expression; true means that the object is right.
    pub expression: &'static str,
    /// What the user reads where it is false.
    pub message: &'static str,
    /// What `oldSelf` is to the expression.
    pub old_self: OldSelf,
}

/// What `oldSelf` is to a rule.
#[derive(Debug, PartialEq, Eq)]
pub enum OldSelf {
    /// The stored value: a rule that names it is evaluated on updates only.
    Required,
    /// An optional value: the rule is evaluated on creates too.
    Optional,
}

impl ValidationRule {
    const fn new(id: &'static str, expression: &'static str, message: &'static str) -> Self {
        Self { id, expression, message, old_self: OldSelf::Required }
    }

    /// The rule as an entry of `x-kubernetes-validations`.
    pub fn to_value(&self) -> Value {
        match self.old_self {
            OldSelf::Required => json!({"rule": self.expression, "message": self.message}),
            OldSelf::Optional => {
                json!({"rule": self.expression, "message": self.message, "optionalOldSelf": true})
            }
        }
    }
}

/// All rules, in the order of their ids.
pub const ALL: &[&ValidationRule] = &[
    &EPP_CONFIG_ONLY_FOR_EPP,
    &MIN_AVAILABLE_WITHIN_REPLICAS,
    &MIN_AVAILABLE_STAYS,
    &TYPE_STAYS,
    &COMPONENT_TYPE_STAYS,
    &ONE_EPP_CONFIG,
    &CLIENT_CONTAINERS_INTRA_POD,
    &CLIENT_PODS_INTER_POD,
    &CLIENT_PODS_RESERVED,
    &JOB_OR_CHECKPOINT,
    &NO_RESTART_ON_CREATE,
    &ONE_EPP_AT_MOST,
    &NO_FURTHER_EPP,
    &NAMES_DIFFER_BEYOND_CASE,
    &NEW_NAMES_DIFFER_BEYOND_CASE,
    &ONE_TOPOLOGY_SOURCE,
    &PREFERENCE_NEEDS_WEIGHT,
    &WEIGHT_NEEDS_PREFERENCE,
    &LABEL_KEY_PREFIX_LENGTH,
    &SHARED_MEMORY_SIZE,
    &ALPHA_CLIENT_CONTAINERS_INTRA_POD,
    &ALPHA_CLIENT_PODS_INTER_POD,
    &CREATED_PVC_IS_COMPLETE,
    &SIDECARS_HAVE_IMAGES,
    &INIT_CONTAINERS_HAVE_IMAGES,
    &EXECUTOR_BACKEND_IS_KNOWN,
];

/// The configuration of an endpoint picker belongs to an endpoint picker. v1alpha1 lets others have one, and API servers
/// don't see that an update leaves free-form JSON alone: without the stored value no update of such an object would
/// pass, not even one that removes a finalizer.
pub const EPP_CONFIG_ONLY_FOR_EPP: ValidationRule = ValidationRule {
    id: "CEL-01",
    expression: "!has(self.eppConfig) || (has(self.type) && self.type == 'epp') || \
                 (oldSelf.hasValue() && has(oldSelf.value().eppConfig))",
    message: "eppConfig may only be set when type is epp",
    old_self: OldSelf::Optional,
};

/// A gang cannot be larger than the component, unless the component is switched off.
pub const MIN_AVAILABLE_WITHIN_REPLICAS: ValidationRule = ValidationRule::new(
    "CEL-02",
    "!has(self.minAvailable) || (has(self.replicas) && self.replicas == 0) || \
     self.minAvailable <= (has(self.replicas) ? self.replicas : 1)",
    "minAvailable must not be greater than replicas (1 when unset) unless replicas is 0",
);

/// The size of a gang is fixed once it is set.
pub const MIN_AVAILABLE_STAYS: ValidationRule = ValidationRule::new(
    "CEL-03",
    "!has(oldSelf.minAvailable) || (has(self.minAvailable) && self.minAvailable == oldSelf.minAvailable)",
    "minAvailable cannot be changed or removed once it is set",
);

/// What a component does is fixed once it is set.
pub const TYPE_STAYS: ValidationRule = ValidationRule::new(
    "CEL-04",
    "!has(oldSelf.type) || (has(self.type) && self.type == oldSelf.type)",
    "type cannot be changed or removed once it is set",
);

/// The same in v1alpha1.
pub const COMPONENT_TYPE_STAYS: ValidationRule = ValidationRule::new(
    "CEL-04a",
    "!has(oldSelf.componentType) || (has(self.componentType) && self.componentType == oldSelf.componentType)",
    "componentType cannot be changed or removed once it is set",
);

/// The configuration of an endpoint picker has exactly one source.
pub const ONE_EPP_CONFIG: ValidationRule = ValidationRule {
    id: "CEL-05",
    expression: "has(self.configMapRef) != has(self.config) || \
     (oldSelf.hasValue() && has(oldSelf.value().configMapRef) == has(oldSelf.value().config))",
    message: "exactly one of configMapRef and config must be set",
    old_self: OldSelf::Optional,
};

/// Containers can use the memory service of their own pod only.
pub const CLIENT_CONTAINERS_INTRA_POD: ValidationRule = ValidationRule::new(
    "CEL-06",
    "!has(self.extraClientContainers) || size(self.extraClientContainers) == 0 || \
     (has(self.mode) && self.mode == 'IntraPod')",
    "extraClientContainers may only be set when mode is IntraPod",
);

/// Pods can use a memory service between pods only.
pub const CLIENT_PODS_INTER_POD: ValidationRule = ValidationRule::new(
    "CEL-07",
    "!has(self.extraClientPods) || size(self.extraClientPods) == 0 || (has(self.mode) && self.mode == 'InterPod')",
    "extraClientPods may only be set when mode is InterPod",
);

/// Client pods are reserved in both versions (CEL-25 in v1alpha1).
pub const CLIENT_PODS_RESERVED: ValidationRule = ValidationRule::new(
    "CEL-08",
    "!has(self.extraClientPods) || size(self.extraClientPods) == 0",
    "extraClientPods is reserved and must be empty",
);

/// A checkpoint is either taken or named, in both versions (CEL-21 in v1alpha1).
pub const JOB_OR_CHECKPOINT: ValidationRule = ValidationRule::new(
    "CEL-09",
    "!has(self.job) || !has(self.checkpointRef) || self.checkpointRef == ''",
    "job cannot be combined with checkpointRef",
);

/// A graph that doesn't run yet cannot restart, in both versions.
pub const NO_RESTART_ON_CREATE: ValidationRule = ValidationRule {
    old_self: OldSelf::Optional,
    ..ValidationRule::new(
        "CEL-10",
        "oldSelf.hasValue() || !has(self.restart)",
        "restart cannot be set on creation; set restart.id later to restart the graph",
    )
};

/// A graph has one endpoint picker.
pub const ONE_EPP_AT_MOST: ValidationRule = ValidationRule {
    old_self: OldSelf::Optional,
    ..ValidationRule::new(
        "CEL-11",
        "oldSelf.hasValue() || \
         self.filter(component, has(component.type) && component.type == 'epp').size() <= 1",
        "at most one component may have type epp",
    )
};

/// The same of an update, unless there are several already: v1alpha1 lets a graph have them. It is a rule of its own, since
/// the cost of an optional list counts as that of one without a bound.
pub const NO_FURTHER_EPP: ValidationRule = ValidationRule::new(
    "CEL-11a",
    "self.filter(component, has(component.type) && component.type == 'epp').size() <= 1 || \
     oldSelf.filter(component, has(component.type) && component.type == 'epp').size() > 1",
    "at most one component may have type epp",
);

/// Objects of the cluster are named after components, in small letters.
pub const NAMES_DIFFER_BEYOND_CASE: ValidationRule = ValidationRule {
    old_self: OldSelf::Optional,
    ..ValidationRule::new(
        "CEL-12",
        "oldSelf.hasValue() || self.all(component, !has(component.name) || \
         self.exists_one(other, has(other.name) && other.name.lowerAscii() == component.name.lowerAscii()))",
        "component names must differ in more than the case of letters",
    )
};

/// The same of an update, unless it brings no new name: the keys of v1alpha1 may differ in case alone.
pub const NEW_NAMES_DIFFER_BEYOND_CASE: ValidationRule = ValidationRule::new(
    "CEL-12a",
    "self.all(component, !has(component.name) || \
     self.exists_one(other, has(other.name) && other.name.lowerAscii() == component.name.lowerAscii())) || \
     self.all(component, !has(component.name) || \
     oldSelf.exists(other, has(other.name) && other.name == component.name))",
    "component names must differ in more than the case of letters",
);

/// The levels of a topology are named in one place.
pub const ONE_TOPOLOGY_SOURCE: ValidationRule = ValidationRule::new(
    "CEL-13",
    "has(self.labelKey) != has(self.clusterTopologyName)",
    "exactly one of labelKey and clusterTopologyName must be set",
);

/// A preference says how strong it is.
pub const PREFERENCE_NEEDS_WEIGHT: ValidationRule = ValidationRule::new(
    "CEL-14",
    "!has(self.enforcement) || self.enforcement != 'preferred' || has(self.preferredWeight)",
    "preferredWeight must be set when enforcement is preferred",
);

/// A must has no weight.
pub const WEIGHT_NEEDS_PREFERENCE: ValidationRule = ValidationRule::new(
    "CEL-15",
    "!has(self.preferredWeight) || (has(self.enforcement) && self.enforcement == 'preferred')",
    "preferredWeight may only be set when enforcement is preferred",
);

/// The prefix of a label key is a DNS name.
pub const LABEL_KEY_PREFIX_LENGTH: ValidationRule = ValidationRule::new(
    "CEL-16",
    "self.indexOf('/') <= 253",
    "the prefix of labelKey must have at most 253 characters",
);

/// Shared memory that is not switched off has a size.
pub const SHARED_MEMORY_SIZE: ValidationRule = ValidationRule::new(
    "CEL-20",
    "(has(self.disabled) && self.disabled) || \
     (has(self.size) && (type(self.size) == int ? self.size > 0 : sign(quantity(self.size)) > 0))",
    "size must be greater than 0 unless disabled is true",
);

/// CEL-06 with the modes of v1alpha1.
pub const ALPHA_CLIENT_CONTAINERS_INTRA_POD: ValidationRule = ValidationRule::new(
    "CEL-23",
    "!has(self.extraClientContainers) || size(self.extraClientContainers) == 0 || \
     (has(self.mode) && self.mode == 'intraPod')",
    "extraClientContainers may only be set when mode is intraPod",
);

/// CEL-07 with the modes of v1alpha1.
pub const ALPHA_CLIENT_PODS_INTER_POD: ValidationRule = ValidationRule::new(
    "CEL-24",
    "!has(self.extraClientPods) || size(self.extraClientPods) == 0 || (has(self.mode) && self.mode == 'interPod')",
    "extraClientPods may only be set when mode is interPod",
);

/// A claim that is to be made must be known in full.
pub const CREATED_PVC_IS_COMPLETE: ValidationRule = ValidationRule::new(
    "CEL-26",
    "!has(self.create) || !self.create || \
     (has(self.size) && has(self.storageClass) && has(self.volumeAccessMode))",
    "size, storageClass and volumeAccessMode must be set when create is true",
);

/// Only the main container may leave its image to the operator.
pub const SIDECARS_HAVE_IMAGES: ValidationRule = ValidationRule::new(
    "CEL-40",
    "self.name == 'main' || (has(self.image) && self.image != '')",
    "image must be set for every container but main",
);

/// Init containers are the user's own.
pub const INIT_CONTAINERS_HAVE_IMAGES: ValidationRule =
    ValidationRule::new("CEL-41", "has(self.image) && self.image != ''", "image must be set for every init container");

/// vLLM distributes in two ways.
pub const EXECUTOR_BACKEND_IS_KNOWN: ValidationRule = ValidationRule::new(
    "CEL-42",
    "!('nvidia.com/vllm-distributed-executor-backend' in self) || \
     self['nvidia.com/vllm-distributed-executor-backend'].lowerAscii() in ['mp', 'ray']",
    "nvidia.com/vllm-distributed-executor-backend must be mp or ray",
);
