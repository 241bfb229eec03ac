//! The public manifests: all are read, and what is refused is what `docs/corpus.md` explains. Skipped where they don't
//! lie beside the project.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

/// Findings and files by rule.
type Counts = BTreeMap<String, (usize, usize)>;

fn project() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn findings() -> Option<Vec<Value>> {
    let corpus = project().join("../shared/corpus/dynamo");
    if !corpus.is_dir() {
        println!("skipped: there are no public manifests beside the project");
        return None;
    }
    let mut command = Command::cargo_bin("gateward").unwrap();
    let output = command.args(["check", "--output", "json"]).arg(corpus).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

fn counted(findings: &[Value], severity: &str) -> Counts {
    let mut found: BTreeMap<String, (usize, BTreeSet<String>)> = BTreeMap::new();
    for finding in findings.iter().filter(|finding| finding["severity"] == severity) {
        let (count, files) = found.entry(finding["rule"].as_str().unwrap().to_owned()).or_default();
        *count += 1;
        files.insert(finding["file"].as_str().unwrap().to_owned());
    }
    found.into_iter().map(|(rule, (count, files))| (rule, (count, files.len()))).collect()
}

/// The rows of the table under a heading.
fn documented(heading: &str) -> Counts {
    let page = std::fs::read_to_string(project().join("docs/corpus.md")).unwrap();
    let (_, section) = page.split_once(&format!("## {heading}\n")).unwrap();
    let section = section.split("\n## ").next().unwrap();
    section
        .lines()
        .filter_map(|line| {
            let mut cells = line.strip_prefix("| `")?.split('|').map(str::trim);
            let rule = cells.next()?.trim_end_matches('`').to_owned();
            Some((rule, (cells.next()?.parse().ok()?, cells.next()?.parse().ok()?)))
        })
        .collect()
}

#[test]
fn what_is_refused_of_the_public_manifests_is_what_the_page_explains() {
    let Some(findings) = findings() else { return };
    assert_eq!(counted(&findings, "error"), documented("Errors"));
    assert_eq!(counted(&findings, "warning"), documented("Warnings"));
}

#[test]
fn every_finding_on_a_public_manifest_has_its_place() {
    let Some(findings) = findings() else { return };
    for finding in &findings {
        assert!(finding["line"].as_u64().is_some_and(|line| line > 0), "{finding}");
        assert!(finding["message"].as_str().is_some_and(|message| !message.is_empty()), "{finding}");
    }
}
