//! What holds of every v1alpha1 object that can be sent.

use gateward::Outcome;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{component, graph, on};
use crate::conversion::tests::arbitrary;

/// Members that only v1beta1 has. A role's pod template exists in both.
const OF_THE_HUB: [&str; 5] = ["components", "experimental.", "podTemplate.", "sharedMemorySize", "compilationCache"];

/// The verdict is one of the two, and speaks the user's language.
fn is_answered_in_v1alpha1(old: Option<&Value>, new: &Value) -> Result<(), TestCaseError> {
    let findings = on(&json!({}), |request| match old {
        Some(old) => request.update(old, new),
        None => request.create(new),
    });
    let answer = findings.answer();
    prop_assert!(matches!(answer.decision.outcome, Outcome::Allowed | Outcome::Denied { .. }), "{:?}", answer.decision);
    for path in findings.paths() {
        prop_assert!(!OF_THE_HUB.iter().any(|member| path.contains(member)), "{path}");
    }
    Ok(())
}

proptest! {
    #[test]
    fn every_graph_gets_a_verdict_in_its_own_paths(old in arbitrary::graph(), new in arbitrary::graph()) {
        let [old, new] = [old, new].map(|object| graph(object["spec"].clone()));
        is_answered_in_v1alpha1(None, &new)?;
        is_answered_in_v1alpha1(Some(&old), &new)?;
    }

    #[test]
    fn every_component_gets_a_verdict_in_its_own_paths(old in arbitrary::service(), new in arbitrary::service()) {
        let [old, new] = [old, new].map(component);
        is_answered_in_v1alpha1(None, &new)?;
        is_answered_in_v1alpha1(Some(&old), &new)?;
    }

    #[test]
    fn defaulting_a_graph_twice_changes_nothing_more(object in arbitrary::graph()) {
        let once = on(&json!({}), |request| request.default(&graph(object["spec"].clone()))).patched();
        let twice = on(&json!({}), |request| request.default(&once)).patched();
        prop_assert_eq!(once, twice);
    }
}
