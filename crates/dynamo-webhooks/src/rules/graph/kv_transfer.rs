//! Between which nodes KV caches are transferred: DGD-70 to DGD-73, DGD-79.

use dynamo_api::v1beta1::{DynamoGraphDeployment, Enforcement, KvTransferPolicy};
use gateward::{FieldPath, Issues, Rule, UPDATE, dns};

use super::applies_to::GRAPHS;
use super::lookups::TopologyLookup;
use super::topology::{NOT_EVALUATED, listed};
use crate::rules::grove::WorkloadBackend;

const NAME_FORM: Rule = rule! {
    id: "DGD-70",
    summary: "the cluster topology of a KV transfer policy has the name of an object",
    ..GRAPHS
};

const NEEDS_GROVE: Rule = rule! {
    id: "DGD-71",
    good_of: "DGD-70",
    summary: "a KV transfer policy names a cluster topology only in graphs that Grove runs",
    ..GRAPHS
};

const EXISTS: Rule = rule! {
    id: "DGD-72",
    good_of: "DGD-70",
    summary: "the cluster has the topology that a KV transfer policy names",
    help: "create the ClusterTopologyBinding first, or name one that exists: kubectl get clustertopologybindings",
    ..GRAPHS
};

const DOMAIN_IS_LEVEL: Rule = rule! {
    id: "DGD-73",
    good_of: "DGD-70",
    summary: "the domain of a KV transfer policy is a level of the topology",
    ..GRAPHS
};

const CONSTANT: Rule = rule! {
    id: "DGD-79",
    summary: "the KV transfer policy of a graph never changes",
    operations: UPDATE,
    ..GRAPHS
};

/// The catalogue's entries.
pub(super) const RULES: &[&Rule] = &[&NAME_FORM, &NEEDS_GROVE, &EXISTS, &DOMAIN_IS_LEVEL, &CONSTANT];

/// Judges the transfer policy of `graph`, given the topology that it names.
pub(super) fn check(
    graph: &DynamoGraphDeployment,
    workload_backend: WorkloadBackend,
    topology: &TopologyLookup,
    issues: &mut Issues,
) {
    let Some(policy) = policy(graph) else { return };
    let Some(name) = policy.cluster_topology_name.as_deref().filter(|name| !name.is_empty()) else { return };
    let at = || path() / "clusterTopologyName";
    if !dns::is_subdomain(name) {
        issues.add(
            NAME_FORM
                .invalid(at(), name)
                .message("must be a DNS-1123 subdomain")
                .help("lower case letters, digits, '-' and '.'"),
        );
    }
    if !workload_backend.is_grove() {
        let issue = NEEDS_GROVE.forbidden(at()).message("may only be set for graphs that Grove runs");
        issues.add(issue.help("set labelKey, the label of the nodes, instead"));
    }
    within(policy, name, topology, issues);
}

/// Demands that the topology exists and has the domain.
fn within(policy: &KvTransferPolicy, name: &str, topology: &TopologyLookup, issues: &mut Issues) {
    let at = || path() / "clusterTopologyName";
    match topology {
        TopologyLookup::NotEvaluated => issues.add(EXISTS.note(at(), NOT_EVALUATED)),
        TopologyLookup::Absent => {
            issues.add(EXISTS.invalid(at(), name).message("the cluster has no ClusterTopologyBinding of this name"));
        }
        TopologyLookup::Known(levels) if !levels.contains(&policy.domain) => {
            issues.add(DOMAIN_IS_LEVEL.invalid(path() / "domain", policy.domain.as_str()).help(listed(levels)));
        }
        TopologyLookup::NotNeeded | TopologyLookup::Known(_) => {}
    }
}

fn path() -> FieldPath {
    FieldPath::field("spec") / "experimental" / "kvTransferPolicy"
}

fn policy(graph: &DynamoGraphDeployment) -> Option<&KvTransferPolicy> {
    graph.spec.experimental.as_ref()?.kv_transfer_policy.as_ref()
}

/// Demands that the policy stays as it is.
pub(super) fn check_update(old: &DynamoGraphDeployment, new: &DynamoGraphDeployment, issues: &mut Issues) {
    let (before, after) = (policy(old), policy(new));
    if before.map(meaning) != after.map(meaning) {
        let value = serde_json::to_value(after).unwrap_or_default();
        let issue = CONSTANT.invalid(path(), value).message("field is immutable");
        issues.add(issue.help("delete the graph and recreate it"));
    }
}

/// What a policy means: an absent text and an empty one say the same, and an absent enforcement is a must.
fn meaning(policy: &KvTransferPolicy) -> (&str, &str, &str, &Enforcement, Option<f64>) {
    (
        policy.cluster_topology_name.as_deref().unwrap_or_default(),
        policy.label_key.as_deref().unwrap_or_default(),
        &policy.domain,
        policy.enforcement.as_ref().unwrap_or(&Enforcement::Required),
        policy.preferred_weight,
    )
}
