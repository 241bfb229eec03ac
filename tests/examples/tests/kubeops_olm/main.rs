//! The example operators against the cases of KubeOps and OLM in `cases.jsonl`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod admission;
mod bundled;
mod bundles;
mod certificate;
mod chain;
mod conversion;
mod engine;
mod generator;
mod olm;
mod patching;
mod program;
mod testapp;

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
    (
        "K-CRT-04",
        "a certificate is good from an hour before it is made, and for a year: clocks differ, laptops get lost",
    ),
    ("K-GEN-15", "the author says which version is stored and in which order; no program of ours chooses"),
    ("O-NAM-03", "OLM v0 refuses the name, so the bundle has to change; OLM should hash it"),
    ("O-DEP-02", "OLM v0 refuses the Service, so the bundle has to change; OLM should replace the dots"),
    ("O-REN-07", "OLM leaves the author's volume; what `generate bundle` writes has none of a certificate"),
    ("O-CRT-06", "OLM never looks at the key; the server says which file it waits for"),
    ("O-CRT-12", "OLM swaps the CA at once; the server shows the new certificate without a restart"),
];

fn judge(case: &Case) -> Outcome {
    match case.area.as_str() {
        "admission-validate" | "admission-mutate" | "admission-testapp" => admission::judge(case),
        "admission-chain" => chain::judge(case),
        "certificate" => certificate::judge(case),
        "generator" => generator::judge(case),
        "bundle" => bundles::judge_files(case),
        // One that asks for a decision is about a bundle, the others are about what becomes of it.
        "render" if !case.expect["decision"].is_null() => bundles::judge_files(case),
        "conversion" => conversion::judge(case),
        area if area.starts_with("csv-") => bundles::judge_csv(case),
        "patch-engine" => patching::judge(case),
        "render" | "namespace-selector" | "lifecycle" | "certificate-rotation" => olm::judge(case),
        area => Err(format!("unknown area {area}")),
    }
}

/// The examples, and the operator of KubeOps' own tests.
fn all_webhooks() -> [Webhooks; 4] {
    [kubeops_admission::webhooks(), kubeops_conversion::webhooks(), olm_webhooktest::webhooks(), testapp::webhooks()]
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

fn all_cases() -> Vec<Case> {
    include_str!("cases.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_model_of_olm_does_what_olm_does_where_a_case_asks_for_better() {
    let cases = all_cases();
    let better: Vec<&Case> = cases.iter().filter(|case| olm::is_ours(case) && case.rest["differs"] == true).collect();
    assert!(better.len() >= 4);
    let wrong: Vec<String> =
        better.iter().filter_map(|case| Some(format!("{}: {}", case.id, olm::judge_upstream(case).err()?))).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_examples_answer_as_the_cases_say() {
    let cases = all_cases();
    let wrong: Vec<String> = cases.iter().filter_map(wrong).collect();
    println!("{} cases hold, {} differ on purpose", cases.len() - wrong.len() - DEVIATIONS.len(), DEVIATIONS.len());
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
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
