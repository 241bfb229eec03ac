//! The bundle of OLM in `deploy/olm` is what the declarations say.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use gateward_lint::yaml;
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn bundle(further: &[&str]) -> Command {
    let mut command = Command::cargo_bin("gateward").unwrap();
    command
        .current_dir(root())
        .args(["generate", "bundle", "--image", "ghcr.io/gateward/gateward:0.1.0"])
        .args(further);
    command
}

fn csv() -> Value {
    let file = root().join("deploy/olm/manifests/dynamo-operator-webhooks.clusterserviceversion.yaml");
    yaml::read(std::fs::read(file).unwrap()).documents.remove(0).value
}

#[test]
fn the_bundle_is_fresh() {
    let arguments = [
        ["--package", "dynamo-operator-webhooks"],
        ["--display-name", "Dynamo Operator webhooks"],
        ["--provider", "Gateward"],
        ["--provider-url", "https://github.com/gateward/gateward"],
        ["--values", "deploy/olm/values.yaml"],
        ["--samples", "deploy/olm/samples"],
        ["--out", "deploy/olm"],
    ];
    let output = bundle(&["--check"]).args(arguments.concat()).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "run `make generate`: {}", String::from_utf8_lossy(&said));
}

#[test]
fn the_examples_are_admitted() {
    let mut command = Command::cargo_bin("gateward").unwrap();
    command.current_dir(root()).args(["check", "deploy/olm/samples"]).assert().success();
    let examples = csv()["metadata"]["annotations"]["alm-examples"].as_str().unwrap().to_owned();
    let examples: Vec<Value> = serde_json::from_str(&examples).unwrap();
    let served = csv()["spec"]["customresourcedefinitions"]["owned"].as_array().unwrap().len();
    assert_eq!(examples.len(), served, "one for each version that is served");
}

#[test]
fn the_pods_may_change_nothing() {
    let csv = csv();
    let install = &csv["spec"]["install"]["spec"];
    assert!(install["permissions"].is_null());
    let rules = install["clusterPermissions"][0]["rules"].as_array().unwrap();
    for rule in rules {
        let review = ["tokenreviews", "subjectaccessreviews"].iter().any(|kind| rule["resources"][0] == *kind);
        let allowed: &[&str] = if review { &["create"] } else { &["get", "list"] };
        for verb in rule["verbs"].as_array().unwrap() {
            assert!(allowed.iter().any(|it| verb == *it), "{rule}");
        }
        assert_ne!(rule["resources"][0], "secrets");
    }
}

#[test]
fn every_crd_is_owned_and_every_conversion_is_described() {
    let csv = csv();
    let owned = csv["spec"]["customresourcedefinitions"]["owned"].as_array().unwrap();
    let descriptions = csv["spec"]["webhookdefinitions"].as_array().unwrap();
    let converted: Vec<&Value> =
        descriptions.iter().filter_map(|it| it["conversionCRDs"].as_array()).flatten().collect();
    assert!(converted.len() >= 4 && converted.iter().all(|name| owned.iter().any(|crd| crd["name"] == **name)));
    for description in descriptions {
        assert_eq!((&description["containerPort"], &description["targetPort"]), (&443.into(), &9443.into()));
        assert_eq!(description["deploymentName"], csv["spec"]["install"]["spec"]["deployments"][0]["name"]);
    }
}

#[test]
fn a_bundle_of_one_namespace_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let values = folder.path().join("values.yaml");
    std::fs::write(&values, "namespaceRestriction: {enabled: true, namespace: team-a}\n").unwrap();
    let output = bundle(&["--out"]).arg(folder.path()).arg("--values").arg(&values).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("the values restrict the operator to team-a"), "{said}");
}

#[test]
fn a_bundle_in_json_has_the_same_files_with_the_same_values() {
    let folder = tempfile::tempdir().unwrap();
    let write = |format: &str| {
        let out = folder.path().join(format);
        bundle(&["--values", "deploy/olm/values.yaml", "--format", format, "--out"]).arg(&out).assert().success();
        out
    };
    let (in_yaml, in_json) = (write("yaml"), write("json"));
    let mut compared = 0;
    for part in ["manifests", "metadata", "tests/scorecard"] {
        for file in std::fs::read_dir(in_yaml.join(part)).unwrap().map(|entry| entry.unwrap().file_name()) {
            let text = |out: &Path| std::fs::read_to_string(out.join(part).join(&file)).unwrap();
            let value: Value = serde_json::from_str(&text(&in_json)).unwrap();
            assert_eq!(yaml::read(text(&in_yaml)).documents.remove(0).value, value, "{file:?}");
            compared += 1;
        }
    }
    assert!(compared > 5, "{compared}");
    Command::cargo_bin("gateward").unwrap().args(["bundle", "lint"]).arg(&in_json).assert().success();
}

#[test]
fn a_bundle_needs_a_folder() {
    let output = bundle(&[]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--out"));
}

#[test]
fn a_release_whose_service_would_not_fit_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let release = "r".repeat(50);
    let output = bundle(&["--release", &release, "--out"]).arg(folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("may have 63: give a shorter --release"), "{said}");
    assert!(!folder.path().join("manifests").exists());
}
