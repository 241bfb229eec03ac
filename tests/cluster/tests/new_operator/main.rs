//! What `gateward new` writes, built and installed by its own Makefile, tried as its README says, and removed.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, ensure};
use cluster_tests::{Bed, Inventory, Sandbox, Shell, run_in_turn, tests, until};
use serde_json::{Value, json};

const NAME: &str = "otter-operator";

fn main() -> ExitCode {
    let tests = tests![a_new_operator_is_installed_judges_and_is_removed];
    run_in_turn(tests, async |bed| {
        write(&bed)?;
        make(&bed, "manifests")?;
        bed.start_node_with(&[(NAME, target().join("debug").join(NAME))]).await
    })
}

/// Where cargo builds: what the operator needs is built once for each lock file, for this test and for that of the
/// command itself.
fn target() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap()
}

/// The operator's folder. Its path is the same in each run, so that nothing is built twice.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("installed").join(NAME)
}

fn write(bed: &Bed) -> anyhow::Result<()> {
    let (folder, root) = (folder(), Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?);
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    let parent = folder.parent().context("it is in a folder")?;
    std::fs::create_dir_all(parent)?;
    let mut new = bed.programs().gateward();
    new.current_dir(parent).args(["new", NAME, "--group", "stable.example.com", "--gateward"]).arg(&root);
    run(&mut new)?;
    // The versions that are here already.
    std::fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock"))?;
    Ok(())
}

/// Runs a recipe of the operator's Makefile, without a network.
fn make(bed: &Bed, recipe: &str) -> anyhow::Result<()> {
    let mut make = Command::new("make");
    make.current_dir(folder()).arg(recipe);
    make.env("CARGO", env!("CARGO")).env("CARGO_TARGET_DIR", target()).env("CARGO_NET_OFFLINE", "true");
    make.env("KUBECTL", bed.kubectl().get_program()).env("KUBECONFIG", bed.folder().join("kubeconfig"));
    // An outer make passes on its own.
    run(make.env_remove("MAKEFLAGS").env_remove("MAKELEVEL"))
}

fn run(command: &mut Command) -> anyhow::Result<()> {
    let output = command.output()?;
    let said = [output.stdout, output.stderr].concat();
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&said));
    Ok(())
}

async fn a_new_operator_is_installed_judges_and_is_removed(sandbox: Sandbox) {
    let bed = sandbox.shared_bed();
    let before = Inventory::of(&bed).await.unwrap();
    make(&bed, "install").unwrap();
    until("objects are judged", Duration::from_mins(1), async || {
        sandbox.dry().create(&silent()).await.status.as_u16() == 422
    })
    .await;
    sandbox.rejects(&silent(), &["spec.size", "spec.text"]).await;
    sandbox.defaults_to(&hello(), &[("/spec/replicas", json!(1))]).await;
    sandbox.delete(&hello()).await;
    // The controller writes the status meanwhile, so that nobody writes back what he has read.
    sandbox.converts_to(&hello(), "v1", &[("/spec/size", json!(1)), ("/spec/text", json!("Good morning"))]).await;
    sandbox.delete(&hello()).await;
    what_the_readme_says_is_true(&bed).await;

    make(&bed, "uninstall").unwrap();
    run(bed.kubectl().args(["delete", "-f"]).arg(folder().join("manifests/crds.yaml"))).unwrap();
    before.is_restored(&bed).await;
}

fn object(version: &str, name: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": format!("stable.example.com/{version}"),
        "kind": "Otter",
        "metadata": {"name": name},
        "spec": spec,
    })
}

/// One with two faults, in the older version.
fn silent() -> Value {
    object("v1", "silent", &json!({"text": "", "size": 11}))
}

fn hello() -> Value {
    object("v2", "hello", &json!({"text": "Good morning", "language": "en"}))
}

/// The commands after the installation: the sample is stored, the controller works, the sample with faults is refused.
async fn what_the_readme_says_is_true(bed: &Arc<Bed>) {
    let readme = std::fs::read_to_string(folder().join("README.md")).unwrap();
    let commands: Vec<&str> = readme.lines().filter_map(|line| line.strip_prefix("$ kubectl ")).collect();
    let [apply, read_text, read_v1, apply_broken] = commands[..] else { panic!("four commands: {commands:?}") };
    let shell = Shell::new(bed, "user").unwrap();
    let kubectl = |command: &str| shell.run(&format!("cd '{}' && kubectl {command}", folder().display()));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();

    let applied = kubectl(apply);
    assert!(applied.status.success(), "{}", text(&applied.stderr));
    until("the controller has made a ConfigMap", Duration::from_mins(1), async || {
        text(&kubectl(read_text).stdout).contains("text: Good morning")
    })
    .await;
    let in_v1 = text(&kubectl(read_v1).stdout);
    assert!(in_v1.contains("apiVersion: stable.example.com/v1") && in_v1.contains("size: 1"), "{in_v1}");
    let refused = kubectl(apply_broken);
    let said = text(&refused.stderr);
    assert!(!refused.status.success() && said.contains("spec.text") && said.contains("spec.size"), "{said}");

    // Its ConfigMap goes with it.
    assert!(kubectl(&apply.replacen("apply", "delete", 1)).status.success());
    until("the ConfigMap is gone", Duration::from_mins(1), async || !kubectl(read_text).status.success()).await;
}
