//! Rules on v1alpha1 graphs and components as the user wrote them: section 11 of the rule book, and the rules on
//! runtimes in the paths of v1alpha1. All other rules judge the object as v1beta1 reads it.
//!
//! A v1beta1 object that carries what conversion kept of v1alpha1 is judged by section 11 too, as v1alpha1 reads it:
//! what is kept would come into force again as soon as somebody reads the object so. On any other v1beta1 object nothing
//! here does anything.

mod applies_to;
pub(crate) mod component;
pub(crate) mod defaults;
pub(crate) mod graph;
mod ignored;
mod service;
#[cfg(test)]
mod tests;

use gateward::Rule;

/// The catalogue's entries that concern graphs and components alike.
fn shared_rules() -> impl Iterator<Item = &'static Rule> {
    ignored::RULES.iter().chain(service::RULES).copied()
}
