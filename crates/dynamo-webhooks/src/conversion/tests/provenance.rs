//! Every row of the table that leads from the hub's paths to the user's.

use serde_json::{Value, json};

use super::{component, graph, service};

/// Where the user wrote `hub`, a path below the component, given below the service.
#[track_caller]
fn assert_traced(service_spec: Value, rows: &[(&str, &str)]) {
    let lifted = service(service_spec);
    for (hub, written) in rows {
        let expected = format!("spec.services[w]{written}");
        assert_eq!(lifted.trace(&format!("spec.components[0]{hub}")), expected, "{hub}");
    }
}

#[test]
fn the_graph() {
    let lifted = graph(json!({
        "services": {"b": {}, "a": {}, "ghost": null}, "envs": [], "topologyConstraint": {"topologyProfile": "t"},
    }));
    for (hub, written) in [
        ("spec.components", "spec.services"),
        ("spec.components[0]", "spec.services[a]"),
        ("spec.components[1]", "spec.services[b]"),
        ("spec.components[1].name", "spec.services[b]"),
        ("spec.components[1].replicas", "spec.services[b].replicas"),
        ("spec.env[3].name", "spec.envs[3].name"),
        ("spec.topologyConstraint.clusterTopologyName", "spec.topologyConstraint.topologyProfile"),
        ("spec.topologyConstraint.packDomain", "spec.topologyConstraint.packDomain"),
        ("spec.topologyConstraint", "spec.topologyConstraint"),
        ("spec.restart.strategy.order[2]", "spec.restart.strategy.order[2]"),
        ("metadata.annotations[a/b]", "metadata.annotations[a/b]"),
    ] {
        assert_eq!(lifted.trace(hub), written, "{hub}");
    }
}

#[test]
fn a_graph_without_services() {
    assert_eq!(graph(json!({})).trace("spec.components"), "spec.services");
}

#[test]
fn the_type_is_reported_where_it_was_made() {
    assert_traced(json!({"componentType": "worker"}), &[(".type", ".componentType")]);
    assert_traced(json!({"componentType": "worker", "subComponentType": "decode"}), &[(".type", ".subComponentType")]);
    assert_traced(json!({"componentType": "prefill", "subComponentType": "decode"}), &[(".type", ".componentType")]);
    assert_traced(json!({}), &[(".type", ".componentType")]);
}

#[test]
fn of_a_great_many_mounts_all_are_reported_at_the_list() {
    let mounts: Vec<Value> =
        (0..300).map(|n| json!({"name": format!("v{n}"), "mountPoint": format!("/{n}")})).collect();
    let main = json!({"mainContainer": {"image": "x:1", "volumeMounts": [{"name": "own", "mountPath": "/own"}]}});
    for service in [json!({"volumeMounts": mounts}), json!({"volumeMounts": mounts, "extraPodSpec": main})] {
        assert_traced(
            service,
            &[
                (".podTemplate.spec.containers[0].volumeMounts", ".volumeMounts"),
                (".podTemplate.spec.containers[0].volumeMounts[299].mountPath", ".volumeMounts"),
            ],
        );
    }
}

#[test]
fn shared_memory_is_reported_where_it_was_made() {
    assert_traced(json!({"sharedMemory": {"size": "-1"}}), &[(".sharedMemorySize", ".sharedMemory.size")]);
    assert_traced(
        json!({"sharedMemory": {"size": "1", "disabled": true}}),
        &[(".sharedMemorySize", ".sharedMemory.disabled")],
    );
}

#[test]
fn experimental_features_stand_on_the_service_itself() {
    assert_traced(
        json!({}),
        &[
            (".experimental", ""),
            (".experimental.gpuMemoryService.mode", ".gpuMemoryService.mode"),
            (".experimental.gpuMemoryService.extraClientContainers[1]", ".gpuMemoryService.extraClientContainers[1]"),
            (".experimental.failover.numShadows", ".failover.numShadows"),
            (".experimental.checkpoint.checkpointRef", ".checkpoint.checkpointRef"),
            (".experimental.checkpoint.job.gmsClientContainers", ".checkpoint.job.gmsClientContainers"),
            (".experimental.grove.forceScalingGroup", ""),
        ],
    );
}

#[test]
fn the_compilation_cache_is_the_mount_that_asks_for_it() {
    assert_traced(
        json!({"volumeMounts": [{"name": "a"}, {"name": "b", "useAsCompilationCache": true}]}),
        &[
            (".compilationCache", ".volumeMounts[1]"),
            (".compilationCache.pvcName", ".volumeMounts[1].name"),
            (".compilationCache.mountPath", ".volumeMounts[1].mountPoint"),
        ],
    );
}

#[test]
fn pod_metadata_is_the_extra_metadata_written_or_not() {
    for spec in [json!({}), json!({"extraPodMetadata": {"annotations": {"a": "b"}}})] {
        assert_traced(
            spec,
            &[
                (".podTemplate.metadata.annotations[a]", ".extraPodMetadata.annotations[a]"),
                (".podTemplate.metadata.labels[a/b]", ".extraPodMetadata.labels[a/b]"),
            ],
        );
    }
}

#[test]
fn the_pod_as_a_whole_is_the_nearest_node_that_the_user_wrote() {
    let whole = |written: &'static str| {
        [".podTemplate", ".podTemplate.spec", ".podTemplate.spec.containers"].map(|hub| (hub, written))
    };
    assert_traced(json!({}), &whole(""));
    assert_traced(json!({"envs": [{"name": "A"}]}), &whole(""));
    assert_traced(json!({"extraPodSpec": {"nodeSelector": {}}}), &whole(".extraPodSpec"));
}

#[test]
fn further_members_of_the_pods_spec_and_further_containers() {
    assert_traced(
        json!({"extraPodSpec": {
            "containers": [{"name": "logs"}, {"name": "main"}, {"name": "metrics"}], "initContainers": [{"name": "i"}],
        }}),
        &[
            (".podTemplate.spec.initContainers[0].resources", ".extraPodSpec.initContainers[0].resources"),
            (".podTemplate.spec.containers[1].image", ".extraPodSpec.containers[0].image"),
            (".podTemplate.spec.containers[2].resources.claims", ".extraPodSpec.containers[2].resources.claims"),
        ],
    );
}

#[test]
fn parts_of_the_main_container_that_only_main_container_can_have() {
    let main = ".podTemplate.spec.containers[0]";
    assert_traced(
        json!({"extraPodSpec": {"mainContainer": {"args": ["a"]}}}),
        &[
            (main, ".extraPodSpec.mainContainer"),
            (&format!("{main}.image"), ".extraPodSpec.mainContainer.image"),
            (&format!("{main}.command"), ".extraPodSpec.mainContainer.command"),
        ],
    );
}

#[test]
fn a_main_container_of_flat_fields_alone() {
    assert_traced(
        json!({
            "envs": [{"name": "A"}],
            "envFromSecret": "s",
            "volumeMounts": [{"name": "data", "mountPoint": "/data"}],
            "livenessProbe": {"httpGet": {"port": 80}},
            "resources": {
                "limits": {"cpu": "1", "memory": "1Gi", "gpu": "1", "custom": {"v/nic": "1"}},
                "requests": {"gpu": "1", "gpuType": "v/gpu", "custom": {"cpu": "2"}},
                "claims": [{"name": "c"}],
            },
        }),
        &[
            (".podTemplate.spec.containers[0]", ""),
            (".podTemplate.spec.containers[0].name", ""),
            (".podTemplate.spec.containers[0].env", ".envs"),
            (".podTemplate.spec.containers[0].env[0].value", ".envs[0].value"),
            (".podTemplate.spec.containers[0].envFrom[0].secretRef.name", ".envFromSecret"),
            (".podTemplate.spec.containers[0].volumeMounts", ".volumeMounts"),
            (".podTemplate.spec.containers[0].volumeMounts[0]", ".volumeMounts[0]"),
            (".podTemplate.spec.containers[0].volumeMounts[0].name", ".volumeMounts[0].name"),
            (".podTemplate.spec.containers[0].volumeMounts[0].mountPath", ".volumeMounts[0].mountPoint"),
            (".podTemplate.spec.containers[0].livenessProbe.httpGet.port", ".livenessProbe.httpGet.port"),
            (".podTemplate.spec.containers[0].resources", ".resources"),
            (".podTemplate.spec.containers[0].resources.limits", ".resources.limits"),
            (".podTemplate.spec.containers[0].resources.limits[cpu]", ".resources.limits.cpu"),
            (".podTemplate.spec.containers[0].resources.limits[memory]", ".resources.limits.memory"),
            (".podTemplate.spec.containers[0].resources.limits[nvidia.com/gpu]", ".resources.limits.gpu"),
            (".podTemplate.spec.containers[0].resources.limits[v/nic]", ".resources.limits.custom[v/nic]"),
            (".podTemplate.spec.containers[0].resources.requests[v/gpu]", ".resources.requests.gpu"),
            (".podTemplate.spec.containers[0].resources.requests[cpu]", ".resources.requests.custom[cpu]"),
            (".podTemplate.spec.containers[0].resources.claims", ".resources.claims"),
            (".podTemplate.spec.containers[0].resources.claims[0].name", ".resources.claims[0].name"),
        ],
    );
}

#[test]
fn resources_that_nobody_wrote_are_missed_at_the_flat_field() {
    for spec in [json!({"envs": [{"name": "A"}]}), json!({"extraPodSpec": {"mainContainer": {"image": "r/x:1"}}})] {
        assert_traced(spec, &[(".podTemplate.spec.containers[0].resources", ".resources")]);
    }
}

#[test]
fn a_merged_main_container() {
    assert_traced(
        json!({
            "envs": [{"name": "A"}, {"name": "B"}],
            "envFromSecret": "s",
            "volumeMounts": [{"name": "data", "mountPoint": "/data"}],
            "livenessProbe": {"periodSeconds": 5, "httpGet": {"path": "/live", "port": 80}},
            "readinessProbe": {"periodSeconds": 5},
            "resources": {"limits": {"cpu": "1", "gpu": "1"}, "requests": {"gpu": "1"}, "claims": [{"name": "c"}]},
            "extraPodSpec": {"mainContainer": {
                "env": [{"name": "C"}, {"name": "B"}],
                "envFrom": [{"configMapRef": {"name": "c"}}],
                "volumeMounts": [{"name": "cfg", "mountPath": "/cfg"}],
                "livenessProbe": {"httpGet": {"path": "/health"}, "timeoutSeconds": 3},
                "resources": {"limits": {"nvidia.com/gpu": "2"}},
            }},
        }),
        &[
            (".podTemplate.spec.containers[0].env[0]", ".envs[0]"),
            (".podTemplate.spec.containers[0].env[1]", ".extraPodSpec.mainContainer.env[1]"),
            (".podTemplate.spec.containers[0].env[2].name", ".extraPodSpec.mainContainer.env[0].name"),
            (".podTemplate.spec.containers[0].envFrom[0]", ".extraPodSpec.mainContainer.envFrom[0]"),
            (".podTemplate.spec.containers[0].volumeMounts[0]", ".extraPodSpec.mainContainer.volumeMounts[0]"),
            (".podTemplate.spec.containers[0].volumeMounts[1].mountPath", ".volumeMounts[0].mountPoint"),
            (".podTemplate.spec.containers[0].livenessProbe.periodSeconds", ".livenessProbe.periodSeconds"),
            (".podTemplate.spec.containers[0].livenessProbe.httpGet.port", ".livenessProbe.httpGet.port"),
            (
                ".podTemplate.spec.containers[0].livenessProbe.httpGet.path",
                ".extraPodSpec.mainContainer.livenessProbe.httpGet.path",
            ),
            (
                ".podTemplate.spec.containers[0].livenessProbe.timeoutSeconds",
                ".extraPodSpec.mainContainer.livenessProbe.timeoutSeconds",
            ),
            (".podTemplate.spec.containers[0].readinessProbe", ".readinessProbe"),
            (".podTemplate.spec.containers[0].resources", ".extraPodSpec.mainContainer.resources"),
            (
                ".podTemplate.spec.containers[0].resources.limits[nvidia.com/gpu]",
                ".extraPodSpec.mainContainer.resources.limits[nvidia.com/gpu]",
            ),
            (".podTemplate.spec.containers[0].resources.limits[cpu]", ".resources.limits.cpu"),
            (".podTemplate.spec.containers[0].resources.requests", ".resources.requests"),
            (".podTemplate.spec.containers[0].resources.requests[nvidia.com/gpu]", ".resources.requests.gpu"),
            (".podTemplate.spec.containers[0].resources.claims[0]", ".resources.claims[0]"),
        ],
    );
}

#[test]
fn the_generated_sidecar() {
    assert_traced(
        json!({"frontendSidecar": {"image": "i", "envFromSecret": "s", "envs": [{"name": "A"}]}}),
        &[
            (".frontendSidecar", ".frontendSidecar"),
            (".podTemplate.spec.containers[1]", ".frontendSidecar"),
            (".podTemplate.spec.containers[1].name", ".frontendSidecar"),
            (".podTemplate.spec.containers[1].image", ".frontendSidecar.image"),
            (".podTemplate.spec.containers[1].env[0].name", ".frontendSidecar.envs[0].name"),
            (".podTemplate.spec.containers[1].envFrom[0]", ".frontendSidecar.envFromSecret"),
        ],
    );
}

#[test]
fn nodes_of_an_odd_type_are_reported_where_they_stand() {
    let rows = [
        (json!("odd"), ".podTemplate.spec", ".extraPodSpec"),
        (json!({"containers": 5}), ".podTemplate.spec.containers", ".extraPodSpec.containers"),
        (json!({"mainContainer": 5}), ".podTemplate.spec.containers[0]", ".extraPodSpec.mainContainer"),
        (
            json!({"mainContainer": {"resources": ""}}),
            ".podTemplate.spec.containers[0].resources",
            ".extraPodSpec.mainContainer.resources",
        ),
        (
            json!({"mainContainer": {"image": 5}}),
            ".podTemplate.spec.containers[0].image",
            ".extraPodSpec.mainContainer.image",
        ),
        (json!({"containers": [5]}), ".podTemplate.spec.containers[1]", ".extraPodSpec.containers[0]"),
    ];
    for (spec, hub, written) in rows {
        assert_traced(json!({"extraPodSpec": spec, "resources": {"limits": {"gpu": "1"}}}), &[(hub, written)]);
    }
}

#[test]
fn a_standalone_component_has_the_same_rows_without_a_key() {
    let lifted = component(json!({
        "serviceName": "drum", "componentType": "worker", "envs": [{"name": "A"}],
        "extraPodSpec": {"mainContainer": {"image": "i"}},
    }));
    for (hub, written) in [
        ("spec", "spec"),
        ("spec.name", "spec.serviceName"),
        ("spec.type", "spec.componentType"),
        ("spec.backendFramework", "spec.backendFramework"),
        ("spec.minAvailable", "spec.minAvailable"),
        ("spec.experimental.checkpoint.checkpointRef", "spec.checkpoint.checkpointRef"),
        ("spec.podTemplate.spec.containers[0].image", "spec.extraPodSpec.mainContainer.image"),
        ("spec.podTemplate.spec.containers[0].env[0]", "spec.envs[0]"),
        ("spec.podTemplate", "spec.extraPodSpec"),
    ] {
        assert_eq!(lifted.trace(hub), written, "{hub}");
    }
    assert_eq!(component(json!({})).trace("spec.name"), "metadata.name");
    assert_eq!(component(json!({})).trace("spec.podTemplate"), "spec");
}
