//! Users of the operator read its own name, and not that of what it is built with.

use std::process::Command;

use crontab::webhooks;
use gateward::testing::{Stored, TestRequest};
use serde_json::{Value, json};

use crate::objects::{tab, with};

/// What it is built with.
const SDK: &str = "gateward";

#[track_caller]
fn assert_own_name(text: &str) {
    let found = text.lines().find(|line| line.to_lowercase().contains(SDK));
    assert_eq!(found, None, "a user would read that");
}

fn converted(object: &Value, version: &str) -> String {
    webhooks().convert(&object.to_string(), &format!("stable.example.com/{version}")).unwrap().json
}

#[test]
fn what_a_version_can_not_say_waits_under_the_group_of_the_operator() {
    let old = converted(&with(tab(), "/spec/timeZone", "Europe/Berlin"), "v1");
    assert_own_name(&old);
    let old: Value = serde_json::from_str(&old).unwrap();
    let annotations = old["metadata"]["annotations"].as_object().unwrap();
    assert_eq!(annotations.keys().collect::<Vec<_>>(), ["stable.example.com/preserved"]);
}

#[test]
fn a_view_that_lacks_something_is_marked_under_the_group_of_the_operator() {
    let long = "x".repeat(300_000);
    let old = converted(&with(tab(), "/spec/timeZone", long), "v1");
    assert_own_name(&old);
    let old: Value = serde_json::from_str(&old).unwrap();
    assert_eq!(old["metadata"]["labels"]["stable.example.com/incomplete"], "true");
    assert!(old["metadata"]["annotations"]["stable.example.com/incomplete-fields"].is_string());
}

#[test]
fn a_marked_view_is_refused_by_its_own_label() {
    let marked = with(tab(), "/metadata/labels", json!({"stable.example.com/incomplete": "true"}));
    let webhooks = webhooks();
    let findings = TestRequest::of(&webhooks).cluster(Stored::new()).create(&marked);
    findings.assert_denied();
    assert_eq!(findings.paths(), ["metadata.labels[stable.example.com/incomplete]"]);
}

#[test]
fn what_is_generated_and_printed_has_no_other_name() {
    let image = ["--image", "registry.example.org/crontab:1.0.0"];
    let commands: [&[&str]; 9] = [
        &["generate", "crds", "--release", "crontab", "--namespace", "crontab-system"],
        &["generate", "webhooks"],
        &["generate", "rbac"],
        &["generate", "deployment", image[0], image[1]],
        &["generate", "cli-reference"],
        &["rules"],
        &["rules", "CRON-01"],
        &["--help"],
        &["--version"],
    ];
    for arguments in commands {
        let output = Command::new(env!("CARGO_BIN_EXE_crontab")).args(arguments).output().expect("the program runs");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).expect("it prints text");
        // A user chooses among log targets, which are crates.
        assert_own_name(&text.replace("gateward_server=debug", ""));
    }
}
