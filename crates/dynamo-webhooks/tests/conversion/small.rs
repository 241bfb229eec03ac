//! Of an object whose view would lack something because of its size admission says so, though it looks at no view of
//! most objects of at most 64 KiB: whichever part makes one that long, its view is whole.

use std::fmt::Write;
use std::sync::Arc;
use std::time::SystemTime;

use gateward::testing::block_on;
use gateward::{Context, Review};
use proptest::prelude::Rng;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use crate::kinds::{ADAPTER, COMPONENT, GRAPH, Kind, REQUEST, webhooks};

/// The length above which admission always looks, in bytes.
const SMALL: usize = 64 * 1024;

const OBJECTS: usize = 500;

/// What texts are made long with: characters that JSON writes as one, two and six bytes, and as two again where JSON
/// stands in a text of JSON.
const FILLERS: [&str; 4] = ["x", "\"", "\\", "\u{1}"];

/// Where something long may stand: texts and lists.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(at.to_owned()),
        Value::Array(items) => {
            found.extend((!items.is_empty()).then(|| at.to_owned()));
            let below = items.iter().enumerate();
            below.for_each(|(index, item)| places(item, &format!("{at}/{index}"), found));
        }
        Value::Object(members) => {
            for (name, member) in members {
                let mut below = at.to_owned();
                let _ = write!(below, "/{}", name.replace('~', "~0").replace('/', "~1"));
                places(member, &below, found);
            }
        }
        _ => {}
    }
}

/// Makes the object as long as it may be, by what stands at this place.
fn fill(object: &mut Value, place: &str, filler: &str) {
    let room = SMALL - object.to_string().len();
    match object.pointer_mut(place).unwrap() {
        Value::String(text) => {
            let bytes = Value::from(filler).to_string().len() - "\"\"".len();
            text.push_str(&filler.repeat(room / bytes));
        }
        Value::Array(items) => {
            let last = items.last().cloned().unwrap();
            let bytes = last.to_string().len() + ",".len();
            items.extend(std::iter::repeat_n(last, room / bytes));
        }
        _ => unreachable!("a place of a text or a list"),
    }
}

/// The identity of an object is short: the API server sees to it.
fn is_of_the_user(place: &str) -> bool {
    // Names of components differ.
    place != "/spec/components" && place.starts_with("/spec")
        || place.starts_with("/status")
        || place.starts_with("/metadata/annotations")
}

/// What the validating webhook answers to the creation of the object.
fn answer(kind: &Kind, version: &str, object: &Value) -> String {
    let review = json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "small", "operation": "CREATE", "object": object,
            "kind": {"group": "nvidia.com", "version": version, "kind": kind.crd.kind},
            "resource": {"group": "nvidia.com", "version": version, "resource": kind.crd.plural},
        },
    });
    let context = Context::new(SystemTime::UNIX_EPOCH, Arc::new(()));
    let answer = block_on(webhooks().handle_kind(Review::Validate, review.to_string().as_bytes(), &context));
    String::from_utf8(answer.body).unwrap()
}

/// Whether the object may not be created because of what its view would lack, or because it can't be judged either.
fn is_refused_for_it(kind: &Kind, version: &str, object: &Value) -> bool {
    let answer = answer(kind, version, object);
    let reasons = ["can't be said whole in", "the lists in its subtrees are too long", "FieldValueTooMany"];
    reasons.iter().any(|why| answer.contains(why))
}

fn has_a_whole_view(kind: &Kind, from: &str, through: &str) {
    let mut runner = TestRunner::deterministic();
    let objects = kind.objects(from);
    let mut filled = 0;
    for _ in 0..OBJECTS {
        let mut object = objects.new_tree(&mut runner).unwrap().current();
        let mut found = Vec::new();
        places(&object, "", &mut found);
        found.retain(|place| is_of_the_user(place));
        if found.is_empty() || object.to_string().len() > SMALL {
            continue;
        }
        let place = &found[runner.rng().next_u32() as usize % found.len()];
        fill(&mut object, place, FILLERS[runner.rng().next_u32() as usize % FILLERS.len()]);
        let json = object.to_string();
        assert!(json.len() <= SMALL, "{place}");
        let view = webhooks().convert(&json, &format!("nvidia.com/{through}")).unwrap();
        let is_whole = view.left_out.is_empty() || is_refused_for_it(kind, from, &object);
        assert!(is_whole, "{place} of {} bytes: {}", json.len(), answer(kind, from, &object));
        filled += 1;
    }
    assert!(filled > OBJECTS / 2);
}

macro_rules! whole {
    ($($name:ident: $kind:expr, $from:literal through $through:literal;)*) => {$(
        #[test]
        fn $name() {
            has_a_whole_view(&$kind, $from, $through);
        }
    )*};
}

whole! {
    a_small_graph_of_v1alpha1_has_a_whole_view: GRAPH, "v1alpha1" through "v1beta1";
    a_small_graph_of_v1beta1_has_a_whole_view: GRAPH, "v1beta1" through "v1alpha1";
    a_small_component_of_v1alpha1_has_a_whole_view: COMPONENT, "v1alpha1" through "v1beta1";
    a_small_component_of_v1beta1_has_a_whole_view: COMPONENT, "v1beta1" through "v1alpha1";
    a_small_request_of_v1alpha1_has_a_whole_view: REQUEST, "v1alpha1" through "v1beta1";
    a_small_request_of_v1beta1_has_a_whole_view: REQUEST, "v1beta1" through "v1alpha1";
    a_small_adapter_of_v1alpha1_has_a_whole_view: ADAPTER, "v1alpha1" through "v1beta1";
    a_small_adapter_of_v1beta1_has_a_whole_view: ADAPTER, "v1beta1" through "v1alpha1";
}

/// Trees of these take far more memory than their text.
#[test]
fn a_small_pod_of_very_many_parts_has_a_whole_view_or_is_refused() {
    let mut marked = 0;
    for part in [json!({}), json!([]), json!(0), json!({"": 0}), json!({"name": "a"})] {
        let parts = vec![part.clone(); (SMALL - 512) / (part.to_string().len() + 1)];
        for pod in [
            json!({"spec": {"containers": parts}}),
            json!({"spec": {"containers": [{"name": "main", "args": parts}]}}),
            json!({"spec": {"containers": [{"name": "main", "env": parts}]}}),
            json!({"spec": {"volumes": parts}}),
        ] {
            let object = json!({
                "apiVersion": "nvidia.com/v1beta1", "kind": "DynamoComponentDeployment",
                "metadata": {"name": "otter"}, "spec": {"podTemplate": pod},
            });
            let view = webhooks().convert(&object.to_string(), "nvidia.com/v1alpha1").unwrap();
            let is_marked = !view.left_out.is_empty();
            let is_denied = answer(&COMPONENT, "v1beta1", &object).contains(r#""allowed":false"#);
            assert!(!is_marked || is_denied, "{part}");
            marked += usize::from(is_marked);
        }
    }
    assert!(marked > 0, "the shapes are harmless");
}

/// What conversion kept of the request is written anew when it is read back, and has no room any more.
#[test]
fn a_request_that_its_own_version_could_not_read_back_whole_is_refused() {
    let kept = r#"{"searchStrategy":"thorough","hardware":{"gpuSku":"h100_sxm","numGpusPerNode":8,"totalGpus":8}}"#;
    let longer = format!(r#"{{"version":1,"spec":{kept}}}"#);
    let profiling = json!({"profilerImage": "r.example.org/x:1.5.0", "config": {}});
    let spec = json!({"model": "m", "backend": "vllm", "profilingConfig": profiling});
    for (room, is_refused) in [(0, true), (longer.len() - kept.len() - 1, true), (longer.len() - kept.len(), false)] {
        let keys = "zoo.org/filler".len() + "nvidia.com/dgdr-spec".len();
        let filler = "x".repeat((256 << 10) - keys - kept.len() - room);
        let metadata = json!({"name": "otter", "namespace": "tidepool",
            "annotations": {"zoo.org/filler": filler, "nvidia.com/dgdr-spec": kept}});
        let object = json!({"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeploymentRequest",
            "metadata": metadata, "spec": spec});
        let answer = answer(&REQUEST, "v1alpha1", &object);
        assert_eq!(answer.contains("can't be said whole in v1alpha1"), is_refused, "{room}: {answer:.600}");
        assert_eq!(answer.contains(r#""allowed":false"#), is_refused, "{room}: {answer:.600}");
    }
}

/// Go reads 10,000 levels, and a list has to be read with what stands around an object.
#[test]
fn what_nests_more_than_five_hundred_levels_is_refused_with_the_way_to_it() {
    let nested = |levels: usize| (1..levels).fold(json!({}), |below, _| json!({"a": below}));
    for (levels, is_refused) in [(496, false), (497, true)] {
        let dgd = json!({"apiVersion": "nvidia.com/v1beta1", "kind": "DynamoGraphDeployment", "spec": nested(levels)});
        let object = json!({"apiVersion": "nvidia.com/v1beta1", "kind": "DynamoGraphDeploymentRequest",
            "metadata": {"name": "otter"}, "spec": {"model": "m", "image": "r.example.org/x:1.5.0", "overrides": {"dgd": dgd}}});
        let answer = answer(&REQUEST, "v1beta1", &object);
        let way = "spec.overrides.dgd.spec.a.a.a.a: Invalid value";
        assert_eq!(answer.contains(way), is_refused, "{levels}: {answer:.600}");
        assert_eq!(answer.contains("more than 500 levels deep"), is_refused, "{levels}: {answer:.600}");
    }
}
