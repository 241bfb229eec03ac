//! ALPHA-01 to ALPHA-10.

use serde_json::{Value, json};

use super::{component, created, drum, graph, on, picker, updated, with, worker};
use crate::testing::terminating;

/// Judges a service of a graph and the same fields on a standalone component: the findings are the same.
#[track_caller]
fn assert_found(service: Value, expected: &[&str]) {
    let at = |prefix: &str| -> Vec<String> { expected.iter().map(|line| line.replace("P.", prefix)).collect() };
    assert_eq!(created(drum(service.clone())), at("spec.services[drum]."), "in a graph");
    assert_eq!(created(component(service)), at("spec."), "on its own");
}

#[test]
fn every_volume_claim_of_a_graph_has_a_name() {
    let claims = json!([{"name": ""}, {"name": "ok"}, {"create": false}, {"name": null}]);
    assert_eq!(
        created(graph(json!({"pvcs": claims, "services": {"drum": worker(json!({}))}}))),
        ["ALPHA-01 spec.pvcs[0].name", "ALPHA-01 spec.pvcs[2].name", "ALPHA-01 spec.pvcs[3].name"]
    );
    // What a claim that is made needs is the schema's business.
    let bare = json!([{"name": "a", "create": true}]);
    assert!(created(graph(json!({"pvcs": bare, "services": {"drum": worker(json!({}))}}))).is_empty());
}

#[test]
fn the_executor_of_a_service_is_mp_or_ray_in_any_case_of_letters() {
    let annotated =
        |backend: &str| worker(json!({"annotations": {"nvidia.com/vllm-distributed-executor-backend": backend}}));
    let expected = ["ALPHA-02 P.annotations[nvidia.com/vllm-distributed-executor-backend]"];
    for wrong in ["pool", "", " ray", "mp "] {
        assert_found(annotated(wrong), &expected);
    }
    for right in ["mp", "ray", "RAY", "Mp"] {
        assert_found(annotated(right), &[]);
    }
}

#[test]
fn annotations_of_pods_are_not_examined() {
    let annotations = json!({"annotations": {"nvidia.com/vllm-distributed-executor-backend": "pool"}});
    assert_found(worker(json!({"extraPodMetadata": annotations})), &[]);
}

#[test]
fn a_dynamo_namespace_is_warned_of_unless_empty() {
    assert_found(worker(json!({"dynamoNamespace": "reef"})), &["warning ALPHA-03 P.dynamoNamespace"]);
    assert_found(worker(json!({"dynamoNamespace": ""})), &[]);
}

#[test]
fn the_warning_tells_the_namespace_that_is_used_instead() {
    let warnings = |object: Value| on(json!({}), |trial| trial.create(&object)).warnings().join("\n");
    let service = worker(json!({"dynamoNamespace": "reef"}));
    assert!(warnings(drum(service.clone())).contains("\"tidepool-sea-otter\""));
    let global = with(service.clone(), json!({"globalDynamoNamespace": true}));
    assert!(warnings(drum(global)).contains("\"dynamo\""));
    assert!(warnings(component(service.clone())).contains("\"tidepool-\""));
    let mut owned = component(service);
    owned["metadata"]["ownerReferences"] =
        json!([{"kind": "Other", "name": "x"}, {"kind": "DynamoGraphDeployment", "name": "o.p"}]);
    assert!(warnings(owned).contains("\"tidepool-o-p\""));
}

#[test]
fn autoscaling_is_warned_of_even_when_empty() {
    assert_found(worker(json!({"autoscaling": {}})), &["warning ALPHA-04 P.autoscaling"]);
    assert_found(worker(json!({"autoscaling": null})), &[]);
}

#[test]
fn warnings_come_on_every_update_and_with_denials() {
    let stored = drum(worker(json!({"autoscaling": {}})));
    assert_eq!(updated(stored.clone(), stored.clone()), ["warning ALPHA-04 spec.services[drum].autoscaling"]);
    let denied = created(drum(worker(json!({"autoscaling": {}, "ingress": {"enabled": true}}))));
    assert_eq!(
        denied,
        ["ALPHA-06 spec.services[drum].ingress.host", "warning ALPHA-04 spec.services[drum].autoscaling"]
    );
}

#[test]
fn every_volume_is_mounted_somewhere_unless_it_is_a_cache() {
    let mounts = json!([
        {"name": "a"},
        {"name": "b", "mountPoint": "/b"},
        {"name": "c", "useAsCompilationCache": true},
        {"name": "d", "mountPoint": ""},
    ]);
    assert_found(
        worker(json!({"volumeMounts": mounts})),
        &["ALPHA-05 P.volumeMounts[0].mountPoint", "ALPHA-05 P.volumeMounts[3].mountPoint"],
    );
}

#[test]
fn a_mount_that_repeats_the_cache_need_not_say_where() {
    let cache = json!({"name": "v", "useAsCompilationCache": true});
    assert_found(worker(json!({"volumeMounts": [cache, {"name": "v", "mountPoint": ""}]})), &[]);
    assert_found(worker(json!({"volumeMounts": [{"name": "v"}, cache]})), &[]);
    let second = json!([{"name": "c", "mountPoint": "/c", "useAsCompilationCache": true}, cache, {"name": "v"}]);
    assert_found(worker(json!({"volumeMounts": second})), &["ALPHA-05 P.volumeMounts[2].mountPoint"]);
}

#[test]
fn an_enabled_ingress_has_a_host() {
    assert_found(worker(json!({"ingress": {"enabled": true}})), &["ALPHA-06 P.ingress.host"]);
    assert_found(worker(json!({"ingress": {"enabled": true, "host": ""}})), &["ALPHA-06 P.ingress.host"]);
    assert_found(worker(json!({"ingress": {"enabled": true, "host": "otter"}})), &[]);
    assert_found(worker(json!({"ingress": {}})), &[]);
}

#[test]
fn an_endpoint_picker_has_one_configuration() {
    let configured = |config: Value| picker("1.4.2", json!({"eppConfig": config}));
    let reference = json!({"name": "c", "key": "k"});
    assert_found(configured(json!({})), &["ALPHA-07 P.eppConfig"]);
    assert_found(configured(json!({"configMapRef": reference, "config": {"plugins": []}})), &["ALPHA-07 P.eppConfig"]);
    assert_found(configured(json!({"configMapRef": reference})), &[]);
    assert_found(configured(json!({"config": {}})), &[]);
}

#[test]
fn whatever_the_type_its_configuration_is_one() {
    assert_found(worker(json!({"eppConfig": {}})), &["ALPHA-07 P.eppConfig"]);
}

#[test]
fn a_reference_to_a_configuration_names_a_config_map() {
    let unnamed = picker("1.4.2", json!({"eppConfig": {"configMapRef": {"key": "k"}}}));
    assert_found(unnamed, &["ALPHA-08 P.eppConfig.configMapRef.name"]);
}

#[test]
fn no_container_takes_the_name_of_the_sidecar() {
    let pod = |name: &str| json!({"mainContainer": {"image": "engine:1.4.2"}, "containers": [{"name": "logs"}, {"name": name}]});
    let sidecar = json!({"image": "frontend:1.4.2"});
    assert_found(
        worker(json!({"frontendSidecar": sidecar, "extraPodSpec": pod("sidecar-frontend")})),
        &["ALPHA-09 P.frontendSidecar"],
    );
    assert_found(worker(json!({"frontendSidecar": sidecar, "extraPodSpec": pod("frontend")})), &[]);
    assert_found(worker(json!({"extraPodSpec": pod("sidecar-frontend")})), &[]);
}

#[test]
fn failover_within_a_pod_has_one_engine_in_reserve() {
    let failing_over = |failover: Value| {
        let memory = json!({"enabled": true, "mode": failover["mode"]});
        let service = worker(json!({
            "resources": {"limits": {"gpu": "1"}}, "gpuMemoryService": memory, "failover": failover,
        }));
        created(component(service))
    };
    let expected = ["ALPHA-10 spec.failover.numShadows"];
    for wrong in [2, 3, -1] {
        assert_eq!(failing_over(json!({"enabled": true, "mode": "intraPod", "numShadows": wrong})), expected);
    }
    assert_eq!(failing_over(json!({"enabled": true, "numShadows": 2})), expected, "within a pod is the default");
    for right in [0, 1] {
        assert!(failing_over(json!({"enabled": true, "mode": "intraPod", "numShadows": right})).is_empty());
    }
    assert!(failing_over(json!({"enabled": true, "mode": "intraPod"})).is_empty());
    assert!(failing_over(json!({"enabled": true, "mode": "interPod", "numShadows": 2})).is_empty());
    assert!(failing_over(json!({"enabled": false, "mode": "intraPod", "numShadows": 2})).is_empty());
}

#[test]
fn a_service_without_a_value_is_not_judged() {
    assert!(created(graph(json!({"services": {"drum": worker(json!({})), "ghost": null}}))).is_empty());
}

#[test]
fn a_terminating_object_is_not_judged() {
    for object in [drum(worker(json!({"ingress": {"enabled": true}}))), component(json!({"autoscaling": {}}))] {
        let object = terminating(object);
        assert!(updated(object.clone(), object).is_empty());
    }
}
