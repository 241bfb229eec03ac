//! The published manifests, and that `docs/corpus.md` says of them what the check says. What needs them is skipped where
//! `../shared/corpus` is absent.

#![allow(clippy::unwrap_used, reason = "a test")]

#[path = "../../dynamo-webhooks/tests/support/corpus.rs"]
mod corpus;
#[path = "../../dynamo-webhooks/tests/support/example_objects.rs"]
mod example_objects;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

const PAGE: &str = include_str!("../../../docs/corpus.md");

/// What `check` prints for one file or folder.
fn checked(path: &Path, output: &str) -> String {
    let run = Command::cargo_bin("gateward").unwrap().args(["check", "--output", output]).arg(path).output().unwrap();
    assert!(matches!(run.status.code(), Some(0 | 1)), "{}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).unwrap()
}

/// A finding, as far as the page speaks of it.
struct Finding {
    rule: String,
    file: String,
    line: u64,
    is_error: bool,
}

fn findings(path: &Path) -> Vec<Finding> {
    checked(path, "json").lines().map(|line| Finding::of(&serde_json::from_str(line).unwrap())).collect()
}

impl Finding {
    fn of(found: &Value) -> Self {
        let text = |member: &str| found[member].as_str().unwrap().to_owned();
        let rule = match text("severity").as_str() {
            "error" => of_schema(&text("rule"), &text("message")),
            severity => format!("{} ({severity})", text("rule")),
        };
        let file = Path::new(&text("file")).file_name().unwrap().to_str().unwrap().to_owned();
        Self { rule, file, line: found["line"].as_u64().unwrap(), is_error: text("severity") == "error" }
    }

    fn place(&self) -> String {
        format!("{}:{}", self.file, self.line)
    }
}

/// The schema says different things under one id.
fn of_schema(rule: &str, message: &str) -> String {
    let what = match message {
        _ if rule != "SCHEMA" => return rule.to_owned(),
        text if text.starts_with("unknown field") => "unknown field",
        text if text.starts_with("Required value") => "required",
        text if text.starts_with("Unsupported value") => "enum",
        text if text.contains("must be of type") => "type",
        _ => "metadata",
    };
    format!("SCHEMA: {what}")
}

/// The rows of the table under a heading, without its head.
fn table(heading: &str) -> Vec<Vec<&'static str>> {
    let section = PAGE.split_once(&format!("## {heading}\n")).unwrap().1;
    let section = section.split_once("\n## ").map_or(section, |(section, _)| section);
    let rows = section.lines().filter(|line| line.starts_with('|')).skip(2);
    rows.map(|row| row.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`')).collect()).collect()
}

#[test]
fn every_file_is_read_and_the_page_counts_them_right() {
    let Some(folder) = corpus::folder("every_file_is_read_and_the_page_counts_them_right") else { return };
    let files = std::fs::read_dir(&folder)
        .unwrap()
        .filter(|file| file.as_ref().unwrap().path().extension().is_some_and(|extension| extension == "yaml"));
    let summary = checked(&folder, "human").lines().last().unwrap().to_owned();
    assert!(summary.contains(&format!("of {} files", files.count())), "{summary}");
    assert!(PAGE.contains(&summary), "the page's run should end with: {summary}");
    let refused: BTreeSet<String> =
        findings(&folder).into_iter().filter(|found| found.is_error).map(|found| found.file).collect();
    let sentence = format!("All 102 files are read; {} hold at least one error.", refused.len());
    assert!(PAGE.contains(&sentence), "the page should say: {sentence}");
}

#[test]
fn the_page_counts_each_rule_right() {
    let Some(folder) = corpus::folder("the_page_counts_each_rule_right") else { return };
    let mut rules: BTreeMap<String, Vec<Finding>> = BTreeMap::new();
    for found in findings(&folder) {
        rules.entry(found.rule.clone()).or_default().push(found);
    }
    let mut rows = table("Rule by rule");
    for (rule, found) in &rules {
        let files: BTreeSet<&str> = found.iter().map(|found| found.file.as_str()).collect();
        let row = rows.iter().position(|row| row[0] == rule);
        assert!(row.is_some(), "there is no row for {rule}: {} in {files:?}", found.len());
        let row = rows.remove(row.unwrap());
        assert_eq!([row[1], row[2]], [found.len().to_string(), files.len().to_string()], "{rule}");
        assert!(found.iter().any(|found| found.place() == row[3]), "{rule} is not found at {}", row[3]);
    }
    assert!(rows.is_empty(), "nothing is found of {rows:?}");
}

#[test]
fn no_finding_is_without_help() {
    let (demo, examples) =
        (Path::new(env!("CARGO_MANIFEST_DIR")).join("src/demo/manifests"), example_objects::folder());
    for folder in [demo, examples.path().to_owned()].into_iter().chain(corpus::folder("no_finding_is_without_help")) {
        let found = checked(&folder, "json");
        let is_helpful = |found: &Value| found["help"].as_str().is_some_and(|help| !help.is_empty());
        let helpless: Vec<&str> =
            found.lines().filter(|line| !is_helpful(&serde_json::from_str(line).unwrap())).collect();
        assert!(!found.is_empty() && helpless.is_empty(), "{}", helpless.join("\n"));
    }
}

/// The errors of each file that a table names in its first column.
fn errors_of(folder: &Path, table: &[Vec<&'static str>]) -> BTreeMap<&'static str, Vec<Finding>> {
    let mut errors: BTreeMap<&str, Vec<Finding>> = table.iter().map(|row| (row[0], Vec::new())).collect();
    for found in findings(folder).into_iter().filter(|found| found.is_error) {
        if let Some(errors) = errors.get_mut(found.file.as_str()) {
            errors.push(found);
        }
    }
    errors
}

#[test]
fn templates_pass_once_they_are_filled_in() {
    let Some(folder) = corpus::folder("templates_pass_once_they_are_filled_in") else { return };
    let rows = table("Refused only for being templates");
    let filled = tempfile::tempdir().unwrap();
    for (file, errors) in errors_of(&folder, &rows) {
        assert!(!errors.is_empty(), "{file} is not refused");
        let mut text = std::fs::read_to_string(folder.join(file)).unwrap();
        for row in rows.iter().filter(|row| row[0] == file) {
            assert!(text.contains(row[1]), "{file} holds no {}", row[1]);
            text = text.replace(row[1], row[2]);
        }
        std::fs::write(filled.path().join(file), text).unwrap();
    }
    let left: Vec<String> = findings(filled.path()).iter().filter(|found| found.is_error).map(Finding::place).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn fragments_lack_images_and_nothing_else() {
    let Some(folder) = corpus::folder("fragments_lack_images_and_nothing_else") else { return };
    for (file, errors) in errors_of(&folder, &table("Refused only for being fragments")) {
        assert!(!errors.is_empty(), "{file} is not refused");
        let is_patch = file.contains("kustomize-patch");
        let expected = |found: &Finding| found.rule == "RT-03" || is_patch && found.rule == "SCHEMA: unknown field";
        assert!(errors.iter().all(expected), "{file} is refused for more");
    }
}
