//! The pod template, made of the flat fields, `extraPodMetadata`, `extraPodSpec` and the frontend sidecar, and the way
//! back.
//!
//! What one version can't say of the pod is remembered in an entry of the annotation that the Go operator reads, by its
//! rules.

mod bare;
mod containers;
mod fields;
mod hub_remainder;
mod kept;
mod lift;
mod lower;
mod origins;
mod plain;
mod spoke_remainder;

pub(super) use hub_remainder::hub_remainder;
pub(super) use lift::{frontend_sidecar, lift};
pub(super) use lower::lower;
pub(super) use spoke_remainder::{Birth, Others, spoke_remainder};

#[cfg(test)]
mod tests;
