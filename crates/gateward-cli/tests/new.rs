//! `gateward new` from the command to an operator that passes what its own CI runs. Its crates are built once for each
//! lock file, beside those of this workspace.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use gateward_lint::yaml;
use serde_json::{Value, json};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Runs `gateward new` in a folder.
fn new(folder: &Path, arguments: &[&str]) -> Output {
    Command::cargo_bin("gateward").unwrap().current_dir(folder).arg("new").args(arguments).output().unwrap()
}

#[track_caller]
fn assert_refused(output: &Output, why: &str) {
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains(why), "{said}");
}

/// The operator `cron-tab-operator`, in a folder whose path is the same in each run, so that nothing is built twice.
fn operator() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("new");
    let operator = folder.join("cron-tab-operator");
    if operator.exists() {
        fs::remove_dir_all(&operator).unwrap();
    }
    fs::create_dir_all(&folder).unwrap();
    let root = root();
    let place = ["--gateward", root.to_str().unwrap()];
    let output = new(&folder, &[["cron-tab-operator", "--group", "stable.example.com"].as_slice(), &place].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    insta::assert_snapshot!("said", String::from_utf8(output.stdout).unwrap());
    // The versions that are here already; cargo leaves out what the operator doesn't need.
    fs::copy(root.join("Cargo.lock"), operator.join("Cargo.lock")).unwrap();
    operator
}

/// Runs a recipe of the operator's Makefile without a network.
fn make(operator: &Path, recipe: &str) {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let mut make = Command::new("make");
    make.current_dir(operator).arg(recipe);
    make.env("CARGO", env!("CARGO")).env("CARGO_TARGET_DIR", target).env("CARGO_NET_OFFLINE", "true");
    // An outer make passes on its own.
    make.env_remove("MAKEFLAGS").env_remove("MAKELEVEL");
    let output = make.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "make {recipe}: {}", String::from_utf8_lossy(&said));
}

/// The recipes that the workflow runs, without the image: that needs a registry.
fn recipes_of_ci(operator: &Path) -> Vec<String> {
    let workflow = fs::read_to_string(operator.join(".github/workflows/ci.yml")).unwrap();
    let recipes = workflow.lines().filter_map(|line| line.trim().strip_prefix("- run: make "));
    recipes.filter(|recipe| *recipe != "image").map(str::to_owned).collect()
}

/// The program, as `make` has built it.
fn program(operator: &Path) -> Command {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let mut program = Command::new(target.join("debug/cron-tab-operator"));
    program.current_dir(operator);
    program
}

/// The program knows each command of the README with its options, and writes the chart that it speaks of.
fn assert_readme_is_right(operator: &Path) {
    let readme = fs::read_to_string(operator.join("README.md")).unwrap();
    let commands: Vec<Vec<&str>> = readme
        .lines()
        .filter_map(|line| line.strip_prefix("$ cargo run -- "))
        .map(|command| command.split_whitespace().collect())
        .collect();
    for known in ["check", "convert", "rules", "generate", "doctor", "dev"] {
        assert!(commands.iter().any(|command| command[0] == known), "{known}: {commands:?}");
    }
    for command in &commands {
        program(operator).args(command).arg("--help").assert().code(0);
    }
    let chart = commands.iter().find(|command| command.starts_with(&["generate", "chart"])).unwrap();
    program(operator).args(chart).assert().code(0);
    let folder = readme.lines().find_map(|line| line.strip_prefix("$ helm install cron-tab-operator ")).unwrap();
    assert!(operator.join(folder.split(' ').next().unwrap()).join("Chart.yaml").is_file(), "{folder}");
}

/// The objects of a file of manifests.
fn objects(operator: &Path, file: &str) -> Vec<Value> {
    let text = fs::read_to_string(operator.join(file)).unwrap();
    yaml::read(&text).documents.into_iter().map(|document| document.value).collect()
}

/// Kind, namespace and name of each object.
fn named(objects: &[Value]) -> Vec<[&str; 3]> {
    objects
        .iter()
        .map(|object| {
            let metadata = &object["metadata"];
            [&object["kind"], &metadata["namespace"], &metadata["name"]].map(|text| text.as_str().unwrap_or_default())
        })
        .collect()
}

#[test]
fn an_operator_passes_what_its_ci_runs_and_generates_what_is_installed() {
    let operator = operator();
    let recipes = recipes_of_ci(&operator);
    assert_eq!(recipes, ["lint", "test", "manifests"]);
    for recipe in &recipes {
        make(&operator, recipe);
    }
    assert_readme_is_right(&operator);

    let crds = objects(&operator, "manifests/crds.yaml");
    assert_eq!(named(&crds), [["CustomResourceDefinition", "", "crontabs.stable.example.com"]]);
    let service = &crds[0]["spec"]["conversion"]["webhook"]["clientConfig"]["service"];
    assert_eq!(service["name"], "cron-tab-operator-webhook-service");
    assert_eq!(service["namespace"], "cron-tab-operator-system");
    let versions = crds[0]["spec"]["versions"].as_array().unwrap();
    let versions: Vec<_> = versions.iter().map(|version| (&version["name"], &version["storage"])).collect();
    assert_eq!(versions, [(&json!("v2"), &json!(true)), (&json!("v1"), &json!(false))]);

    let (name, namespace) = ("cron-tab-operator", "cron-tab-operator-system");
    let webhooks = objects(&operator, "manifests/webhooks.yaml");
    let [validating, mutating] = [format!("{name}-validating"), format!("{name}-mutating")];
    let configurations = [
        ["ValidatingWebhookConfiguration", "", validating.as_str()],
        ["MutatingWebhookConfiguration", "", mutating.as_str()],
    ];
    assert_eq!(named(&webhooks), configurations);
    for configuration in &webhooks {
        assert_eq!(configuration["webhooks"][0]["clientConfig"]["service"]["name"], service["name"]);
        assert_eq!(configuration["webhooks"][0]["rules"][0]["resources"], json!(["crontabs"]));
    }

    let deployment = objects(&operator, "manifests/deployment.yaml");
    let workload = deployment.iter().find(|object| object["kind"] == "Deployment").unwrap();
    assert_eq!(named(&deployment)[2], ["Deployment", namespace, name]);
    let pod = &workload["spec"]["template"]["spec"];
    assert_eq!(pod["containers"][0]["image"], "registry.example.org/cron-tab-operator:0.1.0");
    assert_eq!(pod["containers"][0]["command"], json!([name]));

    let rbac = objects(&operator, "manifests/rbac.yaml");
    assert_eq!(named(&rbac)[0], ["ServiceAccount", namespace, pod["serviceAccountName"].as_str().unwrap()]);
    let cluster_role = rbac.iter().find(|object| object["kind"] == "ClusterRole").unwrap();
    let status = json!({"apiGroups": ["stable.example.com"], "resources": ["crontabs/status"], "verbs": ["patch"]});
    assert!(cluster_role["rules"].as_array().unwrap().contains(&status), "{cluster_role}");
}

#[test]
fn what_can_not_be_an_operator_is_refused_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, why) in [
        (&["CronTab"] as &[&str], "such as crontab"),
        (&["../crontab"], "such as crontab"),
        (&["match"], "take match-operator"),
        (&["string"], "name another with --kind"),
        (&["crontab", "--kind", "cronTab"], "such as CronTab"),
        (&["crontab", "--group", "example"], "such as stable.example.com"),
        (&["crontab", "--gateward", "/no/such/folder"], "no such folder"),
        (&["crontab", "--gateward", "."], "the sources of Gateward are not in this folder"),
    ] {
        assert_refused(&new(folder.path(), arguments), why);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{arguments:?}");
    }
}

#[test]
fn a_folder_that_holds_something_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    assert!(new(folder.path(), &["crontab"]).status.success());
    let manifest = fs::read_to_string(folder.path().join("crontab/Cargo.toml")).unwrap();
    assert!(manifest.contains("gateward = { version = \"0.1.0\", features = [\"cli\", \"kube\"] }"), "{manifest}");
    assert_refused(&new(folder.path(), &["crontab"]), "crontab is not empty; take another name, or empty it first");
    assert_eq!(fs::read_to_string(folder.path().join("crontab/Cargo.toml")).unwrap(), manifest);
}
