//! What graphs have to do with Grove: who runs a graph, and how long the names become that Grove makes.

use std::collections::BTreeMap;
use std::fmt;

use dynamo_api::constants::{
    ENABLE_GROVE, GPU_MEMORY_SUFFIX, GROVE_NAME_LIMIT, LEADER_SUFFIX, PROVIDER_GROVE, WORKER_SUFFIX, WORKLOAD_PROVIDER,
};
use dynamo_api::v1beta1::{ComponentSpec, Failover, GpuMemoryService, Multinode, PodMode};

use crate::operator::facts::ClusterFacts;

/// Nodes of an instance whose `multinode` doesn't say how many: the schema's default.
const DEFAULT_NODE_COUNT: i32 = 2;

/// However long the components' names are, this many bytes are left to the name of the graph.
const LEAST_NAME_BUDGET: usize = 8;

/// The workload provider that runs a graph (GROVE-01, GROVE-02).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WorkloadBackend {
    /// Grove.
    Grove,
    /// Deployments and `LeaderWorkerSets`.
    Component,
}

impl WorkloadBackend {
    /// The backend of a graph with these annotations: what the controllers have noted wins over what was asked for.
    pub(crate) fn of(annotations: &BTreeMap<String, String>, facts: &ClusterFacts) -> Self {
        match annotations.get(WORKLOAD_PROVIDER) {
            Some(provider) if provider == PROVIDER_GROVE => Self::Grove,
            Some(_) => Self::Component,
            None => Self::intended(annotations, facts),
        }
    }

    /// The backend that a new graph is given: Grove where the cluster has it, unless the graph opts out.
    pub(crate) fn intended(annotations: &BTreeMap<String, String>, facts: &ClusterFacts) -> Self {
        let opted_out = annotations.get(ENABLE_GROVE).is_some_and(|value| value.to_lowercase() == "false");
        if facts.grove.is_on() && !opted_out { Self::Grove } else { Self::Component }
    }

    /// Whether Grove runs the graph.
    pub(crate) const fn is_grove(self) -> bool {
        matches!(self, Self::Grove)
    }
}

/// Nodes of one instance of the component; 1 without `multinode`.
pub(crate) fn nodes(component: &ComponentSpec) -> i32 {
    component.multinode.as_ref().map_or(1, node_count)
}

/// Nodes of one instance that spans several.
pub(crate) fn node_count(multinode: &Multinode) -> i32 {
    multinode.node_count.unwrap_or(DEFAULT_NODE_COUNT)
}

/// The component's GPU memory service, if it asks for one.
pub(crate) fn gpu_memory_service(component: &ComponentSpec) -> Option<&GpuMemoryService> {
    component.experimental.as_ref()?.gpu_memory_service.as_ref()
}

/// The component's failover, if it asks for one.
pub(crate) fn failover(component: &ComponentSpec) -> Option<&Failover> {
    component.experimental.as_ref()?.failover.as_ref()
}

/// Whether the component's GPU memory service works between pods.
pub(crate) fn shares_gpu_memory_between_pods(component: &ComponentSpec) -> bool {
    gpu_memory_service(component).is_some_and(|service| *service.effective_mode() == PodMode::InterPod)
}

/// Whether Grove makes a scaling group for the component rather than a single clique.
pub(crate) fn uses_scaling_group(component: &ComponentSpec) -> bool {
    nodes(component) > 1 || shares_gpu_memory_between_pods(component) || forces_scaling_group(component)
}

/// Whether the component asks for a scaling group; absent means no.
pub(crate) fn forces_scaling_group(component: &ComponentSpec) -> bool {
    let grove = component.experimental.as_ref().and_then(|experimental| experimental.grove.as_ref());
    grove.and_then(|grove| grove.force_scaling_group).unwrap_or(false)
}

/// The names that Grove makes of a graph (NAME-01).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GroveNames<'a> {
    graph: &'a str,
    /// How many bytes of the graph's name are in them.
    graph_bytes: usize,
}

/// The longest name that Grove makes of a component; shown as the sum of its parts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GroveName<'a> {
    names: GroveNames<'a>,
    component: &'a ComponentSpec,
}

impl GroveName<'_> {
    /// How many bytes it has.
    pub(crate) fn bytes(&self) -> usize {
        self.names.graph_bytes + component_part(self.component)
    }
}

impl fmt::Display for GroveName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let GroveNames { graph, graph_bytes } = self.names;
        let (shown, name) = (&graph[..graph.floor_char_boundary(graph_bytes)], &self.component.name);
        write!(f, "{shown} ({graph_bytes}) + {name} ({})", name.len())?;
        if let Some(clique) = group_part(self.component) {
            write!(f, " + its longest clique ({clique})")?;
        }
        write!(f, " = {}", self.bytes())
    }
}

impl<'a> GroveNames<'a> {
    /// The names of a graph of this name: it is cut so that the longest component still fits, but never below
    /// [`LEAST_NAME_BUDGET`].
    pub(crate) fn of(graph: &'a str, components: &[ComponentSpec]) -> Self {
        let longest = components.iter().map(component_part).max().unwrap_or(0);
        let budget = GROVE_NAME_LIMIT.saturating_sub(longest).max(LEAST_NAME_BUDGET);
        Self { graph, graph_bytes: graph.len().min(budget) }
    }

    /// The longest name of the component, if it is too long.
    pub(crate) fn too_long(self, component: &'a ComponentSpec) -> Option<GroveName<'a>> {
        let name = GroveName { names: self, component };
        (name.bytes() > GROVE_NAME_LIMIT).then_some(name)
    }
}

/// What the component adds to a name: its own name and, in a scaling group, that of its longest clique.
fn component_part(component: &ComponentSpec) -> usize {
    component.name.len() + group_part(component).unwrap_or(0)
}

/// The longest clique of a component that is a scaling group.
fn group_part(component: &ComponentSpec) -> Option<usize> {
    uses_scaling_group(component).then(|| longest_clique(component))
}

/// The longest of `<name>-ldr`, `<name>-wkr-<rank>` and `<name>-gms-<rank>`, as far as the component has them.
fn longest_clique(component: &ComponentSpec) -> usize {
    let name = component.name.len();
    let nodes = nodes(component);
    let ranked = |suffix: &str| name + 1 + suffix.len() + 1 + digits(nodes - 1);
    match (nodes > 1, shares_gpu_memory_between_pods(component)) {
        (true, true) => ranked(WORKER_SUFFIX).max(ranked(GPU_MEMORY_SUFFIX)),
        (true, false) => name + 1 + LEADER_SUFFIX.len().max(WORKER_SUFFIX.len()),
        (false, true) => name + 1 + GPU_MEMORY_SUFFIX.len() + 1 + digits(0),
        (false, false) => name,
    }
}

/// How many digits a rank has.
fn digits(rank: i32) -> usize {
    rank.checked_ilog10().map_or(1, |log| log as usize + 1)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::operator::facts::Gate;

    fn annotations(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect()
    }

    fn workload_backend(grove: Gate, pairs: &[(&str, &str)]) -> WorkloadBackend {
        WorkloadBackend::of(&annotations(pairs), &ClusterFacts { grove, ..ClusterFacts::default() })
    }

    #[test]
    fn the_provider_annotation_beats_the_gate_and_the_opt_out() {
        assert_eq!(
            workload_backend(Gate::Off, &[(WORKLOAD_PROVIDER, "grove"), (ENABLE_GROVE, "false")]),
            WorkloadBackend::Grove
        );
        assert_eq!(workload_backend(Gate::On, &[(WORKLOAD_PROVIDER, "component")]), WorkloadBackend::Component);
        assert_eq!(workload_backend(Gate::On, &[(WORKLOAD_PROVIDER, "")]), WorkloadBackend::Component);
        assert_eq!(workload_backend(Gate::On, &[(WORKLOAD_PROVIDER, "Grove")]), WorkloadBackend::Component);
    }

    #[test]
    fn only_false_in_any_case_of_letters_opts_out() {
        assert_eq!(workload_backend(Gate::On, &[]), WorkloadBackend::Grove);
        assert_eq!(workload_backend(Gate::Off, &[]), WorkloadBackend::Component);
        assert_eq!(workload_backend(Gate::On, &[(ENABLE_GROVE, "False")]), WorkloadBackend::Component);
        assert_eq!(workload_backend(Gate::On, &[(ENABLE_GROVE, "")]), WorkloadBackend::Grove);
        assert_eq!(workload_backend(Gate::On, &[(ENABLE_GROVE, "no")]), WorkloadBackend::Grove);
        assert_eq!(workload_backend(Gate::On, &[(ENABLE_GROVE, " false")]), WorkloadBackend::Grove);
        assert_eq!(workload_backend(Gate::Off, &[(ENABLE_GROVE, "true")]), WorkloadBackend::Component);
    }

    fn component(length: usize, members: &Value) -> ComponentSpec {
        let mut spec = members.clone();
        spec["name"] = "c".repeat(length).into();
        serde_json::from_value(spec).unwrap()
    }

    /// The longest component name that fits beside a graph name of eight bytes.
    fn longest_name(members: &Value) -> usize {
        let fits = |&length: &usize| {
            let component = component(length, members);
            GroveNames::of("12345678", std::slice::from_ref(&component)).too_long(&component).is_none()
        };
        (1..60).take_while(fits).last().unwrap()
    }

    #[test]
    fn the_longest_component_name_depends_on_its_cliques() {
        let between_pods = json!({"gpuMemoryService": {"mode": "InterPod"}});
        assert_eq!(longest_name(&json!({})), 37);
        assert_eq!(longest_name(&json!({"multinode": {"nodeCount": 2}})), 16);
        assert_eq!(longest_name(&json!({"experimental": between_pods})), 15);
        assert_eq!(longest_name(&json!({"experimental": between_pods, "multinode": {"nodeCount": 10}})), 15);
        assert_eq!(longest_name(&json!({"experimental": between_pods, "multinode": {"nodeCount": 11}})), 15);
        assert_eq!(longest_name(&json!({"experimental": between_pods, "multinode": {"nodeCount": 102}})), 14);
        assert_eq!(longest_name(&json!({"experimental": {"grove": {"forceScalingGroup": true}}})), 18);
        assert_eq!(longest_name(&json!({"experimental": {"grove": {"forceScalingGroup": false}}})), 37);
    }

    #[test]
    fn a_graph_name_shorter_than_the_budget_leaves_room() {
        let component = component(44, &json!({}));
        let bytes = |graph: &str| {
            GroveNames::of(graph, std::slice::from_ref(&component)).too_long(&component).map(|name| name.bytes())
        };
        assert_eq!(bytes("a"), None);
        assert_eq!(bytes(""), None);
        assert_eq!(bytes("ab"), Some(46));
        assert_eq!(bytes(&"a".repeat(200)), Some(52));
    }

    #[test]
    fn a_long_component_shortens_the_name_for_all() {
        let components = [component(37, &json!({})), component(5, &json!({}))];
        let graph = "a".repeat(63);
        let names = GroveNames::of(&graph, &components);
        assert!(components.iter().all(|component| names.too_long(component).is_none()));
    }

    #[test]
    fn a_node_count_of_any_size_is_counted_at_once() {
        let experimental = json!({"gpuMemoryService": {"mode": "InterPod"}});
        for count in [i32::MIN, -1, 0, 1, i32::MAX] {
            let component = component(3, &json!({"multinode": {"nodeCount": count}, "experimental": experimental}));
            assert!(component_part(&component) <= 3 + 3 + 5 + 10);
        }
    }
}
