//! What the schema of the other version requires, a converted object has: without it the API server refuses every
//! change of the object in that version.

use gateward::schema::{Schema, SchemaFault};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::Value;

use crate::documents::Schemas;
use crate::kinds::{ADAPTER, COMPONENT, GRAPH, Kind, REQUEST, convert};

const OBJECTS: usize = 2000;

/// What the schema misses of an object that the API server has given its defaults. Of a partial object without a spec
/// nothing is expected there.
fn missing(schema: &Schema, mut object: Value, is_partial: bool) -> Vec<String> {
    schema.apply_defaults(&mut object);
    let missing = schema.validate(&object).into_iter().filter(|finding| matches!(finding.fault, SchemaFault::Required));
    let paths = missing.map(|finding| finding.path.to_string());
    paths.filter(|path| !(is_partial && path.starts_with("spec"))).filter(|path| !is_of_the_user(path)).collect()
}

/// What v1beta1 leaves open of a graph that was found, so that v1alpha1 may miss it, and what no request can do without:
/// v1alpha1 lets the model be empty, v1beta1 doesn't.
fn is_of_the_user(path: &str) -> bool {
    ["status.generatedDeployment.apiVersion", "status.generatedDeployment.kind", "spec.model"].contains(&path)
}

fn has_what_is_required(kind: &Kind, from: &str, through: &str) {
    let mut runner = TestRunner::deterministic();
    let schemas = Schemas::read();
    let (own, other) = (schemas.of(kind, from).unwrap(), schemas.of(kind, through).unwrap());
    let objects = kind.objects(from);
    for _ in 0..OBJECTS {
        let mut object = objects.new_tree(&mut runner).unwrap().current();
        own.apply_defaults(&mut object);
        let is_partial = object.get("spec").is_none();
        let there = convert(&object, through).unwrap();
        let back = convert(&there, from).unwrap();
        for (schema, object, of) in [(other, &there, &object), (own, &back, &there)] {
            let missing = missing(schema, object.clone(), is_partial);
            assert!(missing.is_empty(), "{missing:?} in {object}\nmade of {of}");
        }
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
    of_a_request_of_v1alpha1: REQUEST, "v1alpha1" through "v1beta1";
    of_a_request_of_v1beta1: REQUEST, "v1beta1" through "v1alpha1";
    of_an_adapter_of_v1alpha1: ADAPTER, "v1alpha1" through "v1beta1";
    of_an_adapter_of_v1beta1: ADAPTER, "v1beta1" through "v1alpha1";
}
