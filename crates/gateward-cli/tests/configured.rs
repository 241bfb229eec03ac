//! `serve --config` before it begins: an error is reported at once, and the exit code is 2.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::time::Duration;

use assert_cmd::Command;

const FILE: &str = "\
apiVersion: operator.config.dynamo.nvidia.com/v1alpha1
kind: OperatorConfiguration
";

/// The environment of a Pod.
const POD: [(&str, &str); 5] = [
    ("POD_NAME", "otter-1"),
    ("POD_NAMESPACE", "zoo"),
    ("POD_IP", "127.0.0.1"),
    ("POD_SERVICE_ACCOUNT", "otter"),
    ("POD_INSTANCE", "otter"),
];

/// The program, which is not to begin anything.
fn gateward() -> Command {
    let mut command = Command::cargo_bin("gateward").unwrap();
    command.timeout(Duration::from_secs(20));
    command
}

/// What the server says that is started with a file, in such a Pod, before it gives up.
fn refused(file: &str, arguments: &[&str], pod: &[(&str, &str)]) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("config.yaml"), file).unwrap();
    let mut command = gateward();
    command.args(["serve", "--config", "config.yaml"]).args(arguments).current_dir(folder.path());
    for name in POD.map(|(name, _)| name).into_iter().chain(["KUBERNETES_CLUSTER_DOMAIN", "GATEWARD_LOG"]) {
        command.env_remove(name);
    }
    let assert = command.envs(pod.iter().copied()).assert().failure().code(2);
    String::from_utf8(assert.get_output().stderr.clone()).unwrap()
}

#[test]
fn everything_that_is_wrong_is_told_at_once_with_its_place() {
    let file = format!(
        "{FILE}server:\n  metrics:\n    port: 70000\n  webhook:\n    secretName: Cert\n    certProvisionMode: none\n\
         namespace:\n  restricted: Team\n"
    );
    let said = refused(&file, &["--operator-version", "unknown"], &POD[2..]);
    for wanted in [
        "the environment variable POD_NAME: is not set; in a Pod it comes from the downward API (fieldPath: metadata.name)",
        "--operator-version: \"unknown\" is not a semantic version",
        "config.yaml:5:5: server.metrics.port: 70000 is not a port",
        "config.yaml:7:5: server.webhook.secretName: \"Cert\" is not a name",
        "config.yaml:8:5: server.webhook.certProvisionMode: \"none\" is not one of auto, manual, cert-manager, external",
        "config.yaml:10:3: namespace.restricted: \"Team\" is not a name",
    ] {
        assert!(said.contains(wanted), "{wanted:?} is not in\n{said}");
    }
}

#[test]
fn a_file_of_another_kind_is_refused() {
    let said = refused("kind: ConfigMap\n", &[], &POD);
    assert!(said.contains("config.yaml:1:1: kind: \"ConfigMap\" is not OperatorConfiguration"), "{said}");
    assert!(said.contains("config.yaml: apiVersion: is missing"), "{said}");
}

#[test]
fn what_is_no_yaml_is_told_with_its_place() {
    let said = refused("kind: [\n", &[], &POD);
    assert!(said.contains("config.yaml:1:7: "), "{said}");
    let said = refused(&format!("{FILE}---\n{FILE}"), &[], &POD);
    assert!(said.contains("one document"), "{said}");
}

#[test]
fn a_cluster_domain_that_no_certificate_can_carry_is_refused() {
    let pod: Vec<_> = POD.into_iter().chain([("KUBERNETES_CLUSTER_DOMAIN", "not a domain")]).collect();
    let said = refused(FILE, &[], &pod);
    assert!(said.contains("no certificate can be made") && said.contains("not a domain"), "{said}");
}

#[test]
fn a_policy_that_there_is_not_is_refused() {
    let said = refused(FILE, &["--operator-image-pull-policy", "Sometimes"], &POD);
    assert!(said.contains("[possible values: Always, IfNotPresent, Never]"), "{said}");
}

#[test]
fn options_of_the_released_operators_log_are_understood() {
    let zap = ["--zap-log-level=debug", "--zap-encoder", "console", "--zap-devel", "--zap-stacktrace-level=error"];
    let said = refused(FILE, &[&zap[..], &["--operator-version", "unknown"]].concat(), &POD);
    assert!(said.contains("--operator-version: \"unknown\"") && !said.contains("zap"), "{said}");
}

#[test]
fn options_of_one_way_to_serve_are_none_of_the_other() {
    for wrong in [&["--listen", "127.0.0.1:0"][..], &["--local"], &["--facts", "facts.yaml"]] {
        assert!(refused(FILE, wrong, &POD).contains("cannot be used with"), "{wrong:?}");
    }
    gateward().args(["serve", "--local", "--operator-version", "1.0.0"]).assert().failure().code(2);
    let assert = gateward().arg("serve").assert().failure().code(2);
    let said = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    assert!(said.contains("--local") && said.contains("--config <FILE>"), "{said}");
}
