//! Arbitrary pods of the hub, and arbitrary memories.

use proptest::prelude::*;

use super::*;
use crate::conversion::tests::arbitrary::{
    extra_pod_spec, list, main_container, object, odd, or_odd, service, text, texts, variables,
};

fn mounts() -> BoxedStrategy<Value> {
    let path = prop::sample::select(&["/a", "/b"][..]).prop_map(Value::from).boxed();
    let name = prop::sample::select(&["a", "b"][..]).prop_map(Value::from).boxed();
    list(object(vec![("name", name), ("mountPath", path), ("subPath", text().boxed())]))
}

fn sources() -> BoxedStrategy<Value> {
    list(object(vec![("secretRef", object(vec![("name", text().boxed())])), ("prefix", text().boxed())]))
}

fn container() -> BoxedStrategy<Value> {
    let plain = object(vec![
        ("name", text().boxed()),
        ("image", text().boxed()),
        ("args", or_odd(list(text()))),
        ("env", or_odd(variables())),
        ("envFrom", or_odd(sources())),
        ("volumeMounts", mounts()),
        ("resources", object(vec![("limits", texts()), ("requests", texts())])),
        ("securityContext", odd().boxed()),
    ]);
    let named = (prop::sample::select(&["main", "sidecar-frontend", "a"][..]), prop_oneof![plain, main_container()]);
    named
        .prop_map(|(name, mut container)| {
            container["name"] = name.into();
            container
        })
        .boxed()
}

/// Containers of which each has a name of its own; or a list of an odd type.
fn containers() -> BoxedStrategy<Value> {
    prop_oneof![2 => list(container()).prop_map(named_once), 1 => or_odd(list(odd()))].boxed()
}

/// The first of each name, as the schema demands.
fn named_once(mut containers: Value) -> Value {
    let mut names = Vec::new();
    if let Value::Array(containers) = &mut containers {
        containers.retain(|container| {
            let is_new = !names.contains(&container["name"]);
            names.push(container["name"].clone());
            is_new
        });
    }
    containers
}

/// What v1alpha1 says of a pod, with each container's name once.
fn spoke_spec() -> BoxedStrategy<Value> {
    let once = |mut spec: Value| {
        if let Some(containers) = spec.get_mut("containers") {
            *containers = named_once(containers.take());
        }
        spec
    };
    extra_pod_spec().prop_map(once).boxed()
}

fn template() -> BoxedStrategy<Value> {
    let metadata = object(vec![
        ("labels", or_odd(texts())),
        ("annotations", texts()),
        ("name", text().boxed()),
        ("odd", odd().boxed()),
    ]);
    let spec = object(vec![
        ("containers", containers()),
        ("mainContainer", odd().boxed()),
        ("nodeSelector", texts()),
        ("odd", odd().boxed()),
    ]);
    let spec = prop_oneof![4 => spec, 1 => spoke_spec(), 1 => odd()].boxed();
    object(vec![("metadata", prop_oneof![4 => metadata, 1 => odd()].boxed()), ("spec", spec), ("odd", odd().boxed())])
}

fn members() -> Vec<(&'static str, BoxedStrategy<Value>)> {
    let reference = prop::sample::select(&["", "sidecar-frontend", "a", "main"][..]).prop_map(Value::from).boxed();
    vec![("podTemplate", prop_oneof![9 => template(), 1 => odd()].boxed()), ("frontendSidecar", reference)]
}

/// The members of a component of the hub that concern its pod.
pub fn pod() -> BoxedStrategy<Value> {
    let cache = prop::sample::select(&["a", "b"][..])
        .prop_map(|name| json!({"pvcName": name, "mountPath": format!("/{name}")}))
        .boxed();
    object(members().into_iter().chain([("compilationCache", cache)]).collect())
}

/// An entry of either shape, or of none.
pub fn entry() -> BoxedStrategy<Value> {
    prop_oneof![object(members()), service(), object(vec![("podTemplate", odd().boxed()), ("gateward", odd().boxed())])]
        .boxed()
}
