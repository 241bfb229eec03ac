//! The promises of section 1.2 on arbitrary objects of every kind, both ways.

use gateward::testing::round_trips;
use serde_json::Value;

use crate::kinds::{ADAPTER, COMPONENT, GRAPH, Kind, OBJECTS, REQUEST, vocabulary, webhooks};
use crate::meaning::meaning;
use crate::stashes;

fn comes_back(kind: &Kind, from: &str, through: &str) {
    let trips = round_trips(webhooks(), kind.crd.json).only(from, through).cases(OBJECTS);
    trips.drawing(vocabulary).meaning(|version, object| meaning(kind, version, object)).hold();
}

fn unknown_fields_survive(kind: &Kind, from: &str, through: &str) {
    let trips = round_trips(webhooks(), kind.crd.json).only(from, through).cases(OBJECTS).with_unknown_fields();
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
