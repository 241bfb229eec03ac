//! Every case of the rule books that our webhooks answer, through `Webhooks::handle`.
//!
//! Verdict, paths, counts of findings and of warnings are compared, and for defaulting the patched object.

#![allow(clippy::panic, clippy::expect_used, reason = "assertions of tests")]

mod support;

use gateward::Webhooks;
use gateward::testing::block_on;
use support::{Case, FILES, folder};

/// Cases that we answer otherwise on purpose, with the reason; `docs/deviations.md` says more.
const DOCUMENTED: &[(&str, &str)] = &[("dgdra-032", "enableGpuDiscovery is what the schema sets it to: no warning")];

#[derive(Default)]
struct Tally {
    passed: usize,
    documented: usize,
    failed: Vec<String>,
}

impl Tally {
    fn of(cases: &[Case], webhooks: &Webhooks) -> Self {
        let mut tally = Self::default();
        for case in cases {
            tally.count(case, webhooks);
        }
        tally
    }

    fn count(&mut self, case: &Case, webhooks: &Webhooks) {
        let path = case.path(webhooks).unwrap_or_else(|| panic!("no webhook answers {}", case.gvk()));
        let answer = block_on(webhooks.handle(&path, &case.body(webhooks), &case.context()));
        match case.disagreement(&answer) {
            None => self.passed += 1,
            Some(_) if DOCUMENTED.iter().any(|(id, _)| *id == case.id) => self.documented += 1,
            Some(how) => {
                self.failed.push(format!("{} ({}, {})\n      {how}", case.id, case.source_rule, case.version()));
            }
        }
    }
}

#[test]
fn every_case_is_answered_as_the_rule_books_say() {
    let webhooks = dynamo_webhooks::webhooks();
    let mut failed = Vec::new();
    for file in FILES {
        let tally = Tally::of(&Case::ours(&folder(), file), &webhooks);
        let (passed, documented) = (tally.passed, tally.documented);
        println!("{file}: {passed} passed, {} failed, {documented} documented", tally.failed.len());
        failed.extend(tally.failed);
    }
    assert!(failed.is_empty(), "{} disagreements:\n  {}", failed.len(), failed.join("\n  "));
}
