//! Bundles before the static validators of the Operator Framework, which are built from its module.

#[path = "../../../../crates/gateward-lint/src/bundle/tests/broken_files.rs"]
mod broken_files;
#[path = "../../../../crates/gateward-lint/src/bundle/tests/broken_webhooks.rs"]
mod broken_webhooks;
#[path = "../../../../crates/gateward-lint/src/bundle/tests/change.rs"]
mod change;

use std::path::{Path, PathBuf};
use std::process::Command;

use cluster_tests::{Bed, Sandbox, Test, tests};
use gateward_core::Severity;
use gateward_lint::bundle::{self, BundleFile, Judge, Stage, Suite};
use gateward_lint::diagnostic::Diagnostic;
use gateward_lint::yaml;
use serde_json::{Map, Value};

use crate::bundles;
use crate::command::output;
use change::{Change, changed};

pub fn tests() -> Vec<Test> {
    tests![
        our_bundles_pass_the_validators_of_the_operator_framework,
        the_validators_refuse_what_our_lint_says_they_refuse,
        the_schema_of_csvs_is_that_of_olm
    ]
}

/// What our lint calls refused, and this release of the validators lets pass: the rule, and why it stands.
const PASSED_OVER: [(&str, &str); 2] = [
    ("OLM-CSV-03", "the loader takes a CSV of any version; an API server has none but v1alpha1"),
    ("OLM-CRD-04", "a webhook beside the strategy None is lost when the validator converts the CRD"),
];

/// The validators, unless their module could not be fetched.
fn program(bed: &Bed) -> Option<PathBuf> {
    let file = PathBuf::from(bed.programs().control_plane("olm-validators").get_program());
    if !file.exists() {
        println!("skipped: shipping: olm-validators is absent");
        return None;
    }
    Some(file)
}

/// What the validators say of the bundle in a folder.
fn said(program: &Path, folder: &Path) -> Vec<Value> {
    let printed = output(Command::new(program).arg(folder));
    // Some of the validators print what they think in front of it.
    serde_json::from_str(printed.lines().last().unwrap()).unwrap()
}

fn is_error(finding: &Value) -> bool {
    finding["level"] == "Error"
}

async fn our_bundles_pass_the_validators_of_the_operator_framework(sandbox: Sandbox) {
    let Some(program) = program(sandbox.bed()) else { return };
    for folder in bundles::folders(sandbox.bed()) {
        let said = said(&program, &folder);
        let shown = |finding: &Value| format!("{}: {}", finding["suite"], finding["detail"]);
        let errors: Vec<String> = said.iter().filter(|finding| is_error(finding)).map(shown).collect();
        assert!(errors.is_empty(), "{}: {errors:#?}", folder.display());
        for finding in &said {
            println!("{}: {}", folder.display(), shown(finding));
        }
        let report = bundle::lint(&bundles::files(&folder), &Suite::ALL).unwrap();
        assert!(!report.has_errors(), "{}: {report}", folder.display());
    }
}

/// Both ways: what the validators refuse is an error of a rule that says so, and what such a rule finds they refuse.
async fn the_validators_refuse_what_our_lint_says_they_refuse(sandbox: Sandbox) {
    let Some(program) = program(sandbox.bed()) else { return };
    let folder = sandbox.bed().folder().join("broken-bundle");
    let mut wrong = Vec::new();
    for (rule, changes) in broken_files::BROKEN.iter().chain(broken_webhooks::BROKEN) {
        let theirs = refused_by_them(&program, changes, &folder);
        let refused = refused_by_us(changes, |_| true);
        if !theirs.is_empty() && refused.is_empty() {
            wrong.push(format!("{rule}: {changes:?}: they say {theirs:?}, we say nothing"));
        }
        // Folders and annotations, and which kinds a bundle holds, are opm's to judge.
        let is_theirs = |stage: &str| ![Stage::Format, Stage::Content].map(Stage::as_str).contains(&stage);
        let mut ours = refused_by_us(changes, is_theirs);
        ours.retain(|rule| !PASSED_OVER.iter().any(|(passed, _)| passed == rule));
        if theirs.is_empty() && !ours.is_empty() {
            wrong.push(format!("{rule}: {changes:?}: they say nothing, we say {ours:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What `bundle lint` has of OLM's CRD. With `GATEWARD_WRITE_CSV_SCHEMA=1` it is written anew.
async fn the_schema_of_csvs_is_that_of_olm(sandbox: Sandbox) {
    let crd = PathBuf::from(sandbox.bed().programs().control_plane("olm-crds").get_program())
        .join("operators.coreos.com_clusterserviceversions.yaml");
    if !crd.exists() {
        println!("skipped: shipping: the CRD of CSVs is absent");
        return;
    }
    let definition = yaml::read(std::fs::read(crd).unwrap()).documents.remove(0).value;
    let theirs = without_descriptions(&definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/gateward-lint/src/bundle/csv-schema.json");
    let ours: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    if std::env::var_os("GATEWARD_WRITE_CSV_SCHEMA").is_some() {
        std::fs::write(&file, format!("{{\"origin\": {},\n\"schema\": {theirs}}}\n", ours["origin"])).unwrap();
        return;
    }
    assert!(ours["schema"] == theirs, "run this test with GATEWARD_WRITE_CSV_SCHEMA=1, and correct the origin");
}

/// A schema without the texts for people. A property may be called so, too.
fn without_descriptions(schema: &Value) -> Value {
    match schema {
        Value::Array(items) => items.iter().map(without_descriptions).collect(),
        Value::Object(members) => {
            let kept = members.iter().filter(|(name, _)| *name != "description");
            let stripped = kept.map(|(name, value)| {
                let properties = value.as_object().filter(|_| name == "properties");
                let inside = |of: &Map<String, Value>| {
                    of.iter().map(|(name, schema)| (name.clone(), without_descriptions(schema))).collect()
                };
                (name.clone(), properties.map_or_else(|| without_descriptions(value), inside))
            });
            stripped.collect()
        }
        scalar => scalar.clone(),
    }
}

fn refused_by_them(program: &Path, changes: &[Change], folder: &Path) -> Vec<String> {
    let _ = std::fs::remove_dir_all(folder);
    for BundleFile { path, bytes } in changed(changes) {
        let file = folder.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, bytes).unwrap();
    }
    let said = said(program, folder);
    said.iter().filter(|finding| is_error(finding)).map(|finding| finding["detail"].to_string()).collect()
}

/// The rules of the errors that the validators refuse at such a stage, as our findings say.
fn refused_by_us(changes: &[Change], is_asked: impl Fn(&str) -> bool) -> Vec<&'static str> {
    let report = bundle::lint(&changed(changes), &Suite::ALL).unwrap();
    let errors = report.diagnostics().iter().filter(|found| found.severity == Severity::Error);
    let is_refused = |found: &&Diagnostic| {
        let mut refusals = found.refused_by.iter().flatten();
        refusals.any(|refusal| refusal.judge == Judge::Validators.as_str() && is_asked(refusal.stage))
    };
    errors.filter(is_refused).map(|found| found.rule).collect()
}
