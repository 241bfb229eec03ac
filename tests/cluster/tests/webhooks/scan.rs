//! `gateward scan`: what it says of stored objects is what the server says of an update of them.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Output;

use cluster_tests::objects::{graph, graph_v1alpha1, model, request};
use cluster_tests::{Sandbox, Test, UNSEEN, refused, tests};
use serde_json::{Value, json};

pub fn tests() -> Vec<Test> {
    tests![
        a_scan_says_of_each_object_what_the_server_says_of_an_update,
        a_scan_of_sound_objects_finds_nothing,
        a_scan_goes_through_more_objects_than_an_answer_has,
        a_scan_by_a_user_who_may_not_list_says_so,
    ]
}

fn kubeconfig(sandbox: &Sandbox) -> PathBuf {
    sandbox.bed().folder().join("kubeconfig")
}

/// Scans the namespace.
async fn scan(sandbox: &Sandbox, kubeconfig: PathBuf, options: &[&str]) -> Output {
    run(sandbox, kubeconfig, &[&["--namespace", sandbox.namespace()], options].concat()).await
}

/// Scans with what the server knows of the cluster.
async fn run(sandbox: &Sandbox, kubeconfig: PathBuf, options: &[&str]) -> Output {
    let bed = sandbox.shared_bed();
    let mut command = bed.programs().gateward();
    command.args(["scan", "--facts"]).arg(bed.folder().join("facts.json"));
    command.args(options).env("KUBECONFIG", kubeconfig);
    tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap()
}

/// Who was found wrong, and where.
fn errors(scanned: &Output) -> BTreeSet<(String, String)> {
    let text = String::from_utf8(scanned.stdout.clone()).unwrap();
    let findings = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let of = |value: &Value| value.as_str().unwrap().to_owned();
    let errors = findings.filter(|finding| finding["severity"] == "error");
    errors.map(|finding| (of(&finding["name"]), of(&finding["path"]))).collect()
}

async fn a_scan_says_of_each_object_what_the_server_says_of_an_update(sandbox: Sandbox) {
    let unseen = sandbox.acting_as(UNSEEN);
    let mut undiscovered = graph_v1alpha1("heron");
    undiscovered["metadata"]["annotations"] = json!({"nvidia.com/dynamo-kube-discovery-mode": "host"});
    let mut alone = graph("lynx");
    alone["spec"]["components"][0]["frontendSidecar"] = "nobody".into();
    let stored = [model("wren", "ftp://example.org"), undiscovered, alone, graph("otter"), request("marmot")];
    let mut refusals = BTreeSet::new();
    for object in &stored {
        unseen.accepts(object).await;
        let version = if object["kind"] == "DynamoModel" { "v1alpha1" } else { "v1beta1" };
        let answer = sandbox.dry().replace(&sandbox.read(object, version).await).await;
        if !answer.status.is_success() {
            let name = object["metadata"]["name"].as_str().unwrap();
            refusals.extend(refused(answer).fields().into_iter().map(|field| (name.to_owned(), field.to_owned())));
        }
    }
    let names: BTreeSet<&str> = refusals.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, BTreeSet::from(["heron", "lynx", "wren"]), "{refusals:?}");

    let scanned = scan(&sandbox, kubeconfig(&sandbox), &["--output", "json"]).await;
    assert_eq!((scanned.status.code(), errors(&scanned)), (Some(1), refusals), "{scanned:?}");

    // People read where an object is, and what it says there.
    let scanned = scan(&sandbox, kubeconfig(&sandbox), &["dynamomodels"]).await;
    let text = String::from_utf8(scanned.stdout).unwrap();
    assert!(text.contains(&format!("{}/DynamoModel/wren:", sandbox.namespace())), "{text}");
    assert!(text.contains("uri: ftp://example.org") && text.contains("in 1 object of 1 kind\n"), "{text}");
    assert!(!text.contains("managedFields"), "{text}");
}

async fn a_scan_of_sound_objects_finds_nothing(sandbox: Sandbox) {
    for object in [graph("otter"), request("marmot"), model("wren", "s3://models/wren")] {
        sandbox.accepts(&object).await;
    }
    let scanned = scan(&sandbox, kubeconfig(&sandbox), &[]).await;
    let text = String::from_utf8_lossy(&scanned.stdout);
    assert!(
        scanned.status.success() && text.contains("0 errors, ") && text.contains("in 3 objects of "),
        "{scanned:?}"
    );

    let unknown = scan(&sandbox, kubeconfig(&sandbox), &["Dynamo"]).await;
    let text = String::from_utf8_lossy(&unknown.stderr);
    assert!(unknown.status.code() == Some(2) && text.contains("DynamoModel"), "{unknown:?}");

    // What can be no namespace has no objects, but nobody meant that.
    let nowhere = run(&sandbox, kubeconfig(&sandbox), &["--namespace", "team a"]).await;
    assert_eq!(nowhere.status.code(), Some(2), "{nowhere:?}");
}

async fn a_scan_goes_through_more_objects_than_an_answer_has(sandbox: Sandbox) {
    let unseen = sandbox.acting_as(UNSEEN);
    for number in 0..120 {
        unseen.accepts(&model(&format!("wren-{number}"), "ftp://example.org")).await;
    }
    let scanned = scan(&sandbox, kubeconfig(&sandbox), &["DynamoModel", "--output", "json"]).await;
    let names: BTreeSet<String> = errors(&scanned).into_iter().map(|(name, _)| name).collect();
    assert_eq!((scanned.status.code(), names.len()), (Some(1), 120), "{scanned:?}");
}

async fn a_scan_by_a_user_who_may_not_list_says_so(sandbox: Sandbox) {
    let mut config: Value = serde_json::from_slice(&std::fs::read(kubeconfig(&sandbox)).unwrap()).unwrap();
    config["users"][0]["user"]["as"] = "stranger".into();
    let file = sandbox.bed().folder().join(format!("{}-stranger.kubeconfig", sandbox.namespace()));
    std::fs::write(&file, config.to_string()).unwrap();
    let scanned = scan(&sandbox, file, &["DynamoModel"]).await;
    let text = String::from_utf8_lossy(&scanned.stderr);
    assert!(
        scanned.status.code() == Some(2) && text.contains("DynamoModel") && text.contains("forbidden"),
        "{scanned:?}"
    );
}
