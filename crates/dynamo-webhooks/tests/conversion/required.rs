//! What the schema of the other version requires, a converted object has: without it the API server refuses every
//! change of the object in that version.

use gateward_lint::schema::{SchemaFault, SchemaFinding};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::Value;

use crate::kinds::{ADAPTER, COMPONENT, GRAPH, Kind, convert};

const OBJECTS: usize = 2000;

/// What an admitted object may lack all the same: the nodes of an instance, which have a default, and what a partial
/// object of an adapter leaves out.
fn is_wanted(finding: &SchemaFinding) -> bool {
    let path = finding.path.to_string();
    let is_given = path.ends_with(".multinode.nodeCount") || ["spec.dgdRef", "spec.replicas"].contains(&path.as_str());
    matches!(finding.fault, SchemaFault::Required) && !is_given
}

fn has_what_is_required(kind: &Kind, from: &str, through: &str) {
    let mut runner = TestRunner::deterministic();
    let (own, other) = (kind.objects(from), kind.objects(through));
    for _ in 0..OBJECTS {
        let object = own.new_tree(&mut runner).unwrap().current();
        let there = convert(&object, through).unwrap();
        let back = convert(&there, from).unwrap();
        let missing = |refusals: Vec<SchemaFinding>, object: &Value, of: &Value| {
            let missing: Vec<String> =
                refusals.iter().filter(|it| is_wanted(it)).map(|it| it.path.to_string()).collect();
            assert!(missing.is_empty(), "{missing:?} in {object}\nmade of {of}");
        };
        missing(other.refusals(&there), &there, &object);
        missing(own.refusals(&back), &back, &there);
    }
}

macro_rules! required {
    ($($name:ident: $kind:expr, $from:literal through $through:literal;)*) => {$(
        #[test]
        fn $name() {
            has_what_is_required(&$kind, $from, $through);
        }
    )*};
}

required! {
    of_a_graph_of_v1alpha1: GRAPH, "v1alpha1" through "v1beta1";
    of_a_graph_of_v1beta1: GRAPH, "v1beta1" through "v1alpha1";
    of_a_component_of_v1alpha1: COMPONENT, "v1alpha1" through "v1beta1";
    of_a_component_of_v1beta1: COMPONENT, "v1beta1" through "v1alpha1";
    of_an_adapter_of_v1alpha1: ADAPTER, "v1alpha1" through "v1beta1";
    of_an_adapter_of_v1beta1: ADAPTER, "v1beta1" through "v1alpha1";
}
