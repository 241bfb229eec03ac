//! What the CRDs promise to users and demand from the API server.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use std::collections::BTreeMap;
use std::sync::LazyLock;

use dynamo_api::crds;
use dynamo_api::schema::manifest::Definition;
use dynamo_api::schema::{self, rules};
use dynamo_api::{v1alpha1, v1beta1};
use gateward::Resource;
use serde_json::{Value, json};

/// All CRDs, made once.
static DEFINITIONS: LazyLock<[Definition; 6]> = LazyLock::new(|| schema::definitions().unwrap());

/// The CRD of a kind, by its plural.
fn crd(plural: &str) -> &'static Value {
    &DEFINITIONS.iter().find(|found| found.plural == plural).unwrap().document
}

fn versions(crd: &Value) -> &Vec<Value> {
    crd["spec"]["versions"].as_array().unwrap()
}

/// The schema of one version of a kind.
fn version(plural: &str, name: &str) -> &'static Value {
    let version = versions(crd(plural)).iter().find(|version| version["name"] == name);
    &version.unwrap()["schema"]["openAPIV3Schema"]
}

/// The schema at a path such as `spec.components[].name`; `[]` are the items of a list, `{}` the values of a map.
fn at<'a>(schema: &'a Value, path: &str) -> &'a Value {
    let path = path.replace("[]", ".[]").replace("{}", ".{}");
    path.split('.').fold(schema, |schema, step| {
        let found = match step {
            "[]" => schema.get("items"),
            "{}" => schema.get("additionalProperties"),
            name => schema["properties"].get(name),
        };
        found.unwrap_or_else(|| panic!("{step} of {path} doesn't exist"))
    })
}

/// Calls `look` with every schema and its path.
fn walk(schema: &Value, path: &str, look: &mut impl FnMut(&str, &Value)) {
    look(path, schema);
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        let below = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        walk(member, &below, look);
    }
    for (keyword, mark) in [("items", "[]"), ("additionalProperties", "{}")] {
        if let Some(below) = schema.get(keyword) {
            walk(below, &format!("{path}{mark}"), look);
        }
    }
}

/// Calls `look` with every schema of every version of every kind.
fn walk_all(look: &mut impl FnMut(&str, &Value)) {
    for definition in DEFINITIONS.iter() {
        for version in versions(&definition.document) {
            walk(&version["schema"]["openAPIV3Schema"], "", look);
        }
    }
}

#[test]
fn the_files_hold_the_kinds_they_are_named_after() {
    for crd in crds::all() {
        let definition: Value = serde_json::from_str(crd.json).unwrap();
        assert_eq!(definition["metadata"]["name"], format!("{}.nvidia.com", crd.plural));
        assert_eq!(definition["spec"]["names"]["kind"], crd.kind);
    }
}

#[test]
fn every_kind_is_served_and_stored_in_the_versions_of_the_target() {
    let described: Vec<String> = DEFINITIONS
        .iter()
        .map(|definition| {
            let spec = &definition.document["spec"];
            let versions: Vec<String> = versions(&definition.document).iter().map(described_version).collect();
            format!("{} {} {}", spec["names"]["shortNames"][0], spec["names"]["kind"], versions.join(", "))
        })
        .collect();
    assert_eq!(
        described,
        [
            r#""dgd" "DynamoGraphDeployment" v1alpha1 served deprecated, v1beta1 served stored"#,
            r#""dcd" "DynamoComponentDeployment" v1alpha1 served deprecated, v1beta1 served stored"#,
            r#""dgdr" "DynamoGraphDeploymentRequest" v1alpha1 served deprecated, v1beta1 served stored"#,
            r#""dgdsa" "DynamoGraphDeploymentScalingAdapter" v1alpha1 served deprecated, v1beta1 served stored"#,
            r#""dm" "DynamoModel" v1alpha1 served stored"#,
            r#""dwm" "DynamoWorkerMetadata" v1alpha1 served stored"#,
        ]
    );
}

fn described_version(version: &Value) -> String {
    let marks = [("served", "served"), ("storage", "stored"), ("deprecated", "deprecated")];
    let marks = marks.iter().filter(|(member, _)| version[member] == true).map(|(_, mark)| *mark);
    [version["name"].as_str().unwrap()].into_iter().chain(marks).collect::<Vec<_>>().join(" ")
}

#[test]
fn users_of_v1alpha1_are_told_where_to_go() {
    let crd = crd("dynamographdeployments");
    assert_eq!(
        versions(crd)[0]["deprecationWarning"],
        "nvidia.com/v1alpha1 DynamoGraphDeployment is deprecated; use nvidia.com/v1beta1 DynamoGraphDeployment"
    );
}

#[test]
fn kubectl_prints_the_columns_of_each_version() {
    let mut printed = BTreeMap::new();
    for definition in DEFINITIONS.iter() {
        for version in versions(&definition.document) {
            let columns = version["additionalPrinterColumns"].as_array().unwrap();
            let names: Vec<&str> = columns.iter().map(|column| column["name"].as_str().unwrap()).collect();
            let short = &definition.document["spec"]["names"]["shortNames"][0];
            let name = format!("{} {}", short.as_str().unwrap(), version["name"].as_str().unwrap());
            printed.insert(name, names.join(" "));
        }
    }
    let expected = [
        ("dcd v1alpha1", "DynamoComponent Available Backend Age"),
        ("dcd v1beta1", "Available Backend Age"),
        ("dgd v1alpha1", "Ready Backend Age"),
        ("dgd v1beta1", "Ready Backend Age"),
        ("dgdr v1alpha1", "Model Backend State DGD-State Age"),
        ("dgdr v1beta1", "Model Backend Phase Profiling Reason Message DGD Age"),
        ("dgdsa v1alpha1", "DGD SERVICE REPLICAS AGE"),
        ("dgdsa v1beta1", "DGD COMPONENT REPLICAS AGE"),
        ("dm v1alpha1", "BaseModel Type Ready Total Age"),
        ("dwm v1alpha1", "Age"),
    ];
    assert_eq!(printed, expected.map(|(version, names)| (version.to_owned(), names.to_owned())).into());
}

#[test]
fn only_the_scaling_adapter_scales_and_only_worker_metadata_has_no_status() {
    for definition in DEFINITIONS.iter() {
        for version in versions(&definition.document) {
            let subresources = &version["subresources"];
            assert_eq!(subresources.get("scale").is_some(), definition.plural.ends_with("scalingadapters"));
            assert_eq!(subresources.get("status").is_some(), definition.plural != "dynamoworkermetadatas");
        }
    }
}

#[test]
fn kinds_of_two_versions_are_converted_by_webhook() {
    for definition in DEFINITIONS.iter() {
        let conversion = &definition.document["spec"]["conversion"];
        if versions(&definition.document).len() == 1 {
            assert!(conversion.is_null(), "{}", definition.plural);
            continue;
        }
        assert_eq!(conversion["strategy"], "Webhook");
        let service = &conversion["webhook"]["clientConfig"]["service"];
        let expected =
            json!({"name": "dynamo-operator-webhook-service", "namespace": "dynamo-system", "path": "/convert"});
        assert_eq!(*service, expected);
        assert_eq!(conversion["webhook"]["conversionReviewVersions"], json!(["v1"]));
    }
}

#[test]
fn helm_keeps_every_crd() {
    for definition in DEFINITIONS.iter() {
        let annotations = &definition.document["metadata"]["annotations"];
        assert_eq!(annotations["helm.sh/resource-policy"], "keep", "{}", definition.plural);
    }
}

/// The ids of the CEL rules of one version, by path.
fn judged_by(plural: &str, name: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    walk(version(plural, name), "", &mut |path, schema| {
        let rules = schema["x-kubernetes-validations"].as_array();
        let ids: Vec<&str> = rules.into_iter().flatten().map(id).collect();
        if !ids.is_empty() {
            found.insert(path.to_owned(), ids.join(" "));
        }
    });
    found
}

fn id(rule: &Value) -> &'static str {
    rules::ALL.iter().find(|known| known.to_value() == *rule).unwrap().id
}

fn table<const N: usize>(rows: [(&str, &str); N]) -> BTreeMap<String, String> {
    rows.map(|(path, ids)| (path.to_owned(), ids.to_owned())).into()
}

#[test]
fn a_v1beta1_graph_is_judged_by_these_cel_rules() {
    let expected = table([
        ("spec", "CEL-10"),
        ("spec.components", "CEL-11 CEL-11a CEL-12 CEL-12a"),
        ("spec.components[]", "CEL-02 CEL-03 CEL-01 CEL-04"),
        ("spec.components[].eppConfig", "CEL-05"),
        ("spec.components[].experimental.checkpoint", "CEL-09"),
        ("spec.components[].experimental.gpuMemoryService", "CEL-06 CEL-07 CEL-08"),
        ("spec.components[].podTemplate.metadata.annotations", "CEL-42"),
        ("spec.components[].podTemplate.spec.containers[]", "CEL-40"),
        ("spec.components[].podTemplate.spec.initContainers[]", "CEL-41"),
        ("spec.experimental.kvTransferPolicy", "CEL-13 CEL-14 CEL-15"),
        ("spec.experimental.kvTransferPolicy.labelKey", "CEL-16"),
    ]);
    assert_eq!(judged_by("dynamographdeployments", "v1beta1"), expected);
}

#[test]
fn a_v1alpha1_graph_is_judged_by_these_cel_rules() {
    let expected = table([
        ("spec", "CEL-10"),
        ("spec.experimental.kvTransferPolicy", "CEL-13 CEL-14 CEL-15"),
        ("spec.experimental.kvTransferPolicy.labelKey", "CEL-16"),
        ("spec.pvcs[]", "CEL-26"),
        ("spec.services{}", "CEL-02 CEL-03 CEL-04a"),
        ("spec.services{}.checkpoint", "CEL-09"),
        ("spec.services{}.gpuMemoryService", "CEL-23 CEL-24 CEL-08"),
        ("spec.services{}.sharedMemory", "CEL-20"),
    ]);
    assert_eq!(judged_by("dynamographdeployments", "v1alpha1"), expected);
}

#[test]
fn a_v1beta1_component_is_judged_by_these_cel_rules() {
    let expected = table([
        ("spec", "CEL-02 CEL-03 CEL-01 CEL-04"),
        ("spec.eppConfig", "CEL-05"),
        ("spec.experimental.checkpoint", "CEL-09"),
        ("spec.experimental.gpuMemoryService", "CEL-06 CEL-07 CEL-08"),
        ("spec.podTemplate.metadata.annotations", "CEL-42"),
        ("spec.podTemplate.spec.containers[]", "CEL-40"),
        ("spec.podTemplate.spec.initContainers[]", "CEL-41"),
    ]);
    assert_eq!(judged_by("dynamocomponentdeployments", "v1beta1"), expected);
}

#[test]
fn a_v1alpha1_component_is_judged_by_these_cel_rules() {
    let expected = table([
        ("spec", "CEL-02 CEL-03 CEL-04a"),
        ("spec.checkpoint", "CEL-09"),
        ("spec.gpuMemoryService", "CEL-23 CEL-24 CEL-08"),
        ("spec.sharedMemory", "CEL-20"),
    ]);
    assert_eq!(judged_by("dynamocomponentdeployments", "v1alpha1"), expected);
}

#[test]
fn other_kinds_have_no_cel_rules() {
    for (plural, name) in [
        ("dynamographdeploymentrequests", "v1alpha1"),
        ("dynamographdeploymentrequests", "v1beta1"),
        ("dynamographdeploymentscalingadapters", "v1beta1"),
        ("dynamomodels", "v1alpha1"),
    ] {
        assert_eq!(judged_by(plural, name), BTreeMap::new(), "{plural}");
    }
}

#[test]
fn the_api_server_fills_in_these_defaults() {
    let rows = [
        ("dynamographdeployments", "v1beta1", "spec.components[].multinode.nodeCount", json!(2)),
        ("dynamographdeployments", "v1beta1", "spec.restart.strategy.type", json!("Sequential")),
        ("dynamographdeployments", "v1beta1", "spec.experimental.kvTransferPolicy.enforcement", json!("required")),
        ("dynamographdeployments", "v1beta1", "spec.components[].experimental.failover.mode", json!("IntraPod")),
        ("dynamographdeployments", "v1alpha1", "spec.services{}.failover.mode", json!("intraPod")),
        ("dynamographdeployments", "v1alpha1", "spec.services{}.failover.numShadows", json!(1)),
        ("dynamographdeployments", "v1alpha1", "spec.services{}.checkpoint.enabled", json!(false)),
        ("dynamographdeployments", "v1alpha1", "spec.services{}.checkpoint.targetContainerName", json!("main")),
        ("dynamographdeployments", "v1alpha1", "status.state", json!("initializing")),
        ("dynamographdeploymentrequests", "v1beta1", "spec.backend", json!("auto")),
        ("dynamographdeploymentrequests", "v1beta1", "spec.searchStrategy", json!("rapid")),
        ("dynamographdeploymentrequests", "v1beta1", "spec.autoApply", json!(true)),
        ("dynamographdeploymentrequests", "v1beta1", "spec.workload.isl", json!(4000)),
        ("dynamographdeploymentrequests", "v1beta1", "spec.workload.osl", json!(1000)),
        ("dynamographdeploymentrequests", "v1beta1", "spec.modelCache.pvcMountPath", json!("/opt/model-cache")),
        ("dynamographdeploymentrequests", "v1alpha1", "spec.profilingConfig.configMapRef.key", json!("disagg.yaml")),
        ("dynamomodels", "v1alpha1", "spec.modelType", json!("base")),
    ];
    for (plural, name, path, default) in rows {
        assert_eq!(at(version(plural, name), path)["default"], default, "{plural} {name} {path}");
    }
}

#[test]
fn users_must_write_these_members() {
    let rows = [
        ("dynamographdeployments", "v1beta1", "spec.components[]", json!(["name"])),
        ("dynamocomponentdeployments", "v1beta1", "spec", json!(null)),
        ("dynamographdeployments", "v1beta1", "spec.components[].podTemplate.spec", json!(["containers"])),
        ("dynamographdeployments", "v1beta1", "spec.components[].experimental.checkpoint", json!(["enabled"])),
        ("dynamographdeployments", "v1alpha1", "spec.services{}", json!(null)),
        ("dynamographdeployments", "v1alpha1", "spec.services{}.extraPodSpec", json!(null)),
        ("dynamographdeployments", "v1alpha1", "spec.services{}.extraPodSpec.mainContainer", json!(null)),
        ("dynamographdeployments", "v1alpha1", "spec.services{}.extraPodSpec.containers[]", json!(["name"])),
        ("dynamographdeployments", "v1alpha1", "spec.pvcs[]", json!(["name"])),
        ("dynamographdeploymentrequests", "v1beta1", "spec", json!(["model"])),
        ("dynamographdeploymentrequests", "v1alpha1", "spec", json!(["model", "backend", "profilingConfig"])),
        ("dynamomodels", "v1alpha1", "spec", json!(["modelName", "baseModelName"])),
    ];
    for (plural, name, path, required) in rows {
        assert_eq!(at(version(plural, name), path)["required"], required, "{plural} {name} {path}");
    }
}

#[test]
fn sizes_are_limited_where_the_api_says_so() {
    let v1beta1 = version("dynamographdeployments", "v1beta1");
    assert_eq!(at(v1beta1, "spec.components")["maxItems"], 25);
    assert_eq!(at(v1beta1, "spec.components[].name")["maxLength"], 63);
    assert_eq!(at(v1beta1, "spec.components[].experimental.failover.numShadows")["maximum"], 1);
    let v1alpha1 = version("dynamographdeployments", "v1alpha1");
    assert_eq!(at(v1alpha1, "spec.services")["maxProperties"], 25);
    assert_eq!(at(v1alpha1, "spec.pvcs")["maxItems"], 100);
    assert!(at(v1alpha1, "spec.services{}.failover.numShadows").get("maximum").is_none());
}

/// The bounds that a schema sets, by path. Those inside of Kubernetes' own types are nobody's: no pod has one.
fn bounds_of<K: Resource>() -> BTreeMap<String, u64> {
    let mut bounds = BTreeMap::new();
    walk(version(&K::plural(), &K::version()), "", &mut |path, schema| {
        let most = schema["maxItems"].as_u64().or_else(|| schema["maxProperties"].as_u64());
        bounds.extend(most.map(|most| (path.to_owned(), most)));
    });
    bounds
}

#[test]
fn types_declare_the_bounds_of_their_schemas() {
    fn agree<K: Resource>() {
        let declared = K::bounds().iter().map(|bound| (bound.path.join("."), bound.most as u64)).collect();
        assert_eq!(bounds_of::<K>(), declared, "{}", K::gvk());
    }
    agree::<v1beta1::DynamoGraphDeployment>();
    agree::<v1alpha1::DynamoGraphDeployment>();
    agree::<v1beta1::DynamoComponentDeployment>();
    agree::<v1alpha1::DynamoComponentDeployment>();
    agree::<v1beta1::DynamoGraphDeploymentRequest>();
    agree::<v1alpha1::DynamoGraphDeploymentRequest>();
    agree::<v1beta1::DynamoGraphDeploymentScalingAdapter>();
    agree::<v1alpha1::DynamoGraphDeploymentScalingAdapter>();
    agree::<v1alpha1::DynamoModel>();
}

#[test]
fn a_standalone_component_has_no_provider_override() {
    for name in ["v1alpha1", "v1beta1"] {
        let schema = version("dynamocomponentdeployments", name);
        assert!(at(schema, "spec")["properties"].get("providerOverride").is_none());
        assert!(at(schema, "spec.roles[]")["properties"].get("providerOverride").is_none());
        assert!(at(schema, "spec.roles[]")["properties"].get("podTemplate").is_some());
    }
}

#[test]
fn proposals_are_unknown_members() {
    let component = version("dynamographdeployments", "v1beta1");
    for absent in ["dynamoSidecar", "lpx"] {
        assert!(at(component, "spec.components[]")["properties"].get(absent).is_none(), "{absent}");
    }
    assert!(at(component, "spec.experimental")["properties"].get("componentGroups").is_none());
    let request = version("dynamographdeploymentrequests", "v1beta1");
    assert!(at(request, "spec")["properties"].get("v1beta2").is_none());
}

#[test]
fn lists_of_pods_are_merged_as_kubernetes_merges_them() {
    let schema = version("dynamographdeployments", "v1beta1");
    let pod = at(schema, "spec.components[].podTemplate.spec");
    let rows = [
        ("containers", "map", json!(["name"])),
        ("containers[].ports", "map", json!(["containerPort", "protocol"])),
        ("containers[].env", "map", json!(["name"])),
        ("containers[].volumeMounts", "map", json!(["mountPath"])),
        ("containers[].args", "atomic", json!(null)),
        ("volumes", "map", json!(["name"])),
        ("tolerations", "atomic", json!(null)),
        ("imagePullSecrets", "map", json!(["name"])),
        ("topologySpreadConstraints", "map", json!(["topologyKey", "whenUnsatisfiable"])),
    ];
    for (path, kind, keys) in rows {
        assert_eq!(at(pod, path)["x-kubernetes-list-type"], kind, "{path}");
        assert_eq!(at(pod, path)["x-kubernetes-list-map-keys"], keys, "{path}");
    }
}

#[test]
fn every_schema_is_structural() {
    walk_all(&mut |path, schema| {
        for forbidden in ["$ref", "oneOf", "allOf", "not", "nullable", "title", "$defs"] {
            assert!(schema.get(forbidden).is_none(), "{path} has {forbidden}");
        }
        let scalar = schema.get("x-kubernetes-int-or-string").is_some();
        assert_eq!(schema.get("anyOf").is_some(), scalar, "{path}");
        assert_eq!(schema["type"].is_string(), !scalar, "{path}");
    });
}

#[test]
fn keys_of_list_items_are_required_or_have_a_default() {
    walk_all(&mut |path, schema| {
        for key in schema["x-kubernetes-list-map-keys"].as_array().into_iter().flatten() {
            let items = &schema["items"];
            let required = items["required"].as_array().is_some_and(|names| names.contains(key));
            let defaulted = items["properties"][key.as_str().unwrap()].get("default").is_some();
            assert!(required || defaulted, "{path} {key}");
        }
    });
}

#[test]
fn members_of_our_own_are_described_and_kubernetes_ones_are_not() {
    let schema = version("dynamographdeployments", "v1beta1");
    assert_eq!(at(schema, "spec.components[].multinode")["description"], "Spreads each instance over several nodes.");
    assert_eq!(at(schema, "spec.components[].sharedMemorySize")["description"], "Size of /dev/shm; zero turns it off.");
    walk(at(schema, "spec.components[].podTemplate.spec"), "spec", &mut |path, schema| {
        assert!(schema.get("description").is_none(), "{path}");
    });
}

#[test]
fn metadata_of_pods_is_pruned_to_what_users_may_say() {
    let schema = version("dynamographdeployments", "v1beta1");
    let metadata = at(schema, "spec.components[].podTemplate.metadata");
    let names: Vec<&String> = metadata["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["annotations", "finalizers", "labels", "name", "namespace"]);
}

#[test]
fn free_form_members_keep_what_they_hold() {
    let rows = [
        ("dynamographdeployments", "v1beta1", "spec.components[].eppConfig.config"),
        ("dynamographdeployments", "v1beta1", "spec.providerOverride.value"),
        ("dynamographdeployments", "v1alpha1", "spec.services{}.checkpoint.job.podTemplate"),
        ("dynamographdeploymentrequests", "v1beta1", "spec.features.planner"),
        ("dynamographdeploymentrequests", "v1beta1", "spec.overrides.dgd"),
        ("dynamographdeploymentrequests", "v1alpha1", "spec.profilingConfig.config"),
        ("dynamoworkermetadatas", "v1alpha1", "spec.data"),
    ];
    for (plural, name, path) in rows {
        let schema = version(plural, name);
        let member = at(schema, path);
        assert_eq!(member["x-kubernetes-preserve-unknown-fields"], true, "{path}");
        assert_eq!(member["type"], "object", "{path}");
    }
    let request = version("dynamographdeploymentrequests", "v1beta1");
    assert_eq!(at(request, "spec.overrides.dgd")["x-kubernetes-embedded-resource"], true);
}
