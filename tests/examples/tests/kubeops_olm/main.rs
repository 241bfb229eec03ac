//! The example operators against the cases of KubeOps and OLM in `cases.jsonl`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod admission;
mod chain;
mod conversion;
mod engine;
mod patching;

use std::collections::BTreeMap;

use gateward::testing::block_on;
use gateward::{Context, ReviewResponse, Webhooks};
use serde::Deserialize;
use serde_json::Value;

/// What a case says of itself; the rest depends on its area.
#[derive(Debug, Deserialize)]
struct Case {
    id: String,
    area: String,
    title: String,
    #[serde(default)]
    expect: Value,
    #[serde(flatten)]
    rest: Value,
}

/// Why a case doesn't hold.
type Outcome = Result<(), String>;

/// Cases that don't hold on purpose. `docs/deviations.md` says why.
const DEVIATIONS: &[(&str, &str)] = &[
    ("K-VAL-18", "a create without an object is an envelope that can't be read: HTTP 400, no denial"),
    ("K-CNV-23", "a field that can't be read fails no read: it is left out of a view that is marked"),
    ("K-CNV-22", "a field that no type knows isn't lost: it stays in place"),
];

/// The areas that later work owes.
const LATER: &[(&str, &str)] = &[
    ("admission-testapp", "an operator of KubeOps' own tests, not one of its examples"),
    ("bundle", "OLM bundles are not here yet"),
    ("certificate", "certificates in a cluster are not here yet"),
    ("certificate-rotation", "certificates in a cluster are not here yet"),
    ("csv-conversion", "OLM bundles are not here yet"),
    ("csv-deployment", "OLM bundles are not here yet"),
    ("csv-fields", "OLM bundles are not here yet"),
    ("csv-names", "OLM bundles are not here yet"),
    ("csv-rules", "OLM bundles are not here yet"),
    ("generator", "OLM bundles are not here yet"),
    ("lifecycle", "OLM bundles are not here yet"),
    ("namespace-selector", "OLM bundles are not here yet"),
    ("render", "the manifests of a development cluster are not here yet"),
];

fn judge(case: &Case) -> Outcome {
    match case.area.as_str() {
        "admission-validate" | "admission-mutate" => admission::judge(case),
        "admission-chain" => chain::judge(case),
        "conversion" => conversion::judge(case),
        "patch-engine" => patching::judge(case),
        area => Err(format!("unknown area {area}")),
    }
}

/// The examples.
fn all_webhooks() -> [Webhooks; 3] {
    [kubeops_admission::webhooks(), kubeops_conversion::webhooks(), olm_webhooktest::webhooks()]
}

fn ask(webhooks: &Webhooks, path: &str, body: &[u8]) -> ReviewResponse {
    let context = Context::new(std::time::SystemTime::UNIX_EPOCH, std::sync::Arc::new(()));
    block_on(webhooks.handle(path, body, &context))
}

/// Compares one thing that a case expects.
fn same(what: &str, found: &Value, expected: &Value) -> Outcome {
    if found == expected { Ok(()) } else { Err(format!("{what}: expected {expected}, found {found}")) }
}

fn holds_all(what: &str, found: &str, fragments: &Value) -> Outcome {
    let missing =
        fragments.as_array().into_iter().flatten().filter_map(Value::as_str).find(|part| !found.contains(part));
    missing.map_or(Ok(()), |part| Err(format!("{what}: {part:?} is not in {found:?}")))
}

#[test]
fn the_examples_answer_as_the_cases_say() {
    let cases: Vec<Case> =
        include_str!("cases.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (later, ours): (Vec<&Case>, Vec<&Case>) = cases.iter().partition(|case| later(case).is_some());
    print_skipped(&later);
    let wrong: Vec<String> = ours.iter().filter_map(|case| wrong(case)).collect();
    println!("{} cases hold, {} differ on purpose", ours.len() - wrong.len() - DEVIATIONS.len(), DEVIATIONS.len());
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), ours.len(), wrong.join("\n"));
}

fn later(case: &Case) -> Option<&'static str> {
    LATER.iter().find(|(area, _)| *area == case.area).map(|(_, reason)| *reason)
}

fn print_skipped(cases: &[&Case]) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for case in cases {
        *counts.entry(&case.area).or_default() += 1;
    }
    for (area, reason) in LATER {
        println!("skipped: {} of {area}: {reason}", counts.get(area).copied().unwrap_or_default());
    }
}

/// What is wrong about a case: it doesn't hold, or it holds although it is listed as a deviation.
fn wrong(case: &Case) -> Option<String> {
    let deviation = DEVIATIONS.iter().find(|(id, _)| *id == case.id);
    match (judge(case), deviation) {
        (Ok(()), None) => None,
        (Err(why), Some((id, reason))) => {
            println!("differs on purpose: {id}: {reason} ({why})");
            None
        }
        (Err(why), None) => Some(format!("{} ({}): {why}", case.id, case.title)),
        (Ok(()), Some(_)) => Some(format!("{} holds; it is no deviation any more", case.id)),
    }
}
