//! The CustomResourceDefinitions, made from the types.
//!
//! The types give names, JSON types and descriptions. This module adds what a Rust type can't express: `v1alpha1` and
//! `v1beta1` state which members are required, their limits and defaults; [`rules`] states the CEL rules;
//! [`kubernetes`] brings the embedded Kubernetes types into the form that the API server accepts; [`manifest`] states
//! names, columns and subresources.

pub mod kubernetes;
pub mod manifest;
pub mod node;
mod parts;
pub mod rules;
pub mod types;
mod v1alpha1;
mod v1beta1;

pub use manifest::definitions;

/// The added constraints don't match the types, for example because a member was renamed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the schemas don't fit the types: {}", .0.join("; "))]
pub struct Mismatch(pub Vec<String>);
