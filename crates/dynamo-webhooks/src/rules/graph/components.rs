//! The components of a graph, as far as only graphs demand it: DGD-48 to DGD-51, DGD-55.

use dynamo_api::constants::GROVE_NAME_LIMIT;
use dynamo_api::v1beta1::{BackendFramework, ComponentSpec, DynamoGraphDeployment};
use gateward::{FieldPath, Issues, Rule};

use super::applies_to::GRAPHS;
use super::power;
use crate::rules::component::elastic;
use crate::rules::grove::{self, GroveNames, WorkloadBackend};

const SOME: Rule = rule! {
    id: "DGD-48",
    summary: "a graph has at least one component",
    ..GRAPHS
};

const NAME_FITS: Rule = rule! {
    id: "DGD-49",
    summary: "the names that Grove makes of a graph and its component have at most 45 bytes",
    ..GRAPHS
};

const MEMORY_NEEDS_GROVE: Rule = rule! {
    id: "DGD-50",
    summary: "GPU memory is shared between pods only in graphs that Grove runs",
    help: "leave it out, or let Grove run the graph: set the annotation nvidia.com/workload-provider to grove",
    ..GRAPHS
};

const MEMORY_NEEDS_VLLM: Rule = rule! {
    id: "DGD-51",
    good_of: "DGD-50",
    summary: "GPU memory is shared between pods only by vLLM",
    ..GRAPHS
};

const ELASTIC_COMMAND: Rule = rule! {
    id: "DGD-55",
    summary: "elastic expert parallelism on Ray has its command written out",
    ..GRAPHS
};

/// The catalogue's entries.
pub(super) const RULES: &[&Rule] = &[&SOME, &NAME_FITS, &MEMORY_NEEDS_GROVE, &MEMORY_NEEDS_VLLM, &ELASTIC_COMMAND];

/// Demands that there are components. A graph without any is never admitted: where the stored one shows none either,
/// the API server has not converted it, and dropped what the version of the request doesn't know.
pub(super) fn some(old: Option<&DynamoGraphDeployment>, graph: &DynamoGraphDeployment, issues: &mut Issues) {
    if !graph.spec.components.is_empty() {
        return;
    }
    let issue = SOME.required(FieldPath::field("spec") / "components");
    issues.add(match old {
        Some(old) if old.spec.components.is_empty() => issue.message(UNCONVERTED).help(SEE_STRATEGY),
        _ => issue.message("must have at least one entry").help("add a frontend and a worker, each with an image"),
    });
}

const UNCONVERTED: &str = "must have at least one entry, and the stored object shows none in this version either: the CRD's conversion \
                           seems to be off";
const SEE_STRATEGY: &str = "spec.conversion.strategy of the CRD dynamographdeployments.nvidia.com has to be Webhook; use the version that \
                            the object is stored in meanwhile; where it is Webhook, the graph was stored without components: delete it and \
                            recreate it with some";

/// The parts of a graph that the rules of its components read.
#[derive(Debug, Clone, Copy)]
pub(super) struct GraphContext<'a> {
    names: GroveNames<'a>,
    workload_backend: WorkloadBackend,
    framework: Option<&'a BackendFramework>,
}

impl<'a> GraphContext<'a> {
    /// The context of the components of `graph`.
    pub(super) fn of(graph: &'a DynamoGraphDeployment, workload_backend: WorkloadBackend) -> Self {
        let names = GroveNames::of(&graph.metadata.name, &graph.spec.components);
        Self { names, workload_backend, framework: graph.spec.backend_framework.as_ref() }
    }
}

/// Validates the component at `at`, before the rules that both kinds share.
pub(super) fn check(component: &ComponentSpec, graph: GraphContext, at: &FieldPath, issues: &mut Issues) {
    name(component, graph, at, issues);
    memory_between_pods(component, graph, at, issues);
    power::check(component, at, issues);
    issues.extend(elastic::missing_command(&ELASTIC_COMMAND, graph.framework, component, at));
}

fn name(component: &ComponentSpec, graph: GraphContext, at: &FieldPath, issues: &mut Issues) {
    if !graph.workload_backend.is_grove() {
        return;
    }
    if let Some(name) = graph.names.too_long(component) {
        let message = format!("Grove makes names of it that are too long: {name}, at most {GROVE_NAME_LIMIT} bytes");
        let help = "shorten it; with several nodes, a scaling group or GPU memory between pods it counts twice";
        issues.add(NAME_FITS.invalid(at / "name", component.name.as_str()).message(message).help(help));
    }
}

fn memory_between_pods(component: &ComponentSpec, graph: GraphContext, at: &FieldPath, issues: &mut Issues) {
    if !grove::shares_gpu_memory_between_pods(component) {
        return;
    }
    let mode = || at / "experimental" / "gpuMemoryService" / "mode";
    if !graph.workload_backend.is_grove() {
        issues.add(MEMORY_NEEDS_GROVE.forbidden(mode()).message("may only be set for graphs that Grove runs"));
    }
    if graph.framework != Some(&BackendFramework::Vllm) {
        let issue = MEMORY_NEEDS_VLLM.invalid(mode(), "InterPod");
        issues.add(issue.message("may only be set for vLLM").help("set spec.backendFramework to vllm"));
    }
}
