//! The promises of section 1.2 on arbitrary objects of every kind, both ways.

use gateward::testing::round_trips;
use serde_json::Value;

use crate::kinds::{ADAPTER, COMPONENT, GRAPH, Kind, REQUEST, vocabulary, webhooks};
use crate::stashes;

/// How many objects each property is tried on.
pub const OBJECTS: u32 = 10_000;

/// What changes on the way though nothing is lost.
pub fn meaning(kind: &Kind, version: &str, object: &mut Value) {
    without_empty_ones(object, false_is_absent(kind, version));
    if kind.crd.kind == REQUEST.crd.kind && version == "v1beta1" && object["spec"]["autoApply"].is_null() {
        // Absent means true (5.1).
        object["spec"]["autoApply"] = true.into();
    }
    if kind.crd.kind == REQUEST.crd.kind {
        settle(&mut object["status"]);
    }
    if kind.crd.kind == ADAPTER.crd.kind && object["status"].is_object() && object["status"]["replicas"].is_null() {
        // v1alpha1 leaves a zero out, v1beta1 demands it (7).
        object["status"]["replicas"] = 0.into();
    }
}

/// A state that is none is Pending (E-16), a phase that is none too, and the profiling of a request belongs to the phase
/// Profiling (1.2): no annotation of ours keeps what the operator's own don't.
fn settle(status: &mut Value) {
    const PHASES: [&str; 6] = ["Pending", "Profiling", "Ready", "Deploying", "Deployed", "Failed"];
    let Some(status) = status.as_object_mut() else { return };
    if status.get("state").is_none_or(|state| state == "Pending") {
        status.remove("state");
    }
    if !status.get("phase").and_then(Value::as_str).is_some_and(|phase| PHASES[1..].contains(&phase)) {
        status.remove("phase");
    }
    if status.get("phase").is_none_or(|phase| phase != "Profiling") {
        status.remove("profilingPhase");
        status.remove("profilingJobName");
    }
}

/// Members whose types know no difference between false and absence.
fn false_is_absent(kind: &Kind, version: &str) -> &'static [&'static str] {
    match (kind.crd.kind == REQUEST.crd.kind, version) {
        (true, "v1alpha1") => &["autoApply", "created", "useMocker"],
        (true, _) => &["enabled", "trustRemoteCode"],
        (false, _) => {
            &["disabled", "enabled", "globalDynamoNamespace", "ready", "useAsCompilationCache", "useVirtualService"]
        }
    }
}

/// An empty text is none, and so is false in these members.
fn without_empty_ones(value: &mut Value, flags: &[&str]) {
    match value {
        Value::Object(members) => {
            members.retain(|name, value| value != "" && (*value != false || !flags.contains(&name.as_str())));
            members.values_mut().for_each(|value| without_empty_ones(value, flags));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| without_empty_ones(item, flags)),
        _ => {}
    }
}

fn comes_back(kind: &Kind, from: &str, through: &str) {
    let trips = round_trips(webhooks(), kind.crd.yaml).only(from, through).cases(OBJECTS);
    trips.drawing(vocabulary).meaning(|version, object| meaning(kind, version, object)).hold();
}

fn unknown_fields_survive(kind: &Kind, from: &str, through: &str) {
    let trips = round_trips(webhooks(), kind.crd.yaml).only(from, through).cases(OBJECTS).with_unknown_fields();
    // Those of a status survive only where they have a place: no annotation of ours touches it.
    let meant = |version: &str, object: &mut Value| {
        meaning(kind, version, object);
        object.as_object_mut().map(|members| members.remove("status"));
    };
    trips.drawing(vocabulary).meaning(meant).hold();
}

/// The properties of one kind on the way from one version through the other.
macro_rules! properties {
    ($($name:ident: $kind:expr, $from:literal through $through:literal;)*) => {$(
        mod $name {
            use super::*;

            #[test]
            fn objects_come_back_as_they_were() {
                comes_back(&$kind, $from, $through);
            }

            #[test]
            fn unknown_fields_survive() {
                super::unknown_fields_survive(&$kind, $from, $through);
            }

            #[test]
            fn no_annotation_fails_a_conversion() {
                stashes::no_annotation_fails_a_conversion(&$kind, $from, $through);
            }

            #[test]
            fn a_stale_stash_never_wins() {
                stashes::a_stale_stash_never_wins(&$kind, $from, $through);
            }
        }
    )*};
}

properties! {
    a_graph_of_v1alpha1: GRAPH, "v1alpha1" through "v1beta1";
    a_graph_of_v1beta1: GRAPH, "v1beta1" through "v1alpha1";
    a_component_of_v1alpha1: COMPONENT, "v1alpha1" through "v1beta1";
    a_component_of_v1beta1: COMPONENT, "v1beta1" through "v1alpha1";
    a_request_of_v1alpha1: REQUEST, "v1alpha1" through "v1beta1";
    a_request_of_v1beta1: REQUEST, "v1beta1" through "v1alpha1";
    an_adapter_of_v1alpha1: ADAPTER, "v1alpha1" through "v1beta1";
    an_adapter_of_v1beta1: ADAPTER, "v1beta1" through "v1alpha1";
}

#[test]
fn drawn_objects_are_admitted_by_the_schema() {
    use proptest::strategy::{Strategy, ValueTree};
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    for kind in [GRAPH, COMPONENT, REQUEST, ADAPTER] {
        for version in ["v1alpha1", "v1beta1"] {
            let objects = kind.objects(version);
            let mut sizes = 0;
            for _ in 0..500 {
                let object = objects.new_tree(&mut runner).unwrap().current();
                sizes += object.to_string().len();
                let refusals = objects.refusals(&object);
                let first = refusals.first().map(|finding| format!("{}: {finding}", finding.path));
                assert!(refusals.is_empty(), "{first:?} of {object}");
            }
            println!("{} {version}: {} bytes on average", kind.crd.kind, sizes / 500);
        }
    }
}
