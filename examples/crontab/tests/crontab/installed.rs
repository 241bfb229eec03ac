//! What is installed: the webhook configurations.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
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

/// What it renders is held against what is printed here where Helm is: `tests/cluster/tests/chart/generated.rs`.
#[test]
fn chart() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("chart");
    let _ = fs::remove_dir_all(&folder);
    let program = Command::new(env!("CARGO_BIN_EXE_crontab"))
        .args(["generate", "chart", "--image", "registry.example.org/crontab:1.0.0", "--out"])
        .arg(&folder)
        .output()
        .expect("the program runs");
    assert!(program.status.success(), "{}", String::from_utf8_lossy(&program.stderr));
    let mut files = files(&folder);
    files.extend(self::files(&folder.join("templates")));
    let mut text = String::new();
    for file in files {
        let name = file.strip_prefix(&folder).expect("it is in the folder").display();
        writeln!(text, "===== {name}\n{}", fs::read_to_string(&file).expect("it is text")).expect("a text grows");
    }
    insta::assert_snapshot!(text);
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder is there").map(|entry| entry.expect("an entry").path());
    // The list of what was written has sums of the others.
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.is_file() && path.extension().is_none_or(|it| it != "sha256")).collect();
    files.sort();
    files
}

/// Its webhook of Pods selects namespaces, which a bundle can't carry.
#[test]
fn bundle() {
    let folder = tempfile::tempdir().expect("a folder");
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/samples/berlin.yaml");
    let bundle = |further: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_crontab"));
        command.args(["generate", "bundle", "--release", "crontab", "--namespace", "crontab-system"]);
        command.args([
            "--image",
            "registry.example.org/crontab:1.0.0",
            "--version",
            "1.0.0",
            "--samples",
            sample,
            "--out",
        ]);
        command.arg(folder.path()).args(further).output().expect("the program runs")
    };
    let refused = bundle(&["--strict"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(!folder.path().join("manifests").exists(), "nothing is written");
    let written = bundle(&[]);
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    insta::assert_snapshot!("bundle_not_carried", String::from_utf8_lossy(&refused.stderr));
    let read = |path: &str| fs::read_to_string(folder.path().join(path)).expect("a file of the bundle");
    insta::assert_snapshot!("bundle_csv", read("manifests/crontab.clusterserviceversion.yaml"));
    insta::assert_snapshot!("bundle_annotations", read("metadata/annotations.yaml"));
    insta::assert_snapshot!("bundle_image", read("bundle.Dockerfile"));
    assert!(!read("manifests/stable.example.com_crontabs.yaml").contains("conversion:"));
    assert!(bundle(&["--check"]).status.success(), "a second run finds nothing to change");
}

fn generated(what: &str, further: &[&str]) -> String {
    let program = env!("CARGO_BIN_EXE_crontab");
    let arguments = ["generate", what, "--release", "crontab", "--namespace", "crontab-system"];
    let output = Command::new(program).args(arguments).args(further).output().expect("the program runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("it prints text")
}
