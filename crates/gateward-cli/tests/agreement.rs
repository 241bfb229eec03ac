//! The same verdict everywhere: `review`, the server over verified TLS, and `check` say of each case of the rule books
//! what `Webhooks::handle` says.

#![allow(clippy::unwrap_used, reason = "a test")]

#[path = "../src/demo/client.rs"]
mod client;
#[allow(clippy::panic, clippy::expect_used, reason = "assertions of tests")]
#[path = "../../dynamo-webhooks/tests/support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use assert_cmd::Command;
use client::ReviewClient;
use dynamo_webhooks::ClusterFacts;
use gateward::Operator;
use gateward::check::{Checker, Defaults, Report, Schemas};
use gateward::local::{Listen, Local};
use gateward_core::testing::block_on;
use gateward_core::{Review, ReviewResponse, Severity, UserInfo, Webhooks};
use serde::Deserialize;
use serde_json::Value;
use support::{Case, FILES, Stage, folder};

/// All cases of ours, those with the same facts together.
fn cases() -> BTreeMap<String, Vec<Case>> {
    let mut groups: BTreeMap<String, Vec<Case>> = BTreeMap::new();
    for case in FILES.iter().flat_map(|file| Case::ours(&folder(), file)) {
        groups.entry(case.config.to_string()).or_default().push(case);
    }
    groups
}

fn answered(webhooks: &Webhooks, case: &Case) -> ReviewResponse {
    let path = case.path(webhooks).unwrap();
    block_on(webhooks.handle(&path, &case.body(webhooks), &case.context()))
}

fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

#[test]
fn review_answers_every_case_as_the_registry_does() {
    let groups = cases();
    let webhooks = dynamo_webhooks::webhooks();
    let folder = tempfile::tempdir().unwrap();
    let facts = folder.path().join("facts.json");
    let mut compared = 0;
    for (config, group) in &groups {
        std::fs::write(&facts, config).unwrap();
        for stage in [Stage::Webhook, Stage::Mutating] {
            let group: Vec<&Case> = group.iter().filter(|case| case.stage == stage).collect();
            let lines: Vec<Vec<u8>> = group.iter().map(|case| case.body(&webhooks)).collect();
            let mut command = Command::cargo_bin("gateward").unwrap();
            command.arg("review").arg("--facts").arg(&facts);
            if stage == Stage::Mutating {
                command.arg("--mutate");
            }
            let output = command.write_stdin(lines.join(&b'\n')).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let answers: Vec<Value> =
                output.stdout.split(|byte| *byte == b'\n').filter(|l| !l.is_empty()).map(json).collect();
            assert_eq!(answers.len(), group.len());
            for (case, answer) in group.iter().zip(answers) {
                assert_eq!(answer, json(&answered(&webhooks, case).body), "{}", case.id);
                compared += 1;
            }
        }
    }
    println!("{compared} cases answered alike");
    assert!(compared > 300);
}

#[tokio::test]
async fn the_server_answers_every_case_over_verified_tls_as_the_registry_does() {
    let groups = cases();
    let webhooks = Arc::new(dynamo_webhooks::webhooks());
    let mut compared = 0;
    for group in groups.values() {
        let facts = Arc::new(ClusterFacts::from_document(&group[0].config).unwrap());
        let local =
            Local::start(Arc::new(dynamo_webhooks::webhooks()), facts, None, &Listen::anywhere()).await.unwrap();
        let client = ReviewClient::new(local.address(), &local.ca_pem()).unwrap();
        for case in group {
            let path = case.path(&webhooks).unwrap();
            let answer = client.post(&format!("{path}?timeout=10s"), &json(&case.body(&webhooks))).await.unwrap();
            assert_eq!(answer, json(&answered(&webhooks, case).body), "{}", case.id);
            compared += 1;
        }
    }
    println!("{compared} cases answered alike");
    assert!(compared > 300);
}

/// Rule, path and severity of the findings, sorted.
type Found = Vec<(String, String, &'static str)>;

fn of_webhooks(answer: &ReviewResponse) -> Found {
    let issues = answer.decision.issues.iter().filter(|issue| issue.severity != Severity::Note);
    let mut found: Found =
        issues.map(|issue| (issue.rule.to_owned(), issue.path.to_string(), issue.severity.as_str())).collect();
    found.sort();
    found
}

async fn of_check(webhooks: &Webhooks, schemas: &Schemas, case: &Case) -> Found {
    let facts = Arc::new(ClusterFacts::from_document(&case.config).unwrap());
    let checker = Checker::new(webhooks, schemas, facts, SystemTime::UNIX_EPOCH);
    let user = if case.user.is_null() { support::ordinary_user() } else { case.user.clone() };
    let mut checker = checker.defaults(Defaults::Skipped).user(&UserInfo::deserialize(&user).unwrap());
    if case.operation == "UPDATE" {
        checker = checker.stored(case.old.to_string().as_bytes()).unwrap();
    }
    let mut report = Report::new();
    checker.check("case.json", case.object.to_string().as_bytes(), &mut report).await.unwrap();
    let of_rules = report.diagnostics().filter(|found| !["SCHEMA", "CEL"].contains(&found.rule));
    let mut found: Found = of_rules
        .filter(|found| found.severity != Severity::Note)
        .map(|found| (found.rule.to_owned(), found.path.to_string(), found.severity.as_str()))
        .collect();
    found.sort();
    found
}

#[tokio::test]
async fn check_finds_in_every_case_what_the_registry_finds() {
    let groups = cases();
    let webhooks = dynamo_webhooks::webhooks();
    let schemas = Schemas::read(&dynamo_webhooks::operator().crds()).unwrap();
    let mut compared = 0;
    for case in groups.values().flatten().filter(|case| case.review() == Some(Review::Validate)) {
        if case.operation == "DELETE" {
            continue;
        }
        assert_eq!(of_check(&webhooks, &schemas, case).await, of_webhooks(&answered(&webhooks, case)), "{}", case.id);
        compared += 1;
    }
    println!("{compared} cases found alike");
    assert!(compared > 250);
}
