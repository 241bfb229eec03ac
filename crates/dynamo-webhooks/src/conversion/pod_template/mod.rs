//! The pod template of v1beta1: in v1alpha1 the flat fields, `extraPodMetadata`, `extraPodSpec` and the frontend sidecar.
//!
//! The fields of the pod that one version lacks are preserved in the annotation that the Go operator reads, by its rules.

mod bare;
mod containers;
mod fields;
mod from_hub;
mod hub_only;
mod moved_service;
mod parts;
mod plain;
mod preserved_pod;
mod split;
mod spoke_only;
mod to_hub;

pub(super) use from_hub::from_hub;
pub(super) use hub_only::hub_only_fields;
pub(super) use moved_service::MovedService;
pub(super) use spoke_only::{OriginalVersion, with_spoke_only_fields};
pub(super) use to_hub::{frontend_sidecar, to_hub};

#[cfg(test)]
mod tests;
