//! Verdicts and defaults as a user gets them.

use cluster_tests::objects::{component, graph, graph_v1alpha1, model, object, request, request_v1alpha1, service};
use cluster_tests::{Sandbox, Test, refused, tests};
use serde_json::json;

pub fn tests() -> Vec<Test> {
    tests![
        a_graph_is_filled_in_and_admitted,
        a_graph_of_the_older_version_is_filled_in_where_its_user_wrote,
        the_older_schema_fills_in_before_the_object_is_converted,
        faults_of_a_graph_are_told_at_once_under_its_fields,
        faults_of_the_older_version_are_told_under_its_own_fields,
        a_component_takes_its_name_from_its_object,
        a_component_must_not_become_another,
        a_request_is_filled_in_and_frozen_while_it_is_profiled,
        a_model_is_refused_without_repeating_its_secret,
        what_the_webhooks_warn_of_reaches_the_user,
        nothing_is_stored_in_a_dry_run,
        an_object_that_goes_is_not_judged,
        kubectl_tells_the_findings,
        an_object_that_is_applied_again_does_not_change,
    ]
}

async fn a_graph_is_filled_in_and_admitted(sandbox: Sandbox) {
    let wanted = [("/spec/components/0/replicas", json!(1)), ("/spec/components/1/replicas", json!(1))];
    let stored = sandbox.defaults_to(&graph("otter"), &wanted).await;
    let annotations = stored["metadata"]["annotations"].as_object().unwrap();
    assert!(annotations.contains_key("nvidia.com/dynamo-operator-origin-version"), "{annotations:?}");
}

async fn a_graph_of_the_older_version_is_filled_in_where_its_user_wrote(sandbox: Sandbox) {
    let wanted = [("/spec/services/Frontend/replicas", json!(1)), ("/spec/services/Worker/replicas", json!(1))];
    let stored = sandbox.defaults_to(&graph_v1alpha1("otter"), &wanted).await;
    assert_eq!(stored["apiVersion"], "nvidia.com/v1alpha1");
}

async fn the_older_schema_fills_in_before_the_object_is_converted(sandbox: Sandbox) {
    let mut otter = graph_v1alpha1("otter");
    otter["spec"]["services"]["Worker"]["multinode"] = json!({});
    otter["spec"]["services"]["Worker"]["gpuMemoryService"] = json!({"enabled": false});
    let wanted = [
        ("/spec/services/Worker/multinode/nodeCount", json!(2)),
        ("/spec/services/Worker/gpuMemoryService/mode", json!("intraPod")),
        ("/spec/services/Worker/gpuMemoryService/deviceClassName", json!("gpu.nvidia.com")),
    ];
    sandbox.defaults_to(&otter, &wanted).await;
}

async fn faults_of_a_graph_are_told_at_once_under_its_fields(sandbox: Sandbox) {
    let mut otter = graph("otter");
    otter["metadata"]["annotations"] = json!({"nvidia.com/dynamo-operator-origin-version": "three"});
    otter["spec"]["components"][0]["multinode"] = json!({"nodeCount": 2});
    otter["spec"]["components"][1]["frontendSidecar"] = "nobody".into();
    let wanted = [
        "metadata.annotations[nvidia.com/dynamo-operator-origin-version]",
        "spec.components[0].multinode",
        "spec.components[1].frontendSidecar",
    ];
    let refusal = sandbox.rejects(&otter, &wanted).await;
    assert_eq!((refusal.code, refusal.reason.as_str()), (422, "Invalid"));
    assert!(refusal.message.contains("denied the request"), "{}", refusal.message);
}

async fn faults_of_the_older_version_are_told_under_its_own_fields(sandbox: Sandbox) {
    let mut badger = graph_v1alpha1("badger");
    badger["spec"]["pvcs"] = json!([{"name": ""}]);
    badger["spec"]["services"]["Frontend"]["multinode"] = json!({"nodeCount": 2});
    badger["spec"]["services"]["Frontend"]["ingress"] = json!({"enabled": true});
    let wanted = ["spec.pvcs[0].name", "spec.services[Frontend].ingress.host", "spec.services[Frontend].multinode"];
    sandbox.rejects(&badger, &wanted).await;
}

async fn a_component_takes_its_name_from_its_object(sandbox: Sandbox) {
    let mut spec = component("", "worker");
    spec.as_object_mut().unwrap().remove("name");
    let lynx = object("v1beta1", "DynamoComponentDeployment", "lynx", &spec);
    sandbox.defaults_to(&lynx, &[("/spec/name", json!("lynx"))]).await;
    sandbox.accepts(&object("v1alpha1", "DynamoComponentDeployment", "stork", &service("worker"))).await;
}

async fn a_component_must_not_become_another(sandbox: Sandbox) {
    let mut spec = component("lynx", "worker");
    spec["backendFramework"] = "vllm".into();
    let mut lynx = object("v1beta1", "DynamoComponentDeployment", "lynx", &spec);
    sandbox.accepts(&lynx).await;
    lynx["spec"]["backendFramework"] = "sglang".into();
    assert_eq!(refused(sandbox.replace(&lynx).await).fields(), ["spec.backendFramework"]);
}

async fn a_request_is_filled_in_and_frozen_while_it_is_profiled(sandbox: Sandbox) {
    let marmot = request("marmot");
    let stored = sandbox.defaults_to(&marmot, &[("/spec/backend", json!("auto"))]).await;
    assert!(stored["spec"]["image"].is_string(), "{stored}");
    sandbox.accepts(&request_v1alpha1("stoat")).await;
    // An update in either version.
    for (object, version) in
        [(marmot, "v1beta1"), (request_v1alpha1("stoat"), "v1alpha1"), (request("stoat"), "v1beta1")]
    {
        let client = sandbox.bed().client();
        let status = format!("{}/status", sandbox.place(&object, "v1beta1"));
        client.merge(&status, &json!({"status": {"phase": "Profiling"}})).await.unwrap().granted().unwrap();
        let change = json!({"spec": {"model": "another"}});
        assert_eq!(refused(client.merge(&sandbox.place(&object, version), &change).await.unwrap()).fields(), ["spec"]);
    }
}

async fn a_model_is_refused_without_repeating_its_secret(sandbox: Sandbox) {
    sandbox.accepts(&model("wren", "hf://a/b")).await;
    let refusal = sandbox.rejects(&model("rail", "https://user:hunter2@example.org"), &["spec.source.uri"]).await;
    assert!(!refusal.message.contains("hunter2"), "{}", refusal.message);
}

async fn what_the_webhooks_warn_of_reaches_the_user(sandbox: Sandbox) {
    let mut heron = graph_v1alpha1("heron");
    heron["spec"]["services"]["Frontend"]["dynamoNamespace"] = "heron".into();
    let warnings = sandbox.create(&heron).await.warnings;
    assert!(warnings.iter().any(|text| text.contains("dynamoNamespace")), "{warnings:?}");
    assert!(warnings.iter().any(|text| text.contains("is deprecated; use nvidia.com/v1beta1")), "{warnings:?}");
}

async fn nothing_is_stored_in_a_dry_run(sandbox: Sandbox) {
    let otter = graph("otter");
    sandbox.dry().defaults_to(&otter, &[("/spec/components/0/replicas", json!(1))]).await;
    let place = sandbox.place(&otter, "v1beta1");
    assert_eq!(sandbox.bed().client().get(&place).await.unwrap().status.as_u16(), 404);
}

async fn an_object_that_goes_is_not_judged(sandbox: Sandbox) {
    let mut otter = graph("otter");
    otter["metadata"]["finalizers"] = json!(["example.org/wait"]);
    otter = sandbox.accepts(&otter).await;
    sandbox.delete(&otter).await;
    // A fault must not keep it from going.
    otter["metadata"]["finalizers"] = json!([]);
    otter["spec"]["components"][1]["frontendSidecar"] = "nobody".into();
    sandbox.replace(&otter).await.granted().unwrap();
    let place = sandbox.place(&otter, "v1beta1");
    assert_eq!(sandbox.bed().client().get(&place).await.unwrap().status.as_u16(), 404);
}

async fn kubectl_tells_the_findings(sandbox: Sandbox) {
    let file = sandbox.bed().folder().join("rail.json");
    std::fs::write(&file, model("rail", "ftp://example.org").to_string()).unwrap();
    let mut kubectl = sandbox.bed().kubectl();
    let output = kubectl.args(["apply", "-n", sandbox.namespace(), "-f"]).arg(&file).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(said.contains("DynamoModel \"rail\" is invalid"), "{said}");
    assert!(said.contains("spec.source.uri"), "{said}");

    std::fs::write(&file, graph_v1alpha1("rail").to_string()).unwrap();
    for said in ["created", "unchanged"] {
        let mut kubectl = sandbox.bed().kubectl();
        let output = kubectl.args(["apply", "-n", sandbox.namespace(), "-f"]).arg(&file).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains(said), "{text}{}", String::from_utf8_lossy(&output.stderr));
    }
}

async fn an_object_that_is_applied_again_does_not_change(sandbox: Sandbox) {
    let file = sandbox.bed().folder().join("again.json");
    for otter in [graph("otter"), graph_v1alpha1("heron"), request("marmot"), request_v1alpha1("stoat")] {
        std::fs::write(&file, otter.to_string()).unwrap();
        let mut seen = Vec::new();
        for _ in 0..2 {
            let mut kubectl = sandbox.bed().kubectl();
            let output = kubectl.args(["apply", "-n", sandbox.namespace(), "-f"]).arg(&file).output().unwrap();
            assert!(output.status.success(), "{output:?}");
            // kubectl replaces a list as a whole, and the webhooks fill it in again.
            seen.push(sandbox.read(&otter, "v1beta1").await);
        }
        assert_eq!(seen[0], seen[1]);
    }
}
