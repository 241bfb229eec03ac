//! `bundle` as a user runs it.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

const CSV: &str = "\
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  name: otter.v1.2.3
spec:
  displayName: Otter
  version: 1.2.3
  installModes: [{type: AllNamespaces, supported: true}]
  install:
    strategy: deployment
    spec:
      deployments: [{name: otter, spec: {selector: {}, template: {}}}]
  webhookdefinitions:
    - type: ValidatingAdmissionWebhook
      generateName: votter.example.org
      deploymentName: otter
      containerPort: 443
      webhookPath: /validate
      sideEffects: None
      admissionReviewVersions: [v1]
      timeoutSeconds: 10
      rules: [{apiGroups: [example.org], apiVersions: [v1], resources: [otters], operations: [CREATE]}]
";

const ANNOTATIONS: &str = "\
annotations:
  operators.operatorframework.io.bundle.mediatype.v1: registry+v1
  operators.operatorframework.io.bundle.manifests.v1: manifests/
  operators.operatorframework.io.bundle.metadata.v1: metadata/
  operators.operatorframework.io.bundle.package.v1: otter
  operators.operatorframework.io.bundle.channels.v1: stable
";

fn bundle(arguments: &[&str], folder: &Path) -> (i32, String, String) {
    let output = Command::cargo_bin("gateward").unwrap().arg("bundle").args(arguments).arg(folder).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn folder(csv: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, file, text) in [("manifests", "otter.yaml", csv), ("metadata", "annotations.yaml", ANNOTATIONS)] {
        fs::create_dir(folder.path().join(name)).unwrap();
        fs::write(folder.path().join(name).join(file), text).unwrap();
    }
    folder
}

#[test]
fn a_bundle_with_warnings_alone_is_fine() {
    let folder = folder(CSV);
    let (code, said, _) = bundle(&["lint"], folder.path());
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("warning[OLM-CSV-08]") && said.ends_with("0 errors, 2 warnings in 2 files\n"), "{said}");
    assert!(!said.contains('\u{1b}'), "no colours outside a terminal");
}

#[test]
fn an_error_is_a_finding_with_its_line_and_its_judges() {
    let folder = folder(&CSV.replace("timeoutSeconds: 10", "timeoutSeconds: 45"));
    let (code, said, _) = bundle(&["lint", "--output", "json"], folder.path());
    assert_eq!(code, 1, "{said}");
    let findings: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let finding = findings.iter().find(|finding| finding["severity"] == "error").unwrap();
    assert_eq!(finding["rule"], "OLM-HOOK-12");
    assert_eq!((finding["line"].as_u64(), finding["column"].as_u64()), (Some(21), Some(7)));
    assert_eq!(finding["path"], "spec.webhookdefinitions[0].timeoutSeconds");
    assert_eq!((&finding["kind"], &finding["name"]), (&"ClusterServiceVersion".into(), &"otter.v1.2.3".into()));
    assert!(finding["file"].as_str().unwrap().ends_with("/manifests/otter.yaml"), "{finding}");
    let judges: Vec<&Value> =
        finding["refusedBy"].as_array().unwrap().iter().map(|refused| &refused["judge"]).collect();
    assert_eq!(judges, ["OLM v0", "OLM v1"]);
}

#[test]
fn a_suite_is_judged_where_it_is_asked_for() {
    let folder = folder(CSV);
    for (suites, expected) in [("operatorhub", 1), ("good-practices,capabilities", 0), ("all", 1)] {
        let (code, said, _) = bundle(&["lint", "--suite", suites], folder.path());
        assert_eq!(code, expected, "{suites}: {said}");
        assert_eq!(said.contains("OLM-HUB-01"), expected == 1, "{said}");
    }
    assert_eq!(bundle(&["lint", "--suite", "beauty"], folder.path()).0, 2);
}

#[test]
fn a_folder_that_is_no_bundle_is_a_usage_error_that_says_so() {
    let empty = tempfile::tempdir().unwrap();
    let (code, _, said) = bundle(&["lint"], empty.path());
    assert_eq!(code, 2);
    assert!(said.contains("has no folder manifests/; a bundle has manifests/ and metadata/"), "{said}");
    assert_eq!(bundle(&["lint"], Path::new("/no/such/folder")).0, 2);
}

#[test]
fn a_hidden_file_and_a_folder_are_found_whatever_their_names() {
    let folder = folder(CSV);
    fs::write(folder.path().join("manifests/.DS_Store"), [0xff, 0]).unwrap();
    fs::create_dir(folder.path().join("manifests/deep")).unwrap();
    fs::write(folder.path().join("manifests/deep/a.yaml"), "a: 1\n").unwrap();
    let (code, said, _) = bundle(&["lint"], folder.path());
    assert_eq!(code, 1);
    assert_eq!(said.matches("error[OLM-LAYOUT-03]").count(), 2, "{said}");
}

#[cfg(unix)]
#[test]
fn a_link_is_a_usage_error() {
    let folder = folder(CSV);
    std::os::unix::fs::symlink("/dev/zero", folder.path().join("manifests/zero.yaml")).unwrap();
    let (code, _, said) = bundle(&["lint"], folder.path());
    assert_eq!(code, 2);
    assert!(said.contains("zero.yaml: it is no regular file"), "{said}");
}

#[test]
fn the_rules_are_printed_one_by_one_and_all_at_once() {
    let rules = |arguments: &[&str]| {
        let output =
            Command::cargo_bin("gateward").unwrap().args(["bundle", "rules"]).args(arguments).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, all) = rules(&[]);
    assert_eq!(code, 0);
    assert!(all.lines().count() > 70 && all.contains("OLM-CONV-01"), "{all}");
    let (_, one) = rules(&["olm-conv-01"]);
    assert!(one.contains("OLM v0 (install)") && one.contains("static validators prints:"), "{one}");
    assert_eq!(rules(&["OLM-NO-SUCH"]).0, 2);
    let (_, lines) = rules(&["--output", "json"]);
    assert!(lines.lines().all(|line| serde_json::from_str::<Value>(line).is_ok_and(|rule| rule["id"].is_string())));
}
