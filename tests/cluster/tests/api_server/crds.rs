//! The CRDs themselves.

use std::io::Write;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use cluster_tests::{Sandbox, Test, tests};

pub fn tests() -> Vec<Test> {
    tests![
        every_crd_is_established_with_the_names_that_it_asks_for,
        kubectl_applies_the_files_of_the_repository,
        kubectl_applies_what_the_binary_prints,
        kubectl_knows_the_short_names_and_explains_the_fields,
    ]
}

const PLURALS: [&str; 6] = [
    "dynamocomponentdeployments",
    "dynamographdeploymentrequests",
    "dynamographdeployments",
    "dynamographdeploymentscalingadapters",
    "dynamomodels",
    "dynamoworkermetadatas",
];

fn said(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

async fn every_crd_is_established_with_the_names_that_it_asks_for(sandbox: Sandbox) {
    for plural in PLURALS {
        let path = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{plural}.nvidia.com");
        let crd = sandbox.bed().client().get(&path).await.unwrap().granted().unwrap();
        let conditions = crd["status"]["conditions"].as_array().unwrap();
        let mut conditions: Vec<String> = conditions
            .iter()
            .map(|condition| {
                format!("{}={}", condition["type"].as_str().unwrap(), condition["status"].as_str().unwrap())
            })
            .collect();
        conditions.sort();
        // A schema with faults would add NonStructuralSchema.
        assert_eq!(conditions, ["Established=True", "NamesAccepted=True"], "{plural}: {}", crd["status"]);
        assert_eq!(crd["status"]["acceptedNames"], crd["spec"]["names"]);
        let newest = crd["spec"]["versions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|version| &version["name"])
            .max_by_key(|name| name.as_str());
        assert_eq!(crd["status"]["storedVersions"], serde_json::json!([newest]));
    }
}

fn applied() -> String {
    PLURALS.map(|plural| format!("customresourcedefinition.apiextensions.k8s.io/{plural}.nvidia.com serverside-applied (server dry run)\n")).concat()
}

async fn kubectl_applies_the_files_of_the_repository(sandbox: Sandbox) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/dynamo-api/crds");
    let mut kubectl = sandbox.bed().kubectl();
    kubectl.args(["apply", "--server-side", "--force-conflicts", "--dry-run=server", "-f"]).arg(folder);
    assert_eq!(said(&kubectl.output().unwrap()), applied());
}

async fn kubectl_applies_what_the_binary_prints(sandbox: Sandbox) {
    let printed = sandbox.bed().programs().gateward().args(["generate", "crds"]).output().unwrap();
    let mut kubectl = sandbox.bed().kubectl();
    kubectl.args(["apply", "--server-side", "--force-conflicts", "--dry-run=server", "-f", "-"]);
    let mut kubectl = kubectl.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    kubectl.stdin.take().unwrap().write_all(said(&printed).as_bytes()).unwrap();
    let mut lines: Vec<_> =
        said(&kubectl.wait_with_output().unwrap()).lines().map(|line| format!("{line}\n")).collect();
    lines.sort();
    assert_eq!(lines.concat(), applied());
}

async fn kubectl_knows_the_short_names_and_explains_the_fields(sandbox: Sandbox) {
    let kubectl = |arguments: &[&str]| said(&sandbox.bed().kubectl().args(arguments).output().unwrap());
    for short in ["dgd", "dgdr", "dcd", "dgdsa"] {
        kubectl(&["get", short]);
    }
    // The documentation is published a while after the kinds are served.
    let start = Instant::now();
    let mut explain = sandbox.bed().kubectl();
    explain.args(["explain", "dynamographdeployments.spec.components.podTemplate.spec.containers.image"]);
    let explained = loop {
        let output = explain.output().unwrap();
        if output.status.success() || start.elapsed() > Duration::from_mins(2) {
            break said(&output);
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    };
    assert!(explained.contains("VERSION:    v1beta1"), "{explained}");
    assert!(explained.contains("FIELD: image <string>"), "{explained}");
}
