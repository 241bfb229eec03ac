//! Objects that are written in one version and read in the other.

use cluster_tests::objects::{
    adapter_v1alpha1, component, graph, graph_v1alpha1, object, request, request_v1alpha1, service,
};
use cluster_tests::{Sandbox, Test, tests, version_of};
use serde_json::{Value, json};

pub fn tests() -> Vec<Test> {
    tests![
        a_graph_is_read_in_the_other_version,
        a_component_is_read_in_the_other_version,
        a_request_is_read_in_the_other_version,
        an_adapter_is_read_in_the_other_version,
        what_one_version_can_not_say_survives_a_client_of_it,
        an_edit_in_the_other_version_reaches_the_first,
        a_list_and_a_table_hold_objects_of_both,
        kubectl_edits_the_older_version,
        labels_and_owners_are_left_alone,
    ]
}

async fn a_graph_is_read_in_the_other_version(sandbox: Sandbox) {
    let wanted = [
        ("/spec/components/0/name", json!("Frontend")),
        ("/spec/components/1/type", json!("worker")),
        ("/spec/components/1/podTemplate/spec/containers/0/name", json!("main")),
        ("/spec/components/1/replicas", json!(1)),
    ];
    sandbox.converts_to(&graph_v1alpha1("otter"), "v1beta1", &wanted).await;
    let wanted = [
        ("/spec/services/decode/componentType", json!("worker")),
        ("/spec/services/decode/subComponentType", json!("decode")),
        ("/spec/services/frontend/replicas", json!(1)),
    ];
    sandbox.converts_to(&graph("heron"), "v1alpha1", &wanted).await;
}

async fn a_component_is_read_in_the_other_version(sandbox: Sandbox) {
    let lynx = object("v1alpha1", "DynamoComponentDeployment", "lynx", &service("worker"));
    sandbox.converts_to(&lynx, "v1beta1", &[("/spec/name", json!("lynx"))]).await;
    let stork = object("v1beta1", "DynamoComponentDeployment", "stork", &component("stork", "prefill"));
    sandbox.converts_to(&stork, "v1alpha1", &[("/spec/subComponentType", json!("prefill"))]).await;
}

async fn a_request_is_read_in_the_other_version(sandbox: Sandbox) {
    let wanted = [
        ("/spec/image", json!("registry.example.org/dynamo/profiler:1.5.0")),
        ("/spec/sla/ttft", json!(200.5)),
        ("/spec/workload/isl", json!(3000)),
    ];
    sandbox.converts_to(&request_v1alpha1("marmot"), "v1beta1", &wanted).await;
    sandbox.converts_to(&request("stoat"), "v1alpha1", &[("/spec/autoApply", json!(true))]).await;
}

async fn an_adapter_is_read_in_the_other_version(sandbox: Sandbox) {
    let wanted = [("/spec/dgdRef/componentName", json!("Worker")), ("/spec/replicas", json!(0))];
    sandbox.converts_to(&adapter_v1alpha1("otter"), "v1beta1", &wanted).await;
}

/// A service with nearly everything that has no counterpart.
fn wealthy_service() -> Value {
    let mut service = service("worker");
    service["subComponentType"] = "special".into();
    service["serviceName"] = "another".into();
    service["annotations"] = json!({"a": "b"});
    service["labels"] = json!({"c": "d"});
    service["ingress"] = json!({"enabled": true, "host": "otter.example.org"});
    service["envFromSecret"] = "secret".into();
    service["envs"] = json!([{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]);
    service["extraPodSpec"]["mainContainer"]["env"] = json!([{"name": "B", "value": "3"}]);
    service["resources"] = json!({"limits": {"cpu": "0.5", "gpu": "1", "custom": {"example.org/nic": "1"}}});
    service["sharedMemory"] = json!({"size": "8Gi"});
    service["gpuMemoryService"] = json!({"enabled": false});
    service["scalingAdapter"] = json!({"enabled": false});
    service["extraPodMetadata"] = json!({"labels": {"e": "f"}});
    service["volumeMounts"] = json!([
        {"name": "cache", "mountPoint": "/cache", "useAsCompilationCache": true},
        {"name": "data", "mountPoint": "/data"},
    ]);
    service
}

async fn what_one_version_can_not_say_survives_a_client_of_it(sandbox: Sandbox) {
    let mut otter = graph_v1alpha1("otter");
    otter["spec"]["services"]["Worker"] = wealthy_service();
    otter["spec"]["pvcs"] = json!([{"name": "cache", "create": false}, {"name": "data", "create": false}]);
    sandbox.survives(&otter, "v1beta1").await;
    sandbox.survives(&object("v1alpha1", "DynamoComponentDeployment", "lynx", &wealthy_service()), "v1beta1").await;

    let mut heron = graph("heron");
    let pod = &mut heron["spec"]["components"][1]["podTemplate"];
    pod["metadata"] = json!({"annotations": {"a": "b"}, "name": "pod", "finalizers": ["example.org/f"]});
    pod["spec"]["containers"][0]["volumeMounts"] = json!([{"name": "v", "mountPath": "/v", "readOnly": true}]);
    let proxy = json!({"name": "proxy", "image": "i", "envFrom": [{"secretRef": {"name": "s"}}]});
    pod["spec"]["containers"].as_array_mut().unwrap().push(proxy);
    pod["spec"]["volumes"] = json!([{"name": "v", "emptyDir": {}}]);
    heron["spec"]["components"].as_array_mut().unwrap().reverse();
    sandbox.survives(&heron, "v1alpha1").await;

    let mut marmot = request_v1alpha1("marmot");
    marmot["spec"]["enableGpuDiscovery"] = false.into();
    marmot["spec"]["profilingConfig"]["configMapRef"] = json!({"name": "base", "key": "disagg.yaml"});
    marmot["spec"]["profilingConfig"]["tolerations"] = json!([{"key": "gpu", "operator": "Exists"}]);
    sandbox.survives(&marmot, "v1beta1").await;
    let mut stoat = request("stoat");
    stoat["spec"]["hardware"] = json!({"gpuSku": "h100_sxm", "numGpusPerNode": 8});
    stoat["spec"]["workload"] = json!({"concurrency": 5, "isl": 1, "osl": 2});
    // The older schema fills in `enableGpuDiscovery`, which the newer version has to carry as an annotation.
    stoat["metadata"]["annotations"] =
        json!({"nvidia.com/dgdr-spec": r#"{"version":1,"spec":{"enableGpuDiscovery":true}}"#});
    sandbox.survives(&stoat, "v1alpha1").await;
    sandbox.survives(&adapter_v1alpha1("adapter"), "v1beta1").await;
}

async fn an_edit_in_the_other_version_reaches_the_first(sandbox: Sandbox) {
    let mut otter = graph_v1alpha1("otter");
    otter["spec"]["services"]["Worker"] = wealthy_service();
    otter["spec"]["pvcs"] = json!([{"name": "cache", "create": false}, {"name": "data", "create": false}]);
    sandbox.accepts(&otter).await;
    let mut converted = sandbox.read(&otter, "v1beta1").await;
    converted["spec"]["components"][1]["replicas"] = 7.into();
    converted["spec"]["components"][1]["podTemplate"]["spec"]["containers"][0]["image"] = "r/i:1.5.1".into();
    sandbox.replace(&converted).await.granted().unwrap();
    let back = sandbox.read(&otter, "v1alpha1").await;
    let worker = &back["spec"]["services"]["Worker"];
    assert_eq!(worker["replicas"], 7);
    assert_eq!(worker["extraPodSpec"]["mainContainer"]["image"], "r/i:1.5.1");
    for kept in ["ingress", "serviceName", "labels", "envFromSecret", "envs", "resources", "gpuMemoryService"] {
        let written = &otter["spec"]["services"]["Worker"][kept];
        for (name, value) in written.as_object().into_iter().flatten() {
            assert_eq!(&worker[kept][name], value, "{kept}.{name}");
        }
        assert!(written.is_object() || &worker[kept] == written, "{kept}");
    }
}

async fn a_list_and_a_table_hold_objects_of_both(sandbox: Sandbox) {
    sandbox.accepts(&graph("heron")).await;
    sandbox.accepts(&graph_v1alpha1("otter")).await;
    for version in ["v1alpha1", "v1beta1"] {
        let collection = sandbox.collection(&graph(""), version);
        let list = sandbox.bed().client().get(&collection).await.unwrap().granted().unwrap();
        let items = list["items"].as_array().unwrap();
        assert!(items.iter().all(|item| version_of(item) == version), "{list}");
        assert_eq!(items.len(), 2);
        let kind = format!("dynamographdeployments.{version}.nvidia.com");
        let mut kubectl = sandbox.bed().kubectl();
        let table = kubectl.args(["get", "-n", sandbox.namespace(), &kind, "--no-headers"]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&table.stdout).lines().count(), 2, "{table:?}");
    }
}

async fn kubectl_edits_the_older_version(sandbox: Sandbox) {
    let file = sandbox.bed().folder().join("edited.json");
    let mut otter = graph_v1alpha1("otter");
    for replicas in [2, 3] {
        otter["spec"]["services"]["Worker"]["replicas"] = replicas.into();
        std::fs::write(&file, otter.to_string()).unwrap();
        let mut kubectl = sandbox.bed().kubectl();
        let output = kubectl.args(["apply", "-n", sandbox.namespace(), "-f"]).arg(&file).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        assert_eq!(sandbox.read(&otter, "v1beta1").await["spec"]["components"][1]["replicas"], replicas);
    }
    let patch = r#"[{"op": "replace", "path": "/spec/services/Worker/replicas", "value": 5}]"#;
    let mut kubectl = sandbox.bed().kubectl();
    kubectl.args(["patch", "-n", sandbox.namespace(), "dynamographdeployments.v1alpha1.nvidia.com", "otter"]);
    let output = kubectl.args(["--type=json", "-p", patch]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(sandbox.read(&otter, "v1beta1").await["spec"]["components"][1]["replicas"], 5);
}

async fn labels_and_owners_are_left_alone(sandbox: Sandbox) {
    let mut otter = graph_v1alpha1("otter");
    otter["metadata"]["labels"] = json!({"a": "b"});
    otter["metadata"]["annotations"] = json!({"example.org/c": "d"});
    otter["metadata"]["finalizers"] = json!(["example.org/e"]);
    // One that is not there would have the garbage collector delete the object at some moment.
    let config_maps = format!("/api/v1/namespaces/{}/configmaps", sandbox.namespace());
    let made = sandbox.bed().client().post(&config_maps, &json!({"metadata": {"name": "f"}})).await.unwrap();
    let uid = &made.granted().unwrap()["metadata"]["uid"];
    let owner = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "f", "uid": uid});
    otter["metadata"]["ownerReferences"] = json!([owner]);
    let alpha = sandbox.accepts(&otter).await;
    let beta = sandbox.read(&otter, "v1beta1").await;
    for kept in ["uid", "creationTimestamp", "labels", "finalizers", "ownerReferences", "generation"] {
        assert_eq!(alpha["metadata"][kept], beta["metadata"][kept], "{kept}");
    }
    assert_eq!(beta["metadata"]["annotations"]["example.org/c"], "d");
}
