//! The annotations of a graph: DGD-40 to DGD-45.

use dynamo_api::constants::{
    GROVE_UPDATE_STRATEGY, KUBE_DISCOVERY_MODE, ORIGIN_VERSION, PROVIDER_COMPONENT, PROVIDER_GROVE,
    VLLM_EXECUTOR_BACKEND, WORKLOAD_PROVIDER,
};
use dynamo_api::v1beta1::{DynamoGraphDeployment, PodMode};
use gateward::{FieldPath, Issues, Rule};

use super::applies_to::GRAPHS;
use crate::rules::grove;

const ORIGIN: Rule = rule! {
    id: "DGD-40",
    summary: "the origin version of a graph is a semantic version",
    ..GRAPHS
};

const EXECUTOR: Rule = rule! {
    id: "DGD-41",
    summary: "the vLLM executor backend of a graph is mp or ray, in any case of letters",
    ..GRAPHS
};

const UPDATE_STRATEGY: Rule = rule! {
    id: "DGD-42",
    summary: "the Grove update strategy of a graph is RollingRecreate or OnDelete",
    help: "write one of the supported values, or leave the annotation out",
    ..GRAPHS
};

const DISCOVERY_MODE: Rule = rule! {
    id: "DGD-43",
    summary: "the discovery mode of a graph is pod or container",
    help: "write one of the supported values, or leave the annotation out",
    ..GRAPHS
};

const PROVIDER: Rule = rule! {
    id: "DGD-44",
    summary: "the workload provider of a graph is component or grove",
    help: "write one of the supported values, or leave the annotation out",
    ..GRAPHS
};

const FAILOVER_DISCOVERY: Rule = rule! {
    id: "DGD-45",
    summary: "a graph whose components fail over within a pod is discovered by container",
    ..GRAPHS
};

/// The catalogue's entries.
pub(super) const RULES: &[&Rule] =
    &[&ORIGIN, &EXECUTOR, &UPDATE_STRATEGY, &DISCOVERY_MODE, &PROVIDER, &FAILOVER_DISCOVERY];

/// How vLLM may distribute its work; read in any case of letters.
const EXECUTORS: [&str; 2] = ["mp", "ray"];
/// What Grove may do with pods of an old revision.
const UPDATE_STRATEGIES: [&str; 2] = ["RollingRecreate", "OnDelete"];
/// The discovery mode that failover within a pod needs.
const PER_CONTAINER: &str = "container";
/// What may be discovered.
const DISCOVERY_MODES: [&str; 2] = ["pod", PER_CONTAINER];
/// What may run a graph.
const PROVIDERS: [&str; 2] = [PROVIDER_COMPONENT, PROVIDER_GROVE];

/// Judges the annotations of `graph`.
pub(super) fn check(graph: &DynamoGraphDeployment, issues: &mut Issues) {
    origin_version(graph, issues);
    vllm_executor(graph, issues);
    one_of(graph, GROVE_UPDATE_STRATEGY, &UPDATE_STRATEGIES, &UPDATE_STRATEGY, issues);
    one_of(graph, KUBE_DISCOVERY_MODE, &DISCOVERY_MODES, &DISCOVERY_MODE, issues);
    one_of(graph, WORKLOAD_PROVIDER, &PROVIDERS, &PROVIDER, issues);
    discovery_for_failover(graph, issues);
}

fn origin_version(graph: &DynamoGraphDeployment, issues: &mut Issues) {
    match graph.metadata.annotation(ORIGIN_VERSION) {
        Some(version) if !is_version(version) => issues.add(
            ORIGIN
                .invalid(FieldPath::annotation(ORIGIN_VERSION), version)
                .message("must be a semantic version such as 1.5.0")
                .help("leave the annotation out: it is filled in when a graph is created"),
        ),
        _ => {}
    }
}

/// Reads versions leniently: a leading `v` and missing minor and patch numbers are fine.
fn is_version(text: &str) -> bool {
    let text = text.strip_prefix('v').unwrap_or(text);
    let (text, build) = cut(text, '+');
    let (numbers, pre_release) = cut(text, '-');
    numbers.split('.').count() <= 3
        && numbers.split('.').all(is_number)
        && pre_release.is_none_or(|text| text.split('.').all(|part| is_identifier(part) && !has_leading_zero(part)))
        && build.is_none_or(|text| text.split('.').all(is_identifier))
}

fn cut(text: &str, at: char) -> (&str, Option<&str>) {
    text.split_once(at).map_or((text, None), |(head, tail)| (head, Some(tail)))
}

/// Digits that fit a machine number.
fn is_number(text: &str) -> bool {
    is_digits(text) && text.parse::<u64>().is_ok()
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_identifier(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn has_leading_zero(text: &str) -> bool {
    text.len() > 1 && text.starts_with('0') && is_digits(text)
}

fn vllm_executor(graph: &DynamoGraphDeployment, issues: &mut Issues) {
    let Some(executor) = graph.metadata.annotation(VLLM_EXECUTOR_BACKEND) else { return };
    if !EXECUTORS.iter().any(|known| executor.eq_ignore_ascii_case(known)) {
        issues.add(
            EXECUTOR
                .invalid(FieldPath::annotation(VLLM_EXECUTOR_BACKEND), executor)
                .message("unsupported executor backend")
                .help("accepted: mp, ray"),
        );
    }
}

/// An annotation with few values, compared letter by letter.
fn one_of(graph: &DynamoGraphDeployment, key: &'static str, accepted: &[&str], rule: &Rule, issues: &mut Issues) {
    match graph.metadata.annotation(key) {
        Some(value) if !accepted.contains(&value) => {
            issues.add(rule.not_supported(FieldPath::annotation(key), value, accepted));
        }
        _ => {}
    }
}

fn discovery_for_failover(graph: &DynamoGraphDeployment, issues: &mut Issues) {
    let mode = graph.metadata.annotation(KUBE_DISCOVERY_MODE).unwrap_or_default();
    let fails_over_within_a_pod = || {
        let failovers = graph.spec.components.iter().filter_map(grove::failover);
        failovers.into_iter().any(|failover| *failover.effective_mode() == PodMode::IntraPod)
    };
    if mode != PER_CONTAINER && fails_over_within_a_pod() {
        issues.add(
            FAILOVER_DISCOVERY
                .invalid(FieldPath::annotation(KUBE_DISCOVERY_MODE), mode)
                .message("must be container for failover within a pod")
                .help("accepted: container"),
        );
    }
}
