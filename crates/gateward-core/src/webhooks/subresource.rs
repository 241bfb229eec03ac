//! The part of an object that requests address, where it isn't the object itself.

use std::borrow::Cow;

use crate::rule::resource::{GroupVersionKind, Resource, Scope};
use crate::webhooks::dynamic_kind::DynamicKind;

/// The subresource in which the number of replicas is changed.
pub(crate) const SCALE: &str = "scale";

/// A subresource that a webhook is about, such as `pods/eviction`. Its requests can carry objects of another kind than the
/// resource's own: see [`Webhook::subresource_of`](crate::Webhook::subresource_of).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subresource {
    /// Group, version and kind of the resource that has it.
    pub of: GroupVersionKind,
    /// The plural of that resource.
    pub plural: Cow<'static, str>,
    /// Whether objects of that resource live in a namespace.
    pub scope: Scope,
    /// Its own name, for example `eviction`.
    pub name: &'static str,
}

impl Subresource {
    pub(crate) fn named<P: Resource>(name: &'static str) -> Self {
        Self { of: P::gvk(), plural: P::plural(), scope: P::scope(), name }
    }

    pub(crate) fn of_kind(kind: &DynamicKind, name: &'static str) -> Self {
        Self { of: kind.gvk.clone(), plural: kind.plural.clone(), scope: kind.scope, name }
    }
}
