//! Rules and defaults: one module per kind, and one per concern that several kinds share.

/// A [`Rule`](gateward::Rule) with its examples `examples/ID.bad.yaml` and `examples/ID.good.yaml`. The good example
/// may be that of another rule, named by `good_of`.
macro_rules! rule {
    (id: $id:literal, good_of: $good:literal, $($fields:tt)*) => {
        gateward::Rule {
            id: $id,
            bad: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/rules/examples/", $id, ".bad.yaml")),
            good: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/rules/examples/", $good, ".good.yaml")),
            $($fields)*
        }
    };
    (id: $id:literal, $($fields:tt)*) => {
        rule! { id: $id, good_of: $id, $($fields)* }
    };
}

pub(crate) mod component;
pub(crate) mod component_deployment;
pub(crate) mod deployment_request;
pub(crate) mod graph;
mod grove;
pub(crate) mod model;
mod placeholder;
mod provider_override;
mod runtime_version;
pub(crate) mod scaling_adapter;
mod v1alpha1;
