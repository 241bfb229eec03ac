//! Server-side apply: many managers, each with a part of an object, in either version.
//!
//! To merge a part the API server converts objects from which it has taken what others own: without a spec, without
//! required fields, with empty metadata.

use cluster_tests::objects::{component, graph, graph_v1alpha1, object, request_v1alpha1, service};
use cluster_tests::{Response, Sandbox, Test, tests};
use serde_json::{Value, json};

pub fn tests() -> Vec<Test> {
    tests![
        managers_of_both_versions_share_a_graph,
        a_manager_that_lets_go_takes_its_fields_along,
        a_conflict_names_the_field_and_its_manager,
        a_part_without_a_spec_is_applied,
        one_component_is_applied_beside_another,
        kubectl_applies_both_versions_on_the_servers_side,
        a_migration_from_the_clients_side_keeps_the_object,
    ]
}

async fn apply(sandbox: &Sandbox, manager: &str, part: &Value) -> Response {
    let version = cluster_tests::version_of(part);
    let place = format!("{}?fieldManager={manager}", sandbox.place(part, version));
    sandbox.bed().client().apply(&place, part).await.unwrap()
}

async fn applied(sandbox: &Sandbox, manager: &str, part: &Value) -> Value {
    apply(sandbox, manager, part).await.granted().unwrap()
}

async fn managers_of_both_versions_share_a_graph(sandbox: Sandbox) {
    applied(&sandbox, "author", &graph_v1alpha1("otter")).await;
    let scaled = json!({"components": [{"name": "Worker", "replicas": 4}]});
    let stored = applied(&sandbox, "scaler", &object("v1beta1", "DynamoGraphDeployment", "otter", &scaled)).await;
    assert_eq!(stored["spec"]["components"][1]["replicas"], 4);
    // The author applies the same again, and takes nothing from the scaler.
    let stored = applied(&sandbox, "author", &graph_v1alpha1("otter")).await;
    assert_eq!(stored["spec"]["services"]["Worker"]["replicas"], 4);
    let labelled = json!({"services": {"Worker": {"labels": {"a": "b"}}}});
    let stored = applied(&sandbox, "labeller", &object("v1alpha1", "DynamoGraphDeployment", "otter", &labelled)).await;
    assert_eq!(stored["spec"]["services"]["Worker"]["labels"], json!({"a": "b"}));
    let stored = applied(&sandbox, "author", &graph_v1alpha1("otter")).await;
    let worker = &stored["spec"]["services"]["Worker"];
    assert_eq!((&worker["replicas"], &worker["labels"]), (&json!(4), &json!({"a": "b"})));
}

async fn a_manager_that_lets_go_takes_its_fields_along(sandbox: Sandbox) {
    let mut otter = graph_v1alpha1("otter");
    otter["spec"]["envs"] = json!([{"name": "A", "value": "1"}]);
    otter["spec"]["services"]["Worker"]["sharedMemory"] = json!({"size": "1Gi"});
    applied(&sandbox, "author", &otter).await;
    let scaled = json!({"labels": {"a": "b"}, "components": [{"name": "Worker", "replicas": 2}]});
    applied(&sandbox, "scaler", &object("v1beta1", "DynamoGraphDeployment", "otter", &scaled)).await;
    let stored = applied(&sandbox, "author", &graph_v1alpha1("otter")).await;
    assert_eq!(stored["spec"].get("envs"), None);
    assert_eq!(stored["spec"]["services"]["Worker"].get("sharedMemory"), None);
    assert_eq!(stored["spec"]["labels"], json!({"a": "b"}));
    assert_eq!(stored["spec"]["services"]["Worker"]["replicas"], 2);
}

async fn a_conflict_names_the_field_and_its_manager(sandbox: Sandbox) {
    applied(&sandbox, "author", &graph("otter")).await;
    let other = json!({"components": [{"name": "decode", "type": "decode", "podTemplate": {"spec": {"containers": [
        {"name": "main", "image": "another"},
    ]}}}]});
    let answer = apply(&sandbox, "other", &object("v1beta1", "DynamoGraphDeployment", "otter", &other)).await;
    assert_eq!(answer.status.as_u16(), 409, "{}", answer.body);
    assert!(answer.body["message"].as_str().unwrap().contains("conflict with \"author\""), "{}", answer.body);
}

async fn a_part_without_a_spec_is_applied(sandbox: Sandbox) {
    let kinds = [
        (graph("otter"), "v1alpha1"),
        (graph_v1alpha1("heron"), "v1beta1"),
        (request_v1alpha1("marmot"), "v1beta1"),
        (object("v1alpha1", "DynamoComponentDeployment", "lynx", &service("worker")), "v1beta1"),
    ];
    for (whole, version) in kinds {
        applied(&sandbox, "author", &whole).await;
        let mut part = whole.clone();
        part["apiVersion"] = format!("nvidia.com/{version}").into();
        part.as_object_mut().unwrap().remove("spec");
        part["metadata"]["labels"] = json!({"a": "b"});
        let stored = applied(&sandbox, "labeller", &part).await;
        assert_eq!(stored["metadata"]["labels"], json!({"a": "b"}));
        let stored = applied(&sandbox, "author", &whole).await;
        assert_eq!(stored["metadata"]["labels"], json!({"a": "b"}));
        part["metadata"].as_object_mut().unwrap().remove("labels");
        let stored = applied(&sandbox, "labeller", &part).await;
        assert_eq!(stored["metadata"].get("labels"), None);
    }
}

async fn one_component_is_applied_beside_another(sandbox: Sandbox) {
    applied(&sandbox, "author", &graph("otter")).await;
    let worker = component("another", "prefill");
    let further = object("v1beta1", "DynamoGraphDeployment", "otter", &json!({"components": [worker]}));
    // The set of components is frozen, so the webhooks say no, in the fields of the user.
    let refusal = cluster_tests::refused(apply(&sandbox, "other", &further).await);
    assert_eq!(refusal.fields(), ["spec.components"], "{}", refusal.message);
}

async fn kubectl_applies_both_versions_on_the_servers_side(sandbox: Sandbox) {
    let file = sandbox.bed().folder().join("server-side.json");
    for object in [graph_v1alpha1("otter"), graph("heron"), graph_v1alpha1("otter"), graph("heron")] {
        std::fs::write(&file, object.to_string()).unwrap();
        let mut kubectl = sandbox.bed().kubectl();
        kubectl.args(["apply", "--server-side", "-n", sandbox.namespace(), "-f"]).arg(&file);
        let output = kubectl.output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
}

async fn a_migration_from_the_clients_side_keeps_the_object(sandbox: Sandbox) {
    let file = sandbox.bed().folder().join("migrated.json");
    std::fs::write(&file, graph_v1alpha1("otter").to_string()).unwrap();
    for side in ["--server-side=false", "--server-side=true"] {
        let mut kubectl = sandbox.bed().kubectl();
        kubectl.args(["apply", side, "-n", sandbox.namespace(), "-f"]).arg(&file);
        let output = kubectl.output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    assert_eq!(sandbox.read(&graph("otter"), "v1beta1").await["spec"]["components"].as_array().unwrap().len(), 2);
}
