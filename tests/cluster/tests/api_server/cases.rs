//! The rule books' cases of the stages that the API server answers alone.

use cluster_tests::{Case, Sandbox, Test, tests};

pub fn tests() -> Vec<Test> {
    tests![every_case_is_answered_as_the_rule_books_say]
}

/// The schemas of a DynamoModel and of a v1alpha1 request are the same in all eras.
fn is_ours(case: &Case) -> bool {
    let alone = ["schema", "cel"].contains(&case.stage.as_str());
    alone && (case.era == "N" || case.kind == "DynamoModel" || case.api_version.ends_with("/v1alpha1"))
}

async fn every_case_is_answered_as_the_rule_books_say(sandbox: Sandbox) {
    let cases = Case::all();
    let (mut agreed, mut failed) = (0, Vec::new());
    for case in cases.iter().filter(|case| is_ours(case)) {
        match case.disagreement(&case.ask(&sandbox).await, case.expect.error_fields.clone()) {
            None => agreed += 1,
            Some(how) => failed.push(case.reported(&how)),
        }
    }
    println!("{agreed} cases agree");
    assert!(failed.is_empty(), "{} disagreements:\n  {}", failed.len(), failed.join("\n  "));
    assert!(agreed > 40);
}
