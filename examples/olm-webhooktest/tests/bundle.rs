//! The bundle of OLM is what the declarations say.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::process::Command;

#[test]
fn the_bundle_is_fresh() {
    let arguments = [
        ["--image", "ghcr.io/gateward/olm-webhooktest:0.1.0"],
        ["--package", "webhook-operator"],
        ["--display-name", "WebhookTest"],
        ["--provider", "Gateward"],
        ["--samples", "samples/valid.yaml"],
        ["--samples", "samples/valid-v1.yaml"],
        ["--out", "bundle"],
    ];
    let output = Command::new(env!("CARGO_BIN_EXE_olm-webhooktest"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["generate", "bundle", "--strict", "--check"])
        .args(arguments.concat())
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "run `make generate`: {}", String::from_utf8_lossy(&said));
}
