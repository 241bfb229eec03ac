//! Which pods move as text. That they come back all the same is what the properties say.

use proptest::prelude::*;

use super::*;
use crate::conversion::path_mapper::silently;
use crate::conversion::pod_template::plain::{is_plain_component, is_plain_template};
use crate::conversion::pod_template::{MovedService, OriginalVersion, to_hub, with_spoke_only_fields};

fn moves(service: Value) -> bool {
    MovedService::of(&spoke(service).spec).is_some()
}

fn is_plain(component: Value) -> bool {
    let written = hub(component);
    let lowered = written.down();
    let template = &written.json()["podTemplate"];
    template.as_object().is_some_and(is_plain_template) && is_plain_component(&written.spec, &lowered.spec)
}

/// What most services say.
fn ordinary() -> Value {
    json!({
        "resources": {"limits": {"cpu": "4", "gpu": "1", "gpuType": "gpu.intel.com/xe"}},
        "envs": [{"name": "A", "value": "1"}, {"name": "B"}],
        "envFromSecret": "hf-token",
        "volumeMounts": [{"name": "weights", "mountPoint": "/weights"}],
        "livenessProbe": {"httpGet": {"path": "/live", "port": 80}},
        "extraPodMetadata": {"labels": {"team": "river"}},
        "extraPodSpec": {
            "nodeSelector": {"pool": "gpu"},
            "containers": [{"name": "logger", "image": "logger:1"}],
            "mainContainer": {"image": "worker:1", "args": ["--model", "m"], "readinessProbe": {"periodSeconds": 1}},
        },
    })
}

fn ordinary_template() -> Value {
    json!({"podTemplate": {
        "metadata": {"labels": {"team": "river"}},
        "spec": {
            "nodeSelector": {"pool": "gpu"},
            "containers": [
                {
                    "name": "main", "image": "worker:1", "args": ["--model", "m"],
                    "env": [{"name": "A", "value": "1"}, {"name": "B"}],
                    "envFrom": [{"secretRef": {"name": "hf-token"}}],
                    "resources": {"limits": {"cpu": "4", "nvidia.com/gpu": "1"}},
                    "volumeMounts": [{"name": "weights", "mountPath": "/weights"}],
                    "livenessProbe": {"httpGet": {"path": "/live", "port": 80}},
                },
                {"name": "logger", "image": "logger:1"},
            ],
        },
    }})
}

fn with(mut object: Value, pointer: &str, value: Value) -> Value {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    object.pointer_mut(parent).unwrap()[name] = value;
    object
}

#[test]
fn ordinary_services_move() {
    assert!(moves(ordinary()));
    assert!(moves(json!({})));
    assert!(moves(json!({"envs": [{"name": "A"}]})));
    assert!(spoke(ordinary()).up().down().json() == ordinary());
}

#[test]
fn what_stands_twice_or_is_empty_becomes_a_tree() {
    let main = "/extraPodSpec/mainContainer";
    for (pointer, value) in [
        ("/frontendSidecar", json!({"image": "fe:1"})),
        ("/envFromSecret", json!("")),
        ("/envs", json!([{"name": "A"}, {"name": "A"}])),
        ("/envs", json!([{"value": "1"}])),
        ("/envs", json!(["odd"])),
        ("/resources", json!({})),
        ("/volumeMounts/0/useAsCompilationCache", json!(true)),
        ("/volumeMounts/0/mountPoint", json!("")),
        ("/livenessProbe", json!({})),
        ("/extraPodMetadata", json!({})),
        ("/extraPodSpec", json!({})),
        ("/extraPodSpec/nodeSelector", Value::Null),
        ("/extraPodSpec/containers", json!([])),
        ("/extraPodSpec/containers/0/name", json!("main")),
        ("/extraPodSpec/containers/0/name", json!("sidecar-frontend")),
        (main, json!({"name": "mine"})),
        (main, json!([1])),
        (&format!("{main}/env"), json!([{"name": "C"}])),
        (&format!("{main}/envFrom"), json!([{"prefix": "X_"}])),
        (&format!("{main}/resources"), json!({"limits": {"cpu": "1"}})),
        (&format!("{main}/volumeMounts"), json!([{"name": "x", "mountPath": "/x"}])),
        (&format!("{main}/livenessProbe"), json!({"periodSeconds": 1})),
        (&format!("{main}/image"), json!("")),
    ] {
        assert!(!moves(with(ordinary(), pointer, value.clone())), "{pointer} {value}");
    }
}

/// The Go operator keeps no split of a graph that was written in v1beta1.
#[test]
fn a_service_that_joins_a_graph_of_v1beta1_becomes_a_tree() {
    let joining = spoke(json!({"envs": [{"name": "A"}], "extraPodSpec": {"mainContainer": {"image": "worker:1"}}}));
    assert_ne!(joining.up().entry(), json!({}));
    let graph = json!({"version": 1, "spec": {"components": [{"name": "older", "podTemplate": {}}]}});
    let annotations = Map::from_iter([(SPEC.to_owned(), graph.to_string().into())]);
    assert_eq!(Stored { annotations, ..joining }.up().entry(), json!({}));
}

#[test]
fn ordinary_components_are_plain() {
    assert!(is_plain(ordinary_template()));
    assert!(hub(ordinary_template()).down().up().json() == ordinary_template());
}

#[test]
fn what_a_service_has_no_word_for_is_tried() {
    let main = "/podTemplate/spec/containers/0";
    for (pointer, value) in [
        ("/frontendSidecar", json!("logger")),
        ("/compilationCache", json!({"pvcName": "a", "mountPath": "/a"})),
        ("/podTemplate", json!({})),
        ("/podTemplate/odd", json!(1)),
        ("/podTemplate/metadata/name", json!("t")),
        ("/podTemplate/metadata/labels", json!({"a": 1})),
        ("/podTemplate/spec/mainContainer", json!({"image": "i"})),
        ("/podTemplate/spec/containers", json!([])),
        (&format!("{main}/name"), json!("worker")),
        ("/podTemplate/spec/containers/1/name", json!("main")),
        ("/podTemplate/spec/containers/1/name", json!("sidecar-frontend")),
        ("/podTemplate/spec/containers", json!([{"name": "main"}])),
        ("/podTemplate/spec/containers", json!([{"name": "main", "livenessProbe": {"httpGet": {"path": null}}}])),
        (&format!("{main}/env"), json!([{"name": "A"}, {"name": "A"}])),
        (&format!("{main}/resources/claims"), json!([{"name": "c"}])),
        (&format!("{main}/resources/limits/cpu"), json!("0.5")),
        (&format!("{main}/resources/limits/cpu"), json!(1)),
        (&format!("{main}/volumeMounts/0/readOnly"), json!(true)),
        (&format!("{main}/livenessProbe"), json!({"httpGet": null})),
    ] {
        assert!(!is_plain(with(ordinary_template(), pointer, value.clone())), "{pointer} {value}");
    }
}

/// Whether it moves; what comes of it is what comes of its trees.
pub fn assert_moves_as_trees(service: &v1alpha1::ComponentSpec) -> bool {
    let Some(moved) = MovedService::of(service) else { return false };
    let template = silently(|mapper| to_hub(service, None, mapper));
    assert_eq!(moved.template::<Value>().map(|template| template.to_value()), template);
    let fields = with_spoke_only_fields(Map::new(), service, OriginalVersion::Spoke);
    assert_eq!(serde_json::to_value(moved.spoke_only_fields()).unwrap(), Value::Object(fields));
    true
}

proptest! {
    /// Ordinary members in any company.
    #[test]
    fn some_parts_of_an_ordinary_service_come_back(left_out in prop::collection::vec(any::<prop::sample::Index>(), 0..4)) {
        let mut service = ordinary();
        let members = service.as_object_mut().unwrap();
        for index in left_out {
            let name = members.keys().nth(index.index(members.len())).unwrap().clone();
            members.remove(&name);
        }
        prop_assert!(assert_moves_as_trees(&spoke(service.clone()).spec));
        prop_assert_eq!(spoke(service.clone()).up().down().json(), service);
    }
    /// The same of a template's main container, which always has an image.
    #[test]
    fn some_parts_of_an_ordinary_template_come_back(left_out in prop::collection::vec(any::<prop::sample::Index>(), 0..4)) {
        let mut component = ordinary_template();
        let main = component.pointer_mut("/podTemplate/spec/containers/0").unwrap().as_object_mut().unwrap();
        for index in left_out {
            let name = main.keys().filter(|name| !matches!(name.as_str(), "name" | "image")).nth(index.index(main.len() - 2));
            main.remove(&name.unwrap().clone());
        }
        prop_assert!(is_plain(component.clone()));
        prop_assert_eq!(hub(component.clone()).down().up().json(), component);
    }
}
