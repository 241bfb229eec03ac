//! What holds of every request.

use proptest::prelude::*;
use serde_json::Value;

use super::{arbitrary, exact, lifted, lowered, meaning};

const KEYS: [&str; 3] = ["nvidia.com/dgdr-spec", "nvidia.com/dgdr-status", "gateward.dev/preserved"];

fn assert_same(found: &Value, object: &Value, there: &Value) -> Result<(), TestCaseError> {
    for part in ["spec", "status"] {
        let [found, expected] = [found, object].map(|object| settled(meaning(&exact(object, part))));
        prop_assert_eq!(found, expected, "through {:#}", there);
    }
    Ok(())
}

/// A part as the operator's own annotations bring it back: a state or phase that is none is Pending (E-16), and the
/// profiling of a request belongs to the phase Profiling (1.2).
fn settled(mut part: Value) -> Value {
    const PHASES: [&str; 5] = ["Profiling", "Ready", "Deploying", "Deployed", "Failed"];
    let Some(members) = part.as_object_mut() else { return part };
    if members.get("state").is_some_and(|state| state == "Pending") {
        members.remove("state");
    }
    if members.get("phase").is_some_and(|phase| !PHASES.contains(&phase.as_str().unwrap_or_default())) {
        members.remove("phase");
    }
    if members.get("phase").is_none_or(|phase| phase != "Profiling") {
        members.remove("profilingPhase");
        members.remove("profilingJobName");
    }
    part
}

fn edited(mut object: Value, edit: &Value) -> Value {
    object["spec"] = edit["spec"].clone();
    if let Value::Object(members) = &mut object {
        members.remove("status");
        members.extend(edit.get("status").map(|status| ("status".to_owned(), status.clone())));
    }
    object
}

fn annotated(mut object: Value, texts: [Option<String>; 3]) -> Value {
    for (key, text) in KEYS.into_iter().zip(texts) {
        if let Some(text) = text {
            object["metadata"]["annotations"][key] = text.into();
        }
    }
    object
}

fn any_annotations() -> impl Strategy<Value = [Option<String>; 3]> {
    [
        prop::option::of(arbitrary::annotation()),
        prop::option::of(arbitrary::annotation()),
        prop::option::of(arbitrary::annotation()),
    ]
}

proptest! {
    #[test]
    fn a_v1alpha1_request_returns_as_it_was(object in arbitrary::spoke(), texts in any_annotations()) {
        let there = lifted(&annotated(object.clone(), texts));
        assert_same(&lowered(&there), &object, &there)?;
    }

    #[test]
    fn a_v1beta1_request_returns_as_it_was(object in arbitrary::hub(), texts in any_annotations()) {
        let there = lowered(&annotated(object.clone(), texts));
        assert_same(&lifted(&there), &object, &there)?;
    }

    #[test]
    fn an_edit_in_v1beta1_survives_what_was_kept(object in arbitrary::spoke(), edit in arbitrary::hub()) {
        let edited = edited(lifted(&object), &edit);
        let there = lowered(&edited);
        assert_same(&lifted(&there), &edited, &there)?;
    }

    #[test]
    fn an_edit_in_v1alpha1_survives_what_was_kept(object in arbitrary::hub(), edit in arbitrary::spoke()) {
        let edited = edited(lowered(&object), &edit);
        let there = lifted(&edited);
        assert_same(&lowered(&there), &edited, &there)?;
    }

    /// Whatever is kept, the fields that both versions have are those of the live object.
    #[test]
    fn nothing_that_is_kept_wins_over_a_live_field(object in arbitrary::spoke(), texts in any_annotations()) {
        let (plain, other) = (lifted(&object), lifted(&annotated(object.clone(), texts)));
        for field in ["model", "backend", "image", "runtimeVersionOverride"] {
            prop_assert_eq!(&plain["spec"][field], &other["spec"][field]);
        }
    }
}
