//! The pod template.

use dynamo_api::v1alpha1;
use gateward_core::{Convert, Issues, Provenance};
use serde_json::{Value, json};

use super::super::GraphConversion;
use super::service;

fn template(service_spec: Value) -> Value {
    service(service_spec).at("spec.components[0].podTemplate")
}

fn containers(service_spec: Value) -> Value {
    template(service_spec)["spec"]["containers"].clone()
}

fn main(service_spec: Value) -> Value {
    containers(service_spec)[0].clone()
}

#[test]
fn there_is_one_where_any_field_speaks_of_the_pod() {
    for speaks in [
        json!({"resources": {}}),
        json!({"envs": [{"name": "A"}]}),
        json!({"envFromSecret": ""}),
        json!({"volumeMounts": [{"name": "data"}]}),
        json!({"livenessProbe": {}}),
        json!({"readinessProbe": {}}),
        json!({"extraPodSpec": {"securityContext": {}}}),
        json!({"extraPodMetadata": {}}),
        json!({"frontendSidecar": {}}),
    ] {
        let main = containers(speaks.clone())[0]["name"].clone();
        assert_eq!(main, json!("main"), "{speaks}");
    }
}

#[test]
fn there_is_none_where_nothing_speaks_of_the_pod() {
    for silent in [
        json!({}),
        json!({"envs": []}),
        json!({"extraPodSpec": {}}),
        json!({"extraPodSpec": {"mainContainer": null}}),
        json!({"extraPodSpec": {"mainContainer": {}}}),
        json!({"extraPodSpec": {"mainContainer": {"name": "other", "resources": {}}}}),
        json!({"extraPodSpec": {"containers": []}}),
        json!({"extraPodSpec": {"nodeSelector": {}, "hostNetwork": false}}),
        json!({"volumeMounts": [{"name": "cc", "useAsCompilationCache": true}]}),
    ] {
        assert_eq!(template(silent.clone()), Value::Null, "{silent}");
    }
}

#[test]
fn labels_and_annotations_are_those_of_the_extra_metadata_unless_empty() {
    let lifted = template(json!({"extraPodMetadata": {"annotations": {"a": "b"}, "labels": {}}}));
    assert_eq!(lifted["metadata"], json!({"annotations": {"a": "b"}}));
    assert_eq!(template(json!({"extraPodMetadata": {}}))["metadata"], Value::Null);
}

#[test]
fn every_member_of_the_extra_spec_survives_known_or_not() {
    let lifted = template(json!({"extraPodSpec": {
        "nodeSelector": {"pool": "h100"}, "notInAnyVersion": [1, {"x": null}], "terminationGracePeriodSeconds": 0,
        "initContainers": [{"name": "init"}], "mainContainer": {"tty": true, "image": "r/x:1"},
    }}));
    assert_eq!(
        lifted["spec"],
        json!({
            "nodeSelector": {"pool": "h100"}, "notInAnyVersion": [1, {"x": null}], "terminationGracePeriodSeconds": 0,
            "initContainers": [{"name": "init"}],
            "containers": [{"name": "main", "tty": true, "image": "r/x:1"}],
        })
    );
}

#[test]
fn the_main_container_comes_first_and_takes_the_place_of_another_main() {
    let lifted = containers(json!({"extraPodSpec": {
        "mainContainer": {"name": "mine", "image": "r/x:1"},
        "containers": [{"name": "logs"}, {"name": "main", "image": "lost"}, {"name": "metrics"}],
    }}));
    assert_eq!(lifted, json!([{"name": "main", "image": "r/x:1"}, {"name": "logs"}, {"name": "metrics"}]));
}

#[test]
fn resources_get_their_names_of_kubernetes() {
    let lifted = main(json!({"resources": {
        "requests": {"cpu": "4", "memory": "32Gi", "gpu": "2"},
        "limits": {"gpu": "2", "gpuType": "gpu.intel.com/xe", "custom": {"vendor.example/nic": "1"}},
        "claims": [{"name": "c", "request": "r"}],
    }}));
    assert_eq!(
        lifted["resources"],
        json!({
            "requests": {"cpu": "4", "memory": "32Gi", "nvidia.com/gpu": "2"},
            "limits": {"gpu.intel.com/xe": "2", "vendor.example/nic": "1"},
            "claims": [{"name": "c", "request": "r"}],
        })
    );
}

#[test]
fn amounts_are_written_canonically_and_skipped_where_they_are_none() {
    let lifted = main(json!({"resources": {
        "requests": {"cpu": "0.5", "memory": "plenty", "gpu": ""},
        "limits": {"memory": "lots"},
    }}));
    assert_eq!(lifted["resources"], json!({"requests": {"cpu": "500m"}}));
    assert_eq!(main(json!({"resources": {"limits": {"memory": "lots"}}}))["resources"], Value::Null);
}

#[test]
fn custom_amounts_win_over_named_ones_but_not_with_nonsense() {
    let limits = |custom: &str| {
        let resources = json!({"limits": {"gpu": "1", "custom": {"nvidia.com/gpu": custom}}});
        main(json!({"resources": resources}))["resources"]["limits"].clone()
    };
    assert_eq!(limits("4"), json!({"nvidia.com/gpu": "4"}));
    assert_eq!(limits("four"), json!({"nvidia.com/gpu": "1"}));
}

#[test]
fn resources_of_the_main_container_win_name_by_name() {
    let lifted = main(json!({
        "resources": {"limits": {"gpu": "1", "cpu": "2"}, "requests": {"cpu": "1"}, "claims": [{"name": "a"}]},
        "extraPodSpec": {"mainContainer": {"resources": {
            "limits": {"nvidia.com/gpu": 0, "memory": "1Gi"}, "requests": {}, "claims": [{"name": "b"}],
        }}},
    }));
    assert_eq!(
        lifted["resources"],
        json!({
            "limits": {"nvidia.com/gpu": 0, "cpu": "2", "memory": "1Gi"},
            "requests": {"cpu": "1"},
            "claims": [{"name": "b"}],
        })
    );
}

#[test]
fn variables_are_united_by_name_where_they_stand() {
    let lifted = main(json!({
        "envs": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}, {"name": "A", "value": "3"}],
        "extraPodSpec": {"mainContainer": {"env": [{"name": "B", "value": "9"}, {"name": "C", "value": "3"}]}},
    }));
    assert_eq!(
        lifted["env"],
        json!([{"name": "A", "value": "3"}, {"name": "B", "value": "9"}, {"name": "C", "value": "3"}])
    );
}

#[test]
fn variables_of_one_place_stay_as_they_are() {
    let twice = json!([{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]);
    assert_eq!(main(json!({"envs": twice}))["env"], twice);
    assert_eq!(main(json!({"extraPodSpec": {"mainContainer": {"env": twice}}}))["env"], twice);
}

#[test]
fn a_secret_is_a_source_of_variables_unless_the_main_container_names_sources() {
    let of_secret = json!([{"secretRef": {"name": "hf"}}]);
    assert_eq!(main(json!({"envFromSecret": "hf"}))["envFrom"], of_secret);
    assert_eq!(main(json!({"envFromSecret": ""}))["envFrom"], Value::Null);
    let own = json!([{"configMapRef": {"name": "c"}}]);
    let both = json!({"envFromSecret": "hf", "extraPodSpec": {"mainContainer": {"envFrom": own}}});
    assert_eq!(main(both)["envFrom"], own);
    let empty = json!({"envFromSecret": "hf", "extraPodSpec": {"mainContainer": {"envFrom": []}}});
    assert_eq!(main(empty)["envFrom"], of_secret);
}

#[test]
fn mounts_of_the_main_container_come_before_all_others() {
    let lifted = main(json!({
        "volumeMounts": [
            {"name": "data", "mountPoint": "/data"},
            {"name": "cc", "mountPoint": "/cc", "useAsCompilationCache": true},
        ],
        "extraPodSpec": {"mainContainer": {"volumeMounts": [{"name": "cfg", "mountPath": "/cfg"}]}},
    }));
    assert_eq!(
        lifted["volumeMounts"],
        json!([
            {"name": "cfg", "mountPath": "/cfg"},
            {"name": "data", "mountPath": "/data"},
            {"name": "cc", "mountPath": "/cc"},
        ])
    );
}

#[test]
fn probes_are_merged_member_by_member() {
    let lifted = main(json!({
        "livenessProbe": {"periodSeconds": 5, "httpGet": {"path": "/live", "port": 80}},
        "readinessProbe": {"periodSeconds": 9},
        "extraPodSpec": {"mainContainer": {
            "livenessProbe": {"periodSeconds": 7, "httpGet": {"path": "/health"}},
            "startupProbe": {"failureThreshold": 30},
        }},
    }));
    assert_eq!(lifted["livenessProbe"], json!({"periodSeconds": 7, "httpGet": {"path": "/health", "port": 80}}));
    assert_eq!(lifted["readinessProbe"], json!({"periodSeconds": 9}));
    assert_eq!(lifted["startupProbe"], json!({"failureThreshold": 30}));
}

#[test]
fn a_frontend_sidecar_is_the_last_container() {
    let lifted = service(json!({
        "extraPodSpec": {"containers": [{"name": "logs"}]},
        "frontendSidecar": {
            "image": "r/fe:1", "args": ["--port", "8000"], "envFromSecret": "fe", "envs": [{"name": "MODE"}],
        },
    }));
    assert_eq!(lifted.at("spec.components[0].frontendSidecar"), json!("sidecar-frontend"));
    assert_eq!(
        lifted.at("spec.components[0].podTemplate.spec.containers"),
        json!([
            {"name": "main"},
            {"name": "logs"},
            {
                "name": "sidecar-frontend", "image": "r/fe:1", "args": ["--port", "8000"], "env": [{"name": "MODE"}],
                "envFrom": [{"secretRef": {"name": "fe"}}],
            },
        ])
    );
}

#[test]
fn a_frontend_sidecar_gives_way_to_a_container_of_its_name() {
    let taken = json!({"name": "sidecar-frontend", "image": "mine"});
    let lifted = containers(json!({"extraPodSpec": {"containers": [taken]}, "frontendSidecar": {"image": "r/fe:1"}}));
    assert_eq!(lifted, json!([{"name": "main"}, taken]));
}

#[test]
fn odd_types_pass_through() {
    assert_eq!(template(json!({"extraPodSpec": "odd"}))["spec"], json!("odd"));
    assert_eq!(template(json!({"extraPodSpec": {"containers": {"a": 1}}}))["spec"]["containers"], json!({"a": 1}));
    assert_eq!(main(json!({"extraPodSpec": {"mainContainer": [1]}})), json!([1]));
    let lifted = main(json!({
        "envs": [5, {"name": 7}],
        "resources": {"limits": {"gpu": "1"}},
        "volumeMounts": [{"name": "a"}],
        "livenessProbe": "odd",
        "extraPodSpec": {
            "mainContainer": {"env": [null, {"name": 7}], "resources": 5, "volumeMounts": "odd", "livenessProbe": {"a": 1}},
        },
    }));
    assert_eq!(
        lifted,
        json!({
            "name": "main", "env": [5, {"name": 7}, null, {"name": 7}], "resources": 5, "volumeMounts": "odd",
            "livenessProbe": {"a": 1},
        })
    );
    assert_eq!(containers(json!({"extraPodSpec": {"containers": [5]}})), json!([{"name": "main"}, 5]));
}

#[test]
fn what_nests_too_deep_for_a_tree_stays_as_it_is() {
    let deep = format!("{{\"nodeName\":\"n\",\"odd\":{}{}}}", "[".repeat(300), "]".repeat(300));
    let written = format!("{{\"spec\":{{\"services\":{{\"w\":{{\"extraPodSpec\":{deep}}}}}}}}}");
    let graph: v1alpha1::DynamoGraphDeployment = serde_json::from_str(&written).unwrap();
    let hub = GraphConversion.to_hub(&graph, &mut Provenance::silent(), &mut Issues::new()).unwrap();
    let template = hub.spec.components[0].pod_template.as_ref().unwrap();
    assert_eq!(template.json(), format!("{{\"spec\":{deep}}}"));
}
