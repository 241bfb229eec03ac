//! `generate kustomize`: which files there are. What kustomize makes of them, a suite of the test bed shows.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use serde_json::{Value, json};

const IMAGE: &str = "registry.example.org:5000/operator:1.0.0";

fn kustomize(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("gateward").unwrap();
    command.args(["generate", "kustomize", "--image", IMAGE, "--out"]).arg(folder).args(arguments);
    command
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn the_kustomization_lists_every_file_in_the_order_in_which_it_is_applied() {
    let folder = tempfile::tempdir().unwrap();
    kustomize(folder.path(), &["--namespace", "zoo", "--network-policy"]).assert().code(0);
    let text = read(folder.path(), "kustomization.yaml");
    let (_, rules) = text.split_once("apiVersion:").unwrap();
    insta::assert_snapshot!(rules);
    let is_manifest = |file: &&str| Path::new(file).extension().is_some_and(|extension| extension == "yaml");
    let listed = text.lines().filter_map(|line| line.strip_prefix("- ")).filter(is_manifest);
    assert!(listed.clone().count() > 10 && listed.clone().all(|file| folder.path().join(file).is_file()));
}

#[test]
fn the_network_policy_lets_in_those_alone_who_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let peers = ["--api-server-cidr", "10.0.0.0/16", "--api-server-cidr", "fd00::/64", "--node-cidr", "10.1.0.0/16"];
    let peers = [&["--network-policy", "--metrics-namespace", "monitoring"][..], &peers].concat();
    kustomize(folder.path(), &[&["--format", "json"][..], &peers].concat()).assert().code(0);
    let policy: Value = serde_json::from_str(&read(folder.path(), "networkpolicy.json")).unwrap();
    let pods = &policy["spec"]["podSelector"];
    let block = |cidr: &str| json!({"ipBlock": {"cidr": cidr}});
    let ingress = json!([
        {
            "ports": [{"port": "webhook-server", "protocol": "TCP"}],
            "from": [block("10.0.0.0/16"), block("fd00::/64"), {"podSelector": pods}],
        },
        {"ports": [{"port": 8081, "protocol": "TCP"}], "from": [block("10.1.0.0/16")]},
        {
            "ports": [{"port": 8080, "protocol": "TCP"}],
            "from": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}],
        },
    ]);
    assert_eq!(policy["spec"]["ingress"], ingress);
    kustomize(folder.path(), &["--node-cidr", "10.0.0.0/8"]).assert().code(2);
    kustomize(folder.path(), &["--network-policy", "--node-cidr", "10.0.0.1/8"]).assert().code(2);
}

#[test]
fn a_namespace_is_made_where_none_is_given() {
    let folder = tempfile::tempdir().unwrap();
    kustomize(folder.path(), &[]).assert().code(0);
    assert!(read(folder.path(), "namespace.yaml").contains("name: dynamo-system"));
    kustomize(folder.path(), &["--namespace", "zoo"]).assert().code(0);
    assert!(!folder.path().join("namespace.yaml").exists());
    assert!(read(folder.path(), "kustomization.yaml").contains("\nnamespace: zoo\n"));
}

#[test]
fn a_check_finds_what_a_person_changed() {
    let folder = tempfile::tempdir().unwrap();
    kustomize(folder.path(), &["--check"]).assert().code(1);
    kustomize(folder.path(), &[]).assert().code(0);
    kustomize(folder.path(), &["--check"]).assert().code(0);
    fs::write(folder.path().join("service.yaml"), "mine").unwrap();
    kustomize(folder.path(), &["--check"]).assert().code(1);
    kustomize(folder.path(), &[]).assert().code(2);
    assert_eq!(read(folder.path(), "service.yaml"), "mine");
}

#[test]
fn a_kustomization_is_a_folder() {
    let mut command = Command::cargo_bin("gateward").unwrap();
    let output = command.args(["generate", "kustomize", "--image", IMAGE]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("--out"));
}

#[test]
fn the_pods_are_spread_over_the_nodes() {
    let folder = tempfile::tempdir().unwrap();
    kustomize(folder.path(), &["--format", "json"]).assert().code(0);
    let deployment: Value = serde_json::from_str(&read(folder.path(), "deployment.json")).unwrap();
    let spec = &deployment["spec"];
    let wanted = json!([{
        "maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": spec["selector"], "matchLabelKeys": ["pod-template-hash"],
    }]);
    assert_eq!(spec["template"]["spec"]["topologySpreadConstraints"], wanted);
}

/// What the command says of values that it refuses.
fn refused(values: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("values.yaml");
    fs::write(&file, values).unwrap();
    let output = kustomize(&folder.path().join("out"), &["--values"]).arg(&file).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{values}");
    assert!(!folder.path().join("out").exists());
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_certificate_of_ones_own_needs_its_ca() {
    let said = refused("dynamo-operator: {webhook: {certificateSecret: {external: true}}}");
    assert!(said.contains("name no CA: give its caBundle"), "{said}");
}

#[test]
fn values_that_the_chart_alone_follows_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("values.yaml");
    fs::write(&file, "dynamo-operator: {webhook: {port: 10250}, controllerManager: {priorityClassName: otter}}")
        .unwrap();
    let note = "note: nothing here follows from these values: dynamo-operator.controllerManager.priorityClassName; what isn't the \
                chart's default needs a patch\n";
    for what in [&["kustomize", "--image", IMAGE][..], &["deployment", "--image", IMAGE], &["rbac"]] {
        let mut command = Command::cargo_bin("gateward").unwrap();
        command.arg("generate").args(what).arg("--values").arg(&file).arg("--out").arg(folder.path().join(what[0]));
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert!(String::from_utf8(output.stderr).unwrap().starts_with(note), "{what:?}");
    }
}

#[test]
fn webhooks_are_called_as_the_values_say() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("values.yaml"), folder.path().join("out"));
    let selector = json!({"matchLabels": {"team": "otters"}});
    let values = json!({"webhook": {"failurePolicy": "Ignore", "timeoutSeconds": 5, "namespaceSelector": selector}});
    fs::write(&file, json!({"dynamo-operator": values}).to_string()).unwrap();
    kustomize(&out, &["--format", "json", "--values"]).arg(&file).assert().code(0);
    let apart = json!({"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system"]});
    let selector = json!({"matchLabels": {"team": "otters"}, "matchExpressions": [apart]});
    for kind in ["validating", "mutating"] {
        let text = read(&out, &format!("{kind}webhookconfiguration.json"));
        let configuration: Value = serde_json::from_str(&text).unwrap();
        for webhook in configuration["webhooks"].as_array().unwrap() {
            assert_eq!((&webhook["failurePolicy"], &webhook["timeoutSeconds"]), (&json!("Ignore"), &json!(5)));
            assert_eq!(webhook["namespaceSelector"], selector);
        }
    }
    let said = refused("dynamo-operator: {webhook: {timeoutSeconds: 60}}");
    assert!(said.contains("webhook.timeoutSeconds: must be a number from 1 to 30"), "{said}");
}

#[test]
fn a_key_that_the_chart_lacks_is_refused() {
    let said = refused("certificates: {mode: cert-manager}");
    assert!(said.contains("certificates: did you mean webhook.certificates?"), "{said}");
    let said = refused("dynamo-operator: {webhook: {prot: 9443}}");
    assert!(said.contains("dynamo-operator.webhook.prot: did you mean dynamo-operator.webhook.port?"), "{said}");
}
