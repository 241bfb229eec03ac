//! What is installed: the webhook configurations.

use std::process::Command;

use crontab::webhooks;

#[test]
fn the_declarations_go_together() {
    assert_eq!(webhooks().check(), Ok(()));
}

#[test]
fn webhook_configurations() {
    insta::assert_snapshot!(generated("webhooks", &[]));
}

#[test]
fn roles() {
    insta::assert_snapshot!(generated("rbac", &[]));
}

#[test]
fn deployment() {
    insta::assert_snapshot!(generated("deployment", &["--image", "registry.example.org/crontab:1.0.0"]));
}

fn generated(what: &str, further: &[&str]) -> String {
    let program = env!("CARGO_BIN_EXE_crontab");
    let arguments = ["generate", what, "--release", "crontab", "--namespace", "crontab-system"];
    let output = Command::new(program).args(arguments).args(further).output().expect("the program runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("it prints text")
}
