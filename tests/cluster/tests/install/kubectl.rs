//! The commands of kubectl that users have for our kinds.

use std::io::Write;
use std::process::Stdio;

use cluster_tests::objects::{
    adapter_v1alpha1, component, graph, graph_v1alpha1, model, object, request, request_v1alpha1, service,
};
use cluster_tests::{Sandbox, Test, tests, version_of};
use serde_json::{Value, json};

pub fn tests() -> Vec<Test> {
    tests![
        what_is_applied_is_told_patched_and_deleted_in_every_kind_and_version,
        an_adapter_is_scaled_in_both_versions,
        a_dry_run_on_the_server_judges_and_keeps_nothing,
        a_patch_is_judged_as_any_update,
        every_object_of_a_kind_is_deleted_at_once,
    ]
}

/// Runs kubectl with an object as its input. Gives what it says, on an error its complaint.
fn kubectl(sandbox: &Sandbox, arguments: &[&str], input: &Value) -> Result<String, String> {
    let mut command = sandbox.bed().kubectl();
    command.args(["-n", sandbox.namespace()]).args(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = command.spawn().unwrap();
    running.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
    let output = running.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

/// How kubectl names an object of one version.
fn called(object: &Value) -> String {
    let kind = object["kind"].as_str().unwrap().to_lowercase();
    format!("{kind}s.{}.nvidia.com/{}", version_of(object), object["metadata"]["name"].as_str().unwrap())
}

fn every_kind() -> Vec<Value> {
    vec![
        graph("graph"),
        graph_v1alpha1("older-graph"),
        object("v1beta1", "DynamoComponentDeployment", "component", &component("component", "worker")),
        object("v1alpha1", "DynamoComponentDeployment", "older-component", &service("worker")),
        request("request"),
        request_v1alpha1("older-request"),
        adapter_v1alpha1("older-adapter"),
        object(
            "v1beta1",
            "DynamoGraphDeploymentScalingAdapter",
            "adapter",
            &json!({"replicas": 1, "dgdRef": {"name": "graph", "componentName": "decode"}}),
        ),
        model("model", "hf://a/b"),
    ]
}

async fn what_is_applied_is_told_patched_and_deleted_in_every_kind_and_version(sandbox: Sandbox) {
    for object in every_kind() {
        for side in ["--server-side=false", "--server-side=true"] {
            let name = called(&object);
            kubectl(&sandbox, &["apply", side, "-f", "-"], &object).unwrap();
            let reported = kubectl(&sandbox, &["get", &name, "-o", "json"], &Value::Null).unwrap();
            let reported: Value = serde_json::from_str(&reported).unwrap();
            assert_eq!(reported["apiVersion"], object["apiVersion"]);
            let labelled = r#"{"metadata": {"labels": {"example.org/a": "b"}}}"#;
            kubectl(&sandbox, &["patch", &name, "--type=merge", "-p", labelled], &Value::Null).unwrap();
            kubectl(&sandbox, &["label", &name, "example.org/c=d"], &Value::Null).unwrap();
            let deleted = kubectl(&sandbox, &["delete", &name], &Value::Null).unwrap();
            assert!(deleted.contains("deleted"), "{deleted}");
            assert!(kubectl(&sandbox, &["get", &name], &Value::Null).unwrap_err().contains("NotFound"));
        }
    }
}

async fn an_adapter_is_scaled_in_both_versions(sandbox: Sandbox) {
    let adapter = adapter_v1alpha1("adapter");
    kubectl(&sandbox, &["apply", "-f", "-"], &adapter).unwrap();
    for (version, replicas) in [("v1alpha1", "3"), ("v1beta1", "5")] {
        let name = format!("dynamographdeploymentscalingadapters.{version}.nvidia.com/adapter");
        kubectl(&sandbox, &["scale", &name, "--replicas", replicas], &Value::Null).unwrap();
        for version in ["v1alpha1", "v1beta1"] {
            let stored = sandbox.read(&adapter, version).await;
            assert_eq!(stored["spec"]["replicas"].to_string(), replicas);
        }
    }
}

async fn a_dry_run_on_the_server_judges_and_keeps_nothing(sandbox: Sandbox) {
    for object in every_kind() {
        let said = kubectl(&sandbox, &["apply", "--dry-run=server", "-f", "-"], &object).unwrap();
        assert!(said.contains("created (server dry run)"), "{said}");
        assert!(kubectl(&sandbox, &["get", &called(&object)], &Value::Null).unwrap_err().contains("NotFound"));
    }
    let wrong = model("model", "ftp://example.org");
    let complaint = kubectl(&sandbox, &["apply", "--dry-run=server", "-f", "-"], &wrong).unwrap_err();
    assert!(complaint.contains("spec.source.uri"), "{complaint}");
}

async fn a_patch_is_judged_as_any_update(sandbox: Sandbox) {
    let otter = graph_v1alpha1("otter");
    kubectl(&sandbox, &["apply", "-f", "-"], &otter).unwrap();
    let wrong = r#"[{"op": "add", "path": "/spec/services/Frontend/multinode", "value": {"nodeCount": 2}}]"#;
    let refused = kubectl(&sandbox, &["patch", &called(&otter), "--type=json", "-p", wrong], &Value::Null);
    assert!(refused.as_ref().is_err_and(|text| text.contains("spec.services[Frontend].multinode")), "{refused:?}");
    let right = r#"{"spec": {"services": {"Worker": {"replicas": 4}}}}"#;
    kubectl(&sandbox, &["patch", &called(&otter), "--type=merge", "-p", right], &Value::Null).unwrap();
    assert_eq!(sandbox.read(&otter, "v1beta1").await["spec"]["components"][1]["replicas"], 4);
}

async fn every_object_of_a_kind_is_deleted_at_once(sandbox: Sandbox) {
    for name in ["otter", "heron", "lynx"] {
        sandbox.accepts(&graph(name)).await;
        sandbox.accepts(&graph_v1alpha1(&format!("older-{name}"))).await;
    }
    kubectl(&sandbox, &["delete", "dgd", "--all"], &Value::Null).unwrap();
    assert_eq!(kubectl(&sandbox, &["get", "dgd", "-o", "name"], &Value::Null).unwrap(), "");
}
