//! Which of Grove's objects an override is laid over.

use dynamo_api::constants::{LEADER_ROLE, WORKER_ROLE};
use dynamo_api::v1beta1::{ComponentRole, ComponentSpec};

use crate::rules::grove;

/// The location of a provider override.
#[derive(Debug, Clone, Copy)]
pub(crate) enum OverrideLocation<'a> {
    /// The spec of a graph.
    Root,
    /// A component of a graph.
    Component(&'a ComponentSpec),
    /// A role of a component of a graph.
    Role(&'a ComponentSpec, &'a ComponentRole),
    /// A DynamoComponentDeployment.
    Standalone,
}

/// The kind of Grove's object that an override is laid over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// The object of the whole graph.
    Set,
    /// The object of a component in a scaling group.
    ScalingGroup,
    /// The object of any other component, and of a role.
    Clique,
}

impl Target {
    /// The name as it is written.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Set => "PodCliqueSet",
            Self::ScalingGroup => "PodCliqueScalingGroupConfig",
            Self::Clique => "PodCliqueTemplateSpec",
        }
    }

    /// The target of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        [Self::Set, Self::ScalingGroup, Self::Clique].into_iter().find(|target| target.as_str() == name)
    }

    /// The target that an override at this place has; `None` where there is none.
    pub(crate) fn expected(location: OverrideLocation) -> Option<Self> {
        match location {
            OverrideLocation::Root => Some(Self::Set),
            OverrideLocation::Component(component) if grove::uses_scaling_group(component) => Some(Self::ScalingGroup),
            OverrideLocation::Component(_) => Some(Self::Clique),
            OverrideLocation::Role(component, role) => has_clique(component, role).then_some(Self::Clique),
            OverrideLocation::Standalone => None,
        }
    }
}

/// Whether Grove makes exactly one clique for the role: a GPU memory service between pods splits it into several.
fn has_clique(component: &ComponentSpec, role: &ComponentRole) -> bool {
    let known = role.name == LEADER_ROLE || role.name == WORKER_ROLE;
    known && grove::nodes(component) > 1 && !grove::shares_gpu_memory_between_pods(component)
}
