//! The rule books' cases that our webhooks answer, behind the API server: what it makes of an object before it asks, and
//! of the answer, changes no verdict.

use cluster_tests::{Case, Sandbox, Test, tests};
use serde_json::json;

#[allow(dead_code, reason = "it has tests of its own")]
#[path = "../../../../crates/dynamo-webhooks/tests/support/alpha.rs"]
mod alpha;

pub fn tests() -> Vec<Test> {
    tests![every_case_is_answered_as_the_rule_books_say]
}

/// Whether a case is ours, and of the cluster that our server knows.
fn is_ours(case: &Case) -> bool {
    let alive = case.object.pointer("/metadata/deletionTimestamp").is_none();
    let usual = [json!({}), json!({"clusterWide": true, "gpuDiscoveryEnabled": false})].contains(&case.config);
    let era = case.era == "N" || (case.kind == "DynamoModel" && case.era == "M");
    case.stage == "webhook" && case.operation != "DELETE" && alive && usual && era
}

/// The expected fields in the version that the user wrote.
fn wanted(case: &Case) -> Vec<String> {
    let fields = case.expect.error_fields.iter();
    let translated = case.api_version.ends_with("/v1alpha1") && case.kind != "DynamoModel";
    fields
        .map(|field| if translated { alpha::translate(field, &case.kind, &case.object) } else { field.clone() })
        .collect()
}

/// Cases of the validating webhook alone, which somebody before it decides.
const DECIDED_BEFORE: [(&str, &str); 5] = [
    ("dgdn-097", "the schema knows that names of roles differ"),
    ("dgdn-164", "defaulting sets the provider of a new graph, whatever its author wrote"),
    ("dgdn-166", "defaulting fills in an empty target"),
    ("dgdn-280", "defaulting sets the provider of a new graph, whatever its author wrote"),
    ("dgdn-283", "the schema knows that names of roles differ"),
];

async fn every_case_is_answered_as_the_rule_books_say(sandbox: Sandbox) {
    let cases = Case::all();
    let (mut agreed, mut failed) = (0, Vec::new());
    for case in cases.iter().filter(|case| is_ours(case)) {
        let disagreement = case.disagreement(&case.ask(&sandbox).await, wanted(case));
        match (disagreement, DECIDED_BEFORE.iter().any(|(id, _)| *id == case.id)) {
            (None, false) => agreed += 1,
            (Some(_), true) => {}
            (None, true) => failed.push(case.reported("agrees, though somebody before should decide")),
            (Some(how), false) => failed.push(case.reported(&how)),
        }
    }
    println!("{agreed} cases agree");
    assert!(failed.is_empty(), "{} disagreements:\n  {}", failed.len(), failed.join("\n  "));
    assert!(agreed > 200);
}
