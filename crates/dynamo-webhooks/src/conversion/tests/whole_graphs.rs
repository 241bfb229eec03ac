//! There and back with pods, and with the rest of a graph around them.

use dynamo_api::{v1alpha1, v1beta1};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::arbitrary::{flag, list, object};
use super::convert;
use super::round_trips::{NAMES, as_read, map, of_kind, one_of, with};

fn unique(items: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    items
        .prop_map(|items| {
            let mut seen = std::collections::BTreeSet::new();
            let items = items.as_array().cloned().unwrap_or_default().into_iter();
            items.filter(|each| seen.insert(each["name"].to_string())).collect()
        })
        .boxed()
}

fn named(more: Vec<(&'static str, BoxedStrategy<Value>)>, names: &'static [&'static str]) -> BoxedStrategy<Value> {
    (object(more), one_of(names)).prop_map(|(each, name)| with(each, "name", name)).boxed()
}

fn variables() -> BoxedStrategy<Value> {
    list(named(vec![("value", one_of(&["1", "2"]))], &["A", "B", "C"]))
}

fn env_from() -> BoxedStrategy<Value> {
    let secret = object(vec![("name", one_of(&["s", "t"])), ("optional", flag())]);
    list(object(vec![("secretRef", secret), ("prefix", one_of(&["P_"]))]))
}

fn mounts() -> BoxedStrategy<Value> {
    list(
        (named(vec![("readOnly", Just(json!(true)).boxed())], &["a", "b", "c"]), one_of(&["/a", "/b"]))
            .prop_map(|(mount, path)| with(mount, "mountPath", path)),
    )
}

fn probe() -> BoxedStrategy<Value> {
    object(vec![
        ("periodSeconds", one_number()),
        ("httpGet", object(vec![("path", one_of(&["/live"])), ("port", Just(json!(80)).boxed())])),
    ])
}

fn one_number() -> BoxedStrategy<Value> {
    (1_i64..4).prop_map(Value::from).boxed()
}

fn amounts() -> BoxedStrategy<Value> {
    prop::collection::btree_map(
        prop::sample::select(&["cpu", "memory", "nvidia.com/gpu", "v.example/nic"][..]),
        prop::sample::select(&["1", "2", "500m", "1Gi", "0.5"][..]),
        1..3,
    )
    .prop_map(|map| json!(map))
    .boxed()
}

fn resources() -> BoxedStrategy<Value> {
    object(vec![("limits", amounts()), ("requests", amounts()), ("claims", list(named(vec![], &["c", "d"])))])
}

fn flat_resources() -> BoxedStrategy<Value> {
    let amount = || one_of(&["", "1", "2", "500m", "0.5", "odd"]);
    let custom = map(one_of(&["1", "2"]));
    let block = move || {
        object(vec![
            ("cpu", amount()),
            ("memory", amount()),
            ("gpu", amount()),
            ("gpuType", one_of(&["v.example/gpu", "nvidia.com/gpu"])),
            ("custom", custom.clone()),
        ])
    };
    object(vec![("limits", block()), ("requests", block()), ("claims", list(named(vec![], &["c", "d"])))])
}

fn container_parts() -> Vec<(&'static str, BoxedStrategy<Value>)> {
    vec![
        ("image", one_of(&["r/x:1", "r/y:2"])),
        ("args", list(one_of(&["--a", "--b"]))),
        ("env", variables()),
        ("envFrom", env_from()),
        ("resources", resources()),
        ("volumeMounts", mounts()),
        ("livenessProbe", probe()),
        ("readinessProbe", probe()),
        ("startupProbe", probe()),
        ("ports", list(object(vec![("containerPort", one_number())]))),
        ("securityContext", object(vec![("runAsUser", one_number())])),
    ]
}

fn pod_parts() -> Vec<(&'static str, BoxedStrategy<Value>)> {
    vec![
        ("nodeSelector", map(one_of(NAMES))),
        ("serviceAccountName", one_of(NAMES)),
        ("volumes", list(named(vec![], &["a", "b"]))),
        ("initContainers", list(named(vec![("image", one_of(&["i"]))], &["x", "y"]))),
    ]
}

fn service() -> BoxedStrategy<Value> {
    let main = object(container_parts().into_iter().chain([("name", one_of(&["main", "other"]))]).collect());
    let others = unique(list(named(container_parts(), &["sidecar-frontend", "logger", "metrics", "main"])));
    let extra = object(pod_parts().into_iter().chain([("mainContainer", main), ("containers", others)]).collect());
    let mount = object(vec![("mountPoint", one_of(&["/a", "/b"])), ("useAsCompilationCache", flag())]);
    let mount = (mount, one_of(&["a", "b", "c"])).prop_map(|(mount, name)| with(mount, "name", name));
    let sidecar = object(vec![
        ("image", one_of(&["r/fe:1"])),
        ("args", list(one_of(&["--a"]))),
        ("envFromSecret", one_of(&["", "s"])),
        ("envs", variables()),
    ]);
    object(vec![
        ("componentType", one_of(&["worker", "frontend"])),
        ("labels", map(one_of(NAMES))),
        ("resources", flat_resources()),
        ("envs", variables()),
        ("envFromSecret", one_of(&["", "s"])),
        ("volumeMounts", list(mount)),
        ("livenessProbe", probe()),
        ("readinessProbe", probe()),
        ("extraPodMetadata", object(vec![("labels", map(one_of(NAMES))), ("annotations", map(one_of(NAMES)))])),
        ("extraPodSpec", extra),
        ("frontendSidecar", sidecar),
    ])
}

fn component() -> BoxedStrategy<Value> {
    let containers = unique(list(named(container_parts(), &["main", "sidecar-frontend", "logger", "metrics"])));
    let metadata = object(vec![
        ("name", one_of(NAMES)),
        ("labels", map(one_of(NAMES))),
        ("annotations", map(one_of(NAMES))),
        ("finalizers", list(one_of(NAMES))),
    ]);
    let spec = object(pod_parts().into_iter().chain([("containers", containers)]).collect());
    object(vec![
        ("type", one_of(&["worker", "frontend"])),
        ("podTemplate", object(vec![("metadata", metadata), ("spec", spec)])),
        ("frontendSidecar", one_of(&["sidecar-frontend", "logger"])),
        ("compilationCache", Just(json!({"pvcName": "a", "mountPath": "/a"})).boxed()),
    ])
}

fn spoke_graph() -> BoxedStrategy<Value> {
    let services = prop::collection::btree_map(prop::sample::select(NAMES), service(), 0..3);
    let spec = services.prop_map(|services| json!({"services": services}));
    of_kind("DynamoGraphDeployment", "v1alpha1", spec.boxed(), Just(json!({})).boxed())
}

fn hub_graph() -> BoxedStrategy<Value> {
    let each = (prop::sample::select(NAMES), component()).prop_map(|(name, each)| with(each, "name", name.into()));
    let spec = unique(list(each)).prop_map(|components| json!({"components": components}));
    of_kind("DynamoGraphDeployment", "v1beta1", spec.boxed(), Just(json!({})).boxed())
}

fn standalone(version: &'static str) -> BoxedStrategy<Value> {
    let spec = if version == "v1alpha1" { service() } else { component() };
    of_kind("DynamoComponentDeployment", version, spec, Just(json!({})).boxed())
}

/// The object without empty objects and lists.
fn bare(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.into_iter().map(|(name, below)| (name, bare(below)));
            Value::Object(members.filter(|(_, below)| !says_nothing(below)).collect::<Map<_, _>>())
        }
        Value::Array(items) => items.into_iter().map(bare).collect(),
        other => other,
    }
}

fn says_nothing(value: &Value) -> bool {
    value.is_null() || value.as_array().is_some_and(Vec::is_empty) || value.as_object().is_some_and(Map::is_empty)
}

fn same<T: serde::Serialize + serde::de::DeserializeOwned>(left: &Value, right: &Value) -> bool {
    bare(as_read::<T>(left)) == bare(as_read::<T>(right))
}

fn comes_back<T: serde::Serialize + serde::de::DeserializeOwned>(
    object: &Value,
    there: &str,
    here: &str,
) -> Result<(), TestCaseError> {
    let between = convert(object, there).unwrap().0;
    let back = convert(&between, here).unwrap().0;
    prop_assert!(same::<T>(&back, object), "{object}\nby way of {between}\nis {back}");
    Ok(())
}

proptest! {
    #[test]
    fn graphs_of_v1alpha1(object in spoke_graph()) {
        comes_back::<v1alpha1::DynamoGraphDeployment>(&object, "v1beta1", "v1alpha1")?;
    }

    #[test]
    fn graphs_of_v1beta1(object in hub_graph()) {
        comes_back::<v1beta1::DynamoGraphDeployment>(&object, "v1alpha1", "v1beta1")?;
    }

    #[test]
    fn components_of_v1alpha1(object in standalone("v1alpha1")) {
        comes_back::<v1alpha1::DynamoComponentDeployment>(&object, "v1beta1", "v1alpha1")?;
    }

    #[test]
    fn components_of_v1beta1(object in standalone("v1beta1")) {
        comes_back::<v1beta1::DynamoComponentDeployment>(&object, "v1alpha1", "v1beta1")?;
    }

    /// A change of v1beta1 in between is what v1beta1 says afterwards.
    #[test]
    fn a_change_in_between_stays(before in spoke_graph(), after in hub_graph()) {
        let mut changed = convert(&before, "v1beta1").unwrap().0;
        changed["spec"] = after["spec"].clone();
        let between = convert(&changed, "v1alpha1").unwrap().0;
        let back = convert(&between, "v1beta1").unwrap().0;
        let same = same::<v1beta1::DynamoGraphDeployment>(&back, &changed);
        prop_assert!(same, "{changed}\nby way of {between}\nis {back}");
    }

    /// The same the other way round.
    #[test]
    fn a_change_of_v1alpha1_in_between_stays(before in hub_graph(), after in spoke_graph()) {
        let mut changed = convert(&before, "v1alpha1").unwrap().0;
        changed["spec"] = after["spec"].clone();
        let between = convert(&changed, "v1beta1").unwrap().0;
        let back = convert(&between, "v1alpha1").unwrap().0;
        let same = same::<v1alpha1::DynamoGraphDeployment>(&back, &changed);
        prop_assert!(same, "{changed}\nby way of {between}\nis {back}");
    }
}
