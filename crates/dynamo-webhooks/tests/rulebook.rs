//! Our own cases, written from the rule books alone: `rulebook/*.jsonl`, one case a line, through `Webhooks::handle`.
//!
//! They have the form of the known cases, and `note` names the passage that a case is read off. Beside verdict, paths
//! and counts some say which rules deny, what a warning speaks of, and what must stand nowhere in an answer. Where
//! `paths` is `written`, those of v1alpha1 objects are the user's own.

#![allow(clippy::panic, clippy::expect_used, reason = "assertions of tests")]

mod support;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use gateward::Webhooks;
use gateward::testing::block_on;
use support::Case;

#[test]
fn our_own_reading_of_the_rule_books_is_answered_as_written() {
    let webhooks = dynamo_webhooks::webhooks();
    let mut ids = HashSet::new();
    let mut failed = Vec::new();
    for file in files() {
        let cases = Case::of_file(&file);
        println!("{}: {} cases", file.display(), cases.len());
        for case in cases {
            assert!(ids.insert(case.id.clone()), "{} stands twice", case.id);
            failed.extend(disagreement(&case, &webhooks));
        }
    }
    assert!(failed.is_empty(), "{} of {} disagree:\n  {}", failed.len(), ids.len(), failed.join("\n  "));
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rulebook");
    let entries = fs::read_dir(folder).expect("the cases lie beside the test");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a folder can be read").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    files
}

/// A mutating case without a defaulter is answered as `review --mutate` does: nothing changes.
fn disagreement(case: &Case, webhooks: &Webhooks) -> Option<String> {
    let Some(path) = case.path(webhooks) else {
        let unchanged = case.review().is_some() && case.expect.allowed && case.expect.patched.is_empty();
        return (!unchanged).then(|| format!("{}: no webhook answers {}", case.id, case.gvk()));
    };
    let answer = block_on(webhooks.handle(&path, &case.body(webhooks), &case.context()));
    let how = case.disagreement(&answer)?;
    Some(format!("{} ({}, {})\n      {how}\n      {}", case.id, case.source_rule, case.version(), case.note))
}
