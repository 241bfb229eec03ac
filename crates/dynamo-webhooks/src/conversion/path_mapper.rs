//! Maps the paths of a component in v1beta1 to those in v1alpha1.
//!
//! | v1beta1 | v1alpha1 |
//! |---|---|
//! | `spec.components[i]`, `.name` | `spec.services[KEY]`, in the order of the keys |
//! | `.type` | `.componentType`, or `.subComponentType` where that makes it prefill or decode |
//! | `.sharedMemorySize` | `.sharedMemory.size`, or `.sharedMemory.disabled` |
//! | `.compilationCache` | the item of `.volumeMounts` with `useAsCompilationCache` |
//! | `.experimental.X` | `.X` |
//! | `.podTemplate.metadata` | `.extraPodMetadata` |
//! | `.podTemplate.spec` | `.extraPodSpec` |
//! | the main container's parts | `.extraPodSpec.mainContainer`, or the flat field that they come from |
//! | the generated frontend sidecar | `.frontendSidecar` |

use dynamo_api::v1alpha1::ComponentSpec;
use gateward::{FieldPath, Provenance, Segment};

/// The location of a component in both versions.
#[derive(Debug, Clone, Copy)]
pub(super) enum ComponentLocation<'a> {
    /// The spec of a DynamoComponentDeployment.
    Standalone,
    /// A component or service of a graph.
    Service {
        /// The index in `spec.components`.
        index: usize,
        /// The key in `spec.services`.
        key: &'a str,
    },
}

impl ComponentLocation<'_> {
    fn hub(self) -> FieldPath {
        match self {
            Self::Standalone => FieldPath::field("spec"),
            Self::Service { index, .. } => FieldPath::field("spec") / "components" / Segment::Index(index),
        }
    }

    fn spoke(self) -> FieldPath {
        match self {
            Self::Standalone => FieldPath::field("spec"),
            Self::Service { key, .. } => FieldPath::field("spec") / "services" / Segment::Key(key.to_owned().into()),
        }
    }
}

/// Of so many items of a list, or nodes of an object, it is recorded where each comes from, of more where all do: two paths a
/// node take many times what the node takes.
pub(super) const MOST_RECORDED: usize = 256;

/// Records the provenance of one component. Paths are relative to the component in either version.
pub(super) struct PathMapper<'a> {
    location: ComponentLocation<'a>,
    main: usize,
    provenance: &'a mut Provenance,
}

impl<'a> PathMapper<'a> {
    pub fn new(location: ComponentLocation<'a>, provenance: &'a mut Provenance) -> Self {
        Self { location, main: 0, provenance }
    }

    /// The node `hub` is the node `spoke`, with everything below.
    pub fn moved(&mut self, hub: impl FnOnce(FieldPath) -> FieldPath, spoke: impl FnOnce(FieldPath) -> FieldPath) {
        let location = self.location;
        self.provenance.moved(|| (hub(location.hub()), spoke(location.spoke())));
    }

    /// The node `hub` is made from the node `spoke`.
    pub fn made(&mut self, hub: impl FnOnce(FieldPath) -> FieldPath, spoke: impl FnOnce(FieldPath) -> FieldPath) {
        let location = self.location;
        self.provenance.made(|| (hub(location.hub()), spoke(location.spoke())));
    }

    /// Sets the index of the main container, if it isn't the first.
    pub fn set_main_index(&mut self, index: usize) {
        self.main = index;
    }

    /// The main container in v1beta1.
    pub fn main(&self) -> impl Fn(FieldPath) -> FieldPath + Copy + use<> {
        let index = self.main;
        move |component| container(component, index)
    }

    /// Whether paths are recorded at all.
    pub fn is_recording(&self) -> bool {
        self.provenance.is_recording()
    }

    /// Whether there is room for the paths of so many nodes.
    pub fn has_room_for(&self, nodes: usize) -> bool {
        nodes <= MOST_RECORDED && self.provenance.has_room()
    }
}

/// What `convert` makes where no paths are needed.
pub(super) fn silently<T>(convert: impl FnOnce(&mut PathMapper<'_>) -> T) -> T {
    convert(&mut PathMapper::new(ComponentLocation::Standalone, &mut Provenance::silent()))
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
    pod(component) / "containers" / Segment::Index(index)
}

/// The v1alpha1 node for the pod as a whole: `extraPodSpec`, or the service without one.
pub(super) fn nearest(service: &ComponentSpec) -> impl Fn(FieldPath) -> FieldPath + use<> {
    let has_extra = service.extra_pod_spec.is_some();
    move |component| if has_extra { component / "extraPodSpec" } else { component }
}
