//! Every entry of the catalogue is complete, and its examples show what it says.

#![allow(clippy::panic, clippy::expect_used, reason = "assertions of tests")]

use std::collections::{HashMap, HashSet};

use dynamo_webhooks::ClusterFacts;
use gateward::testing::catalogue;
use gateward::{DECODE, Rule, Webhooks};

/// Applies a check to the rules of the Dynamo kinds; the one that core enforces has no example of its own. A
/// check says what is wrong with an entry.
fn assert_each(check: impl Fn(&Rule, &Webhooks) -> Result<(), String>) {
    let webhooks = dynamo_webhooks::webhooks();
    let rules = webhooks.rules().into_iter().filter(|rule| rule.id != DECODE.id);
    let wrong: Vec<String> =
        rules.filter_map(|rule| Some(format!("{}: {}", rule.id, check(rule, &webhooks).err()?))).collect();
    assert!(wrong.is_empty(), "{} entries:\n  {}", wrong.len(), wrong.join("\n  "));
}

fn demand(holds: bool, otherwise: impl Into<String>) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise.into()) }
}

#[test]
fn one_id_is_one_rule() {
    let webhooks = dynamo_webhooks::webhooks();
    let mut known: HashMap<&str, &Rule> = HashMap::new();
    for rule in webhooks.declarations().flat_map(|declared| declared.rules.iter().copied()) {
        let first = known.entry(rule.id).or_insert(rule);
        assert_eq!(*first, rule, "two rules are called {}", rule.id);
    }
}

#[test]
fn every_rule_says_what_it_demands_of_whom_and_when() {
    assert_each(|rule, _| {
        demand(!rule.summary.is_empty(), "has no summary")?;
        demand(!rule.kinds.is_empty(), "has no kinds")?;
        demand(!rule.versions.is_empty(), "has no versions")?;
        demand(!rule.operations.is_empty(), "has no operations")
    });
}

#[test]
fn every_rule_belongs_to_declared_kinds_and_versions() {
    assert_each(|rule, webhooks| {
        for kind in rule.kinds {
            let declared = webhooks.declarations().find(|declared| declared.hub.kind == *kind);
            let declared = declared.ok_or_else(|| format!("{kind} is not declared"))?;
            demand(declared.rules.iter().any(|known| known.id == rule.id), format!("is not declared with {kind}"))?;
        }
        let versions: HashSet<&str> =
            webhooks.declarations().flat_map(|declared| declared.versions.iter().map(AsRef::as_ref)).collect();
        demand(rule.versions.iter().all(|version| versions.contains(version)), "has an unknown version")
    });
}

#[test]
fn every_rule_is_written_out_in_the_rule_book() {
    assert_each(|rule, _| {
        let page = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(rule.page);
        let text = std::fs::read_to_string(&page).map_err(|error| format!("{}: {error}", page.display()))?;
        let heading = format!("### {}", rule.id);
        let section = text.lines().skip_while(|line| *line != heading).skip(1);
        let section: Vec<&str> = section.take_while(|line| !line.starts_with('#')).collect();
        demand(!section.is_empty(), format!("has no heading in {}", rule.page))?;
        demand(section.iter().any(|line| line.contains("Source: ")), format!("has no source in {}", rule.page))
    });
}

#[test]
fn every_example_does_what_it_says_and_every_finding_says_what_would_be_right() {
    let webhooks = dynamo_webhooks::webhooks();
    catalogue(&webhooks).facts(ClusterFacts::from_document).complete().helpful().hold();
}

#[test]
fn every_example_belongs_to_a_rule() {
    let webhooks = dynamo_webhooks::webhooks();
    let ids: HashSet<&str> = webhooks.rules().into_iter().map(|rule| rule.id).collect();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/rules/examples");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let is_named_after_a_rule = |file: &String| {
        let id = file.strip_suffix(".bad.yaml").or_else(|| file.strip_suffix(".good.yaml"));
        id.is_some_and(|id| ids.contains(id))
    };
    let others: Vec<String> = files.filter(|file| !is_named_after_a_rule(file)).collect();
    assert!(others.is_empty(), "{others:?}");
}
