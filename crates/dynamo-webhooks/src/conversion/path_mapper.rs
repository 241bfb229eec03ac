//! Where the parts of a component came from.
//!
//! | v1beta1 | v1alpha1 |
//! |---|---|
//! | `spec.components[i]`, `.name` | `spec.services[KEY]`, in the order of the keys |
//! | `.type` | `.componentType`, or `.subComponentType` where that made it prefill or decode |
//! | `.sharedMemorySize` | `.sharedMemory.size`, or `.sharedMemory.disabled` |
//! | `.compilationCache` | the item of `.volumeMounts` that asks for it |
//! | `.experimental.X` | `.X` |
//! | `.podTemplate.metadata` | `.extraPodMetadata` |
//! | `.podTemplate.spec` | `.extraPodSpec` |
//! | the main container's parts | `.extraPodSpec.mainContainer`, or the flat field that fed them |
//! | the generated frontend sidecar | `.frontendSidecar` |

use dynamo_api::v1alpha1::ComponentSpec;
use gateward_core::{FieldPath, Provenance};

/// Where a component stands in both versions.
#[derive(Debug, Clone, Copy)]
pub(super) enum ComponentLocation<'a> {
    /// It is a DynamoComponentDeployment of its own.
    Standalone,
    /// It is a service of a graph.
    Service {
        /// Its position among the components.
        index: usize,
        /// Its key among the services.
        key: &'a str,
    },
}

impl ComponentLocation<'_> {
    fn hub(self) -> FieldPath {
        match self {
            Self::Standalone => FieldPath::field("spec"),
            Self::Service { index, .. } => (FieldPath::field("spec") / "components").index(index),
        }
    }

    fn spoke(self) -> FieldPath {
        match self {
            Self::Standalone => FieldPath::field("spec"),
            Self::Service { key, .. } => (FieldPath::field("spec") / "services").key(key.to_owned()),
        }
    }
}

/// The provenance of one component. Paths are given as steps from the component in either version.
pub(super) struct PathMapper<'a> {
    location: ComponentLocation<'a>,
    main: usize,
    provenance: &'a mut Provenance,
}

impl<'a> PathMapper<'a> {
    pub fn new(location: ComponentLocation<'a>, provenance: &'a mut Provenance) -> Self {
        Self { location, main: 0, provenance }
    }

    /// The node `hub` is the node `written`, with everything below.
    pub fn moved(&mut self, hub: impl FnOnce(FieldPath) -> FieldPath, spoke: impl FnOnce(FieldPath) -> FieldPath) {
        let location = self.location;
        self.provenance.moved(|| (hub(location.hub()), spoke(location.spoke())));
    }

    /// The node `hub` was made from the node `written`.
    pub fn made(&mut self, hub: impl FnOnce(FieldPath) -> FieldPath, spoke: impl FnOnce(FieldPath) -> FieldPath) {
        let location = self.location;
        self.provenance.made(|| (hub(location.hub()), spoke(location.spoke())));
    }

    /// Says where among the containers the main one stands, if it isn't the first.
    pub fn set_main_index(&mut self, index: usize) {
        self.main = index;
    }

    /// The main container in v1beta1.
    pub fn main(&self) -> impl Fn(FieldPath) -> FieldPath + Copy + use<> {
        let index = self.main;
        move |component| container(component, index)
    }

    /// Whether it is worth finding out about many nodes.
    pub fn is_recording(&self) -> bool {
        self.provenance.is_recording()
    }
}

/// The component itself.
pub(super) fn itself(component: FieldPath) -> FieldPath {
    component
}

/// The pod's spec in v1beta1.
pub(super) fn pod(component: FieldPath) -> FieldPath {
    component / "podTemplate" / "spec"
}

/// A container of the pod in v1beta1.
pub(super) fn container(component: FieldPath, index: usize) -> FieldPath {
    (pod(component) / "containers").index(index)
}

/// The nearest node that the user wrote of the pod as a whole, in v1alpha1.
pub(super) fn nearest(service: &ComponentSpec) -> impl Fn(FieldPath) -> FieldPath + use<> {
    let has_extra = service.extra_pod_spec.is_some();
    move |component| if has_extra { component / "extraPodSpec" } else { component }
}
