use dynamo_api::constants::{
    ENABLE_GROVE, GPU_POWER_LIMIT, GROVE_UPDATE_STRATEGY, KUBE_DISCOVERY_MODE, ORIGIN_VERSION, VLLM_EXECUTOR_BACKEND,
    WORKLOAD_PROVIDER,
};
use serde_json::{Value, json};

use super::{annotated, assert_silent, create, create_in, denied_by, graph, worker};

fn plain() -> Value {
    graph(json!([worker("a", &json!({}))]), json!({}))
}

/// Creates a graph with one annotation.
fn with(key: &str, value: &str) -> Vec<String> {
    denied_by(&create(&annotated(plain(), key, value)))
}

#[test]
fn admits_a_graph_of_one_worker() {
    assert_silent(&create(&plain()));
}

#[test]
fn rejects_a_graph_without_components() {
    assert_eq!(denied_by(&create(&graph(json!([]), json!({})))), ["DGD-48 spec.components"]);
    assert_eq!(denied_by(&create(&graph(json!(null), json!({})))), ["DGD-48 spec.components"]);
}

#[test]
fn reads_the_origin_version_leniently() {
    for version in ["1.4.2", "v1", "v3.2", "1", "0.0", "1.2.3-rc.1+build.5", "1-beta", "1.2+7", "01.2.3", "1.2.3-x-y.0"]
    {
        assert_eq!(with(ORIGIN_VERSION, version), [""; 0], "{version}");
    }
    for version in [
        "",
        "v",
        "V1",
        "latest",
        "1.2.3.4",
        "1.",
        ".1",
        "1..2",
        " 1",
        "1.2.3-",
        "1.2.3+",
        "1.2.3-a..b",
        "1.2.3-01",
        "1.-2",
        "99999999999999999999",
    ] {
        let path = format!("DGD-40 metadata.annotations[{ORIGIN_VERSION}]");
        assert_eq!(with(ORIGIN_VERSION, version), [path], "{version}");
    }
}

#[test]
fn reads_the_vllm_backend_in_any_case_but_untrimmed() {
    for backend in ["mp", "Ray", "RAY", "Mp"] {
        assert_eq!(with(VLLM_EXECUTOR_BACKEND, backend), [""; 0], "{backend}");
    }
    for backend in ["", " ray", "uni"] {
        let path = format!("DGD-41 metadata.annotations[{VLLM_EXECUTOR_BACKEND}]");
        assert_eq!(with(VLLM_EXECUTOR_BACKEND, backend), [path], "{backend}");
    }
}

#[test]
fn compares_strategy_discovery_mode_and_provider_letter_by_letter() {
    for (rule, key, good, bad) in [
        ("DGD-42", GROVE_UPDATE_STRATEGY, ["RollingRecreate", "OnDelete"], ["", "ondelete", "Coherent", "OnDelete "]),
        ("DGD-43", KUBE_DISCOVERY_MODE, ["pod", "container"], ["", "Pod", "node", " pod"]),
        ("DGD-44", WORKLOAD_PROVIDER, ["component", "grove"], ["", "Grove", "lws", "disaggregatedset"]),
    ] {
        for value in good {
            assert_eq!(with(key, value), [""; 0], "{value}");
        }
        for value in bad {
            assert_eq!(with(key, value), [format!("{rule} metadata.annotations[{key}]")], "{value}");
        }
    }
}

/// A worker with a GPU, its memory service and failover in this mode.
fn failing_over(mode: &Value) -> Value {
    let gpu = json!([{"name": "main", "image": "e/r:1.4.2", "resources": {"limits": {"nvidia.com/gpu": 1}}}]);
    let experimental = json!({"gpuMemoryService": {"mode": mode}, "failover": {"mode": mode}});
    worker("a", &json!({"podTemplate": {"spec": {"containers": gpu}}, "experimental": experimental}))
}

#[test]
fn failover_within_a_pod_needs_discovery_by_container() {
    let finding = format!("DGD-45 metadata.annotations[{KUBE_DISCOVERY_MODE}]");
    for mode in [json!("IntraPod"), json!(null), json!("")] {
        let graph = graph(json!([failing_over(&mode)]), json!({"backendFramework": "vllm"}));
        assert_eq!(denied_by(&create(&graph)), [&*finding], "{mode}");
        assert_eq!(denied_by(&create(&annotated(graph.clone(), KUBE_DISCOVERY_MODE, "pod"))), [&*finding]);
        assert_silent(&create(&annotated(graph, KUBE_DISCOVERY_MODE, "container")));
    }
    let between_pods = graph(json!([failing_over(&json!("InterPod"))]), json!({"backendFramework": "vllm"}));
    assert_silent(&create(&between_pods));
}

#[test]
fn a_bad_discovery_mode_beside_such_a_failover_is_found_twice() {
    let graph = graph(json!([failing_over(&json!("IntraPod"))]), json!({}));
    let path = format!("metadata.annotations[{KUBE_DISCOVERY_MODE}]");
    let findings = create(&annotated(graph, KUBE_DISCOVERY_MODE, "Container"));
    assert_eq!(denied_by(&findings), [format!("DGD-43 {path}"), format!("DGD-45 {path}")]);
}

#[test]
fn a_priority_class_needs_grove() {
    let urgent = graph(json!([worker("a", &json!({}))]), json!({"priorityClassName": "urgent"}));
    assert_silent(&create(&urgent));
    let off = json!({"groveEnabled": false});
    assert_eq!(denied_by(&create_in(&off, &urgent)), ["DGD-47 spec.priorityClassName"]);
    assert_eq!(
        denied_by(&create(&annotated(urgent.clone(), ENABLE_GROVE, "FALSE"))),
        ["DGD-47 spec.priorityClassName"]
    );
    assert_silent(&create_in(&off, &annotated(urgent.clone(), WORKLOAD_PROVIDER, "grove")));
    assert_eq!(
        denied_by(&create(&annotated(urgent, WORKLOAD_PROVIDER, "component"))),
        ["DGD-47 spec.priorityClassName"]
    );
    let empty = graph(json!([worker("a", &json!({}))]), json!({"priorityClassName": ""}));
    assert_silent(&create_in(&off, &empty));
}

#[test]
fn a_component_name_that_grove_cannot_use_is_fine_without_grove() {
    let long = graph(json!([worker(&"a".repeat(38), &json!({})), worker("b", &json!({}))]), json!({}));
    let mut named = long.clone();
    named["metadata"]["name"] = "otter-42".into();
    assert_eq!(denied_by(&create(&named)), ["DGD-49 spec.components[0].name"]);
    assert_silent(&create(&annotated(named, ENABLE_GROVE, "false")));
    assert_silent(&create(&long));
}

#[test]
fn a_component_that_is_much_too_long_leaves_the_others_alone() {
    let mut graph = graph(json!([worker("b", &json!({})), worker(&"a".repeat(63), &json!({}))]), json!({}));
    graph["metadata"]["name"] = "a-rather-long-name-of-a-graph".into();
    assert_eq!(denied_by(&create(&graph)), ["DGD-49 spec.components[1].name"]);
}

#[test]
fn gpu_memory_between_pods_needs_grove_and_vllm() {
    let mode = "spec.components[0].experimental.gpuMemoryService.mode";
    let sharing = |spec: Value| graph(json!([failing_over(&json!("InterPod"))]), spec);
    let vllm = json!({"backendFramework": "vllm"});
    let off = json!({"groveEnabled": false});
    assert_silent(&create(&sharing(vllm.clone())));
    assert_eq!(denied_by(&create_in(&off, &sharing(vllm))), [format!("DGD-50 {mode}")]);
    assert_eq!(denied_by(&create(&sharing(json!({})))), [format!("DGD-51 {mode}")]);
    assert_eq!(denied_by(&create(&sharing(json!({"backendFramework": "trtllm"})))), [format!("DGD-51 {mode}")]);
    assert_eq!(denied_by(&create_in(&off, &sharing(json!({})))), [format!("DGD-50 {mode}"), format!("DGD-51 {mode}")]);
}

/// A worker with a power limit and further members.
fn limited(limit: &str, members: &Value) -> Value {
    let mut worker = worker("a", &json!({"podTemplate": {"metadata": {"annotations": {GPU_POWER_LIMIT: limit}}}}));
    super::merge(&mut worker, members);
    graph(json!([worker]), json!({}))
}

#[test]
fn a_power_limit_is_a_positive_decimal_integer() {
    let path = format!("spec.components[0].podTemplate.metadata.annotations[{GPU_POWER_LIMIT}]");
    for limit in ["450", "+450", "007", "9223372036854775807"] {
        assert_silent(&create(&limited(limit, &json!({}))));
    }
    for limit in ["", "+", "-", " 450", "450 ", "4_500", "4.5", "1e3", "0x1f", "9223372036854775808", "450W"] {
        assert_eq!(denied_by(&create(&limited(limit, &json!({})))), [format!("DGD-52 {path}")], "{limit}");
    }
    for limit in ["0", "-0", "-450"] {
        assert_eq!(denied_by(&create(&limited(limit, &json!({})))), [format!("DGD-53 {path}")], "{limit}");
    }
}

#[test]
fn a_power_limit_beside_claims_is_refused_at_the_first_of_them() {
    let claims = json!({"claims": [{"name": "gpus"}]});
    let main = json!({"name": "main", "image": "e/r:1.4.2"});
    let claiming = json!({"name": "c", "image": "e/c", "resources": claims});
    let containers = |containers: Value, init: Value| json!({"podTemplate": {"spec": {"containers": containers, "initContainers": init}}});
    let found = |limit: &str, members: &Value| denied_by(&create(&limited(limit, members)));
    assert_eq!(
        found("450", &containers(json!([main, claiming]), json!([claiming]))),
        ["DGD-54 spec.components[0].podTemplate.spec.containers[1].resources.claims"]
    );
    assert_eq!(
        found("450", &containers(json!([main]), json!([main, claiming]))),
        ["DGD-54 spec.components[0].podTemplate.spec.initContainers[1].resources.claims"]
    );
    let nothing_claimed = json!({"name": "main", "image": "e/r:1.4.2", "resources": {"claims": []}});
    assert_eq!(found("450", &containers(json!([nothing_claimed]), json!([]))), [""; 0]);
}

#[test]
fn a_power_limit_beside_a_gpu_memory_service_is_refused_there_even_if_it_is_no_number() {
    let gpu = json!([{"name": "main", "image": "e/r:1.4.2", "resources": {"limits": {"nvidia.com/gpu": 1}, "claims": [{"name": "g"}]}}]);
    let members = json!({"podTemplate": {"spec": {"containers": gpu}}, "experimental": {"gpuMemoryService": {}}});
    assert_eq!(
        denied_by(&create(&limited("much", &members))),
        [
            format!("DGD-52 spec.components[0].podTemplate.metadata.annotations[{GPU_POWER_LIMIT}]").as_str(),
            "DGD-54 spec.components[0].experimental.gpuMemoryService"
        ]
    );
}

#[test]
fn elastic_expert_parallelism_on_ray_needs_a_command_of_vllm_only() {
    let containers = json!([{"name": "main", "image": "e/r:1.4.2", "args": ["--enable-elastic-ep -dpb ray"]}]);
    let worker = worker("a", &json!({"podTemplate": {"spec": {"containers": containers}}}));
    let judged = |spec: Value| denied_by(&create(&graph(json!([worker]), spec)));
    assert_eq!(
        judged(json!({"backendFramework": "vllm"})),
        ["DGD-55 spec.components[0].podTemplate.spec.containers[0].command"]
    );
    assert_eq!(judged(json!({"backendFramework": "sglang"})), [""; 0]);
    assert_eq!(judged(json!({})), [""; 0]);
}

/// Creates a graph of `a` and `b` with this restart strategy. The ban of restarts on creates is the schema's.
fn restarted(strategy: &Value) -> Vec<String> {
    let components = json!([worker("a", &json!({})), worker("b", &json!({}))]);
    denied_by(&create(&graph(components, json!({"restart": {"id": "x", "strategy": strategy}}))))
}

#[test]
fn an_order_names_every_component_once() {
    let at = "spec.restart.strategy.order";
    assert_eq!(restarted(&json!({"order": ["b", "a"]})), [""; 0]);
    assert_eq!(restarted(&json!({"type": "Sequential", "order": []})), [""; 0]);
    assert_eq!(restarted(&json!({"order": ["a", "b", "a"]})), [format!("DGD-57 {at}")]);
    assert_eq!(restarted(&json!({"order": ["a"]})), [format!("DGD-58 {at}")]);
    assert_eq!(restarted(&json!({"order": ["a", "B"]})), [format!("DGD-59 {at}[1]")]);
    assert_eq!(
        restarted(&json!({"order": ["x", "a", "x"]})),
        [format!("DGD-57 {at}"), format!("DGD-59 {at}[0]"), format!("DGD-59 {at}[2]")]
    );
    assert_eq!(
        restarted(&json!({"order": ["a", "x", "b", "y"]})),
        [format!("DGD-58 {at}"), format!("DGD-59 {at}[1]"), format!("DGD-59 {at}[3]")]
    );
}

#[test]
fn a_parallel_restart_has_no_order_and_nothing_more_is_said_of_it() {
    assert_eq!(restarted(&json!({"type": "Parallel", "order": ["x", "x"]})), ["DGD-56 spec.restart.strategy.order"]);
    assert_eq!(restarted(&json!({"type": "Parallel"})), [""; 0]);
    assert_eq!(
        restarted(&json!({"type": "parallel", "order": ["x"]})),
        ["DGD-58 spec.restart.strategy.order", "DGD-59 spec.restart.strategy.order[0]"]
    );
}

#[test]
fn all_findings_come_in_the_order_of_the_rule_book() {
    let graph = json!({
        "apiVersion": "nvidia.com/v1beta1",
        "kind": "DynamoGraphDeployment",
        "metadata": {"name": "otter", "annotations": {ORIGIN_VERSION: "x", GROVE_UPDATE_STRATEGY: "y", ENABLE_GROVE: "false"}},
        "spec": {
            "providerOverride": {},
            "priorityClassName": "urgent",
            "components": [worker("a", &json!({
                "minAvailable": 1,
                "topologyConstraint": {"packDomain": "rack"},
                "podTemplate": {"metadata": {"annotations": {GPU_POWER_LIMIT: "0"}}},
            }))],
            "restart": {"strategy": {"order": ["b"]}},
            "experimental": {"kvTransferPolicy": {"clusterTopologyName": "A"}},
        },
    });
    let found = denied_by(&create(&graph));
    let rules: Vec<&str> = found.iter().map(|finding| finding.split(' ').next().unwrap_or_default()).collect();
    assert_eq!(
        rules,
        ["DGD-40", "DGD-42", "OVR-02", "DGD-47", "DGD-53", "SHARED-40", "DGD-59", "DGD-64", "DGD-70", "DGD-71"]
    );
}
