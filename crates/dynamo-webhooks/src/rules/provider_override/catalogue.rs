//! The rules of provider overrides.

use gateward::{CREATE_AND_UPDATE, Rule, UPDATE};

const GRAPHS: Rule = Rule {
    kinds: &["DynamoGraphDeployment"],
    versions: &["v1alpha1", "v1beta1"],
    page: "docs/rule-book/provider-override.md",
    ..Rule::on(CREATE_AND_UPDATE)
};

/// OVR-01.
pub(crate) const GRAPHS_ONLY: Rule = rule! {
    id: "OVR-01",
    summary: "a component that is deployed on its own has no provider override",
    help: "leave it out, or put the component into a DynamoGraphDeployment",
    kinds: &["DynamoComponentDeployment"],
    ..GRAPHS
};

/// OVR-02.
pub(crate) const PROVIDER_KNOWN: Rule = rule! {
    id: "OVR-02",
    summary: "a graph with a provider override says which workload provider runs it",
    ..GRAPHS
};

/// OVR-03.
pub(crate) const PROVIDER_SUPPORTED: Rule = rule! {
    id: "OVR-03",
    good_of: "OVR-02",
    summary: "only the workload provider grove takes overrides",
    ..GRAPHS
};

/// OVR-04.
pub(crate) const API_VERSION: Rule = rule! {
    id: "OVR-04",
    good_of: "OVR-02",
    summary: "the apiVersion of a provider override is grove.io/v1alpha1",
    help: "write one of the supported values",
    ..GRAPHS
};

/// OVR-05.
pub(crate) const PLACE_HAS_TARGET: Rule = rule! {
    id: "OVR-05",
    summary: "a role has a provider override only where Grove makes one object for it",
    ..GRAPHS
};

/// OVR-06.
pub(crate) const TARGET: Rule = rule! {
    id: "OVR-06",
    good_of: "OVR-05",
    summary: "the target of a provider override is the kind that Grove makes at its place",
    ..GRAPHS
};

/// OVR-07.
pub(crate) const VALUE_READABLE: Rule = rule! {
    id: "OVR-07",
    good_of: "OVR-02",
    summary: "the value of a provider override is an object whose known fields have their JSON types",
    help: "write a fragment of the named kind, an object with a spec",
    ..GRAPHS
};

/// OVR-08.
pub(crate) const VALUE_OWNED: Rule = rule! {
    id: "OVR-08",
    good_of: "OVR-02",
    summary: "a provider override sets topologyConstraint and nothing else",
    ..GRAPHS
};

/// OVR-09.
pub(crate) const VALUE_COMPLETE: Rule = rule! {
    id: "OVR-09",
    good_of: "OVR-02",
    summary: "a provider override sets topologyConstraint to an object",
    help: "write an object here, or leave it out",
    ..GRAPHS
};

/// OVR-10.
pub(crate) const UNCHANGED: Rule = rule! {
    id: "OVR-10",
    summary: "a provider override that stays keeps its apiVersion and target",
    operations: UPDATE,
    ..GRAPHS
};

/// The catalogue's entries of this module.
pub(crate) const RULES: &[&Rule] = &[
    &GRAPHS_ONLY,
    &PROVIDER_KNOWN,
    &PROVIDER_SUPPORTED,
    &API_VERSION,
    &PLACE_HAS_TARGET,
    &TARGET,
    &VALUE_READABLE,
    &VALUE_OWNED,
    &VALUE_COMPLETE,
    &UNCHANGED,
];
