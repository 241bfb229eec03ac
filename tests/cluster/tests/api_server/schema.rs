//! Defaults, limits and CEL rules of the schemas.

use cluster_tests::objects::{component, object, request};
use cluster_tests::{Sandbox, Test, refused, tests};
use serde_json::{Value, json};

pub fn tests() -> Vec<Test> {
    tests![
        a_component_has_a_name_a_known_type_and_an_image,
        names_of_components_differ_in_more_than_case,
        a_restart_comes_after_the_creation,
        what_is_immutable_stays_and_what_was_absent_may_be_set_once,
        at_least_so_many_replicas_is_no_more_than_there_are,
        whole_pods_are_known_to_the_last_field,
        a_misspelt_field_is_told_or_refused_or_dropped,
        quantities_may_be_numbers,
        schemas_fill_in_what_the_field_tables_say,
        an_adapter_is_scaled_in_both_versions,
        a_status_is_written_by_itself,
    ]
}

fn pod(container: &Value) -> Value {
    json!({"spec": {"containers": [container]}})
}

fn graph(name: &str, components: &[Value]) -> Value {
    object("v1beta1", "DynamoGraphDeployment", name, &json!({"components": components}))
}

fn graph_v1alpha1(name: &str, service: &Value) -> Value {
    object("v1alpha1", "DynamoGraphDeployment", name, &json!({"services": {"Worker": service}}))
}

async fn a_component_has_a_name_a_known_type_and_an_image(sandbox: Sandbox) {
    let mut worker = component("a-", "worker");
    sandbox.rejects(&graph("otter", &[worker.clone()]), &["spec.components[0].name"]).await;
    worker["name"] = "a".repeat(64).into();
    sandbox.rejects(&graph("otter", &[worker.clone()]), &["spec.components[0].name"]).await;
    worker.as_object_mut().unwrap().remove("name");
    sandbox.rejects(&graph("otter", &[worker]), &["spec.components[0].name"]).await;

    sandbox.rejects(&graph("otter", &[component("a", "router")]), &["spec.components[0].type"]).await;

    let mut sidecar = component("a", "worker");
    sidecar["podTemplate"]["spec"]["containers"].as_array_mut().unwrap().push(json!({"name": "proxy"}));
    sandbox.rejects(&graph("otter", &[sidecar]), &["spec.components[0].podTemplate.spec.containers[1]"]).await;
    let mut without = component("a", "worker");
    without["podTemplate"] = pod(&json!({"name": "main"}));
    sandbox.accepts(&graph("otter", &[without])).await;
}

async fn names_of_components_differ_in_more_than_case(sandbox: Sandbox) {
    let twins = [component("heron", "worker"), component("Heron", "frontend")];
    sandbox.rejects(&graph("otter", &twins), &["spec.components"]).await;
    let same = [component("heron", "worker"), component("heron", "frontend")];
    // One finding of the list's type, one of CEL.
    let refusal = refused(sandbox.create(&graph("otter", &same)).await);
    assert!(refusal.fields().contains(&"spec.components[1]"), "{}", refusal.message);
    sandbox.rejects(&graph("otter", &[component("a", "epp"), component("b", "epp")]), &["spec.components"]).await;
}

async fn a_restart_comes_after_the_creation(sandbox: Sandbox) {
    let mut otter = graph("otter", &[component("a", "worker")]);
    otter["spec"]["restart"] = json!({"id": "one"});
    sandbox.rejects(&otter, &["spec"]).await;
    let mut heron = graph("heron", &[component("a", "worker")]);
    sandbox.accepts(&heron).await;
    heron["spec"]["restart"] = json!({"id": "one", "strategy": {}});
    let stored = sandbox.replace(&heron).await.granted().unwrap();
    assert_eq!(stored["spec"]["restart"]["strategy"]["type"], "Sequential");
}

async fn what_is_immutable_stays_and_what_was_absent_may_be_set_once(sandbox: Sandbox) {
    let mut untyped = component("a", "worker");
    untyped.as_object_mut().unwrap().remove("type");
    sandbox.accepts(&graph("otter", &[untyped])).await;
    let mut worker = component("a", "worker");
    worker["replicas"] = 3.into();
    worker["minAvailable"] = 2.into();
    sandbox.replace(&graph("otter", &[worker.clone()])).await.granted().unwrap();
    worker["minAvailable"] = 1.into();
    worker["type"] = "decode".into();
    let refusal = refused(sandbox.replace(&graph("otter", &[worker])).await);
    assert_eq!(refusal.fields(), ["spec.components[0]", "spec.components[0]"], "{}", refusal.message);
}

async fn at_least_so_many_replicas_is_no_more_than_there_are(sandbox: Sandbox) {
    let numbered = |replicas: Value| {
        let mut worker = component("a", "worker");
        worker["minAvailable"] = 2.into();
        worker["replicas"] = replicas;
        graph("otter", &[worker])
    };
    sandbox.rejects(&numbered(1.into()), &["spec.components[0]"]).await;
    // Absent means one.
    sandbox.rejects(&numbered(Value::Null), &["spec.components[0]"]).await;
    sandbox.accepts(&numbered(0.into())).await;
}

async fn whole_pods_are_known_to_the_last_field(sandbox: Sandbox) {
    let mut worker = component("a", "worker");
    worker["podTemplate"] = json!({
        "metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}},
        "spec": {
            "containers": [{
                "name": "main",
                "image": "i",
                "ports": [{"containerPort": 8000}],
                "env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
                "resources": {"limits": {"nvidia.com/gpu": "8", "cpu": 2}, "claims": [{"name": "gpus"}]},
                "startupProbe": {"httpGet": {"path": "/live", "port": "http"}, "failureThreshold": 60},
                "lifecycle": {"preStop": {"sleep": {"seconds": 5}}},
                "securityContext": {"capabilities": {"drop": ["ALL"]}, "seccompProfile": {"type": "RuntimeDefault"}},
                "resizePolicy": [{"resourceName": "cpu", "restartPolicy": "NotRequired"}],
            }],
            "initContainers": [{"name": "first", "image": "i", "restartPolicy": "Always"}],
            "volumes": [{"name": "v", "ephemeral": {"volumeClaimTemplate": {
                "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
            }}}],
            "topologySpreadConstraints": [
                {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "matchLabelKeys": ["x"]},
            ],
            "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}],
            }}},
            "tolerations": [{"key": "gpu", "operator": "Exists", "tolerationSeconds": 5}],
            "resourceClaims": [{"name": "gpus", "resourceClaimTemplateName": "gpus"}],
        },
    });
    let stored = sandbox.strict().accepts(&graph("otter", &[worker.clone()])).await;
    let spec = &stored["spec"]["components"][0]["podTemplate"]["spec"];
    // The only default: a port's protocol is part of its key.
    worker["podTemplate"]["spec"]["containers"][0]["ports"][0]["protocol"] = "TCP".into();
    assert_eq!(spec, &worker["podTemplate"]["spec"]);
}

async fn a_misspelt_field_is_told_or_refused_or_dropped(sandbox: Sandbox) {
    let mut worker = component("a", "worker");
    worker["podTemplate"]["spec"]["containers"][0]["comand"] = json!(["x"]);
    let otter = graph("otter", &[worker]);
    let answer = sandbox.create(&otter).await;
    let path = "spec.components[0].podTemplate.spec.containers[0].comand";
    assert!(answer.warnings.iter().any(|warning| warning.contains(path)), "{:?}", answer.warnings);
    assert_eq!(answer.granted().unwrap().pointer("/spec/components/0/podTemplate/spec/containers/0/comand"), None);
    let mut heron = otter.clone();
    heron["metadata"]["name"] = "heron".into();
    let answer = sandbox.strict().create(&heron).await;
    assert_eq!(answer.status.as_u16(), 400);
    assert!(answer.body["message"].as_str().unwrap().contains(path), "{}", answer.body);
}

async fn quantities_may_be_numbers(sandbox: Sandbox) {
    for (index, size) in [json!(0), json!("0"), json!("8Gi"), json!("1.5e9"), json!(1024)].into_iter().enumerate() {
        let mut worker = component("a", "worker");
        worker["sharedMemorySize"] = size.clone();
        let stored = sandbox.accepts(&graph(&format!("otter-{index}"), &[worker])).await;
        assert_eq!(stored["spec"]["components"][0]["sharedMemorySize"], size);
    }
    for size in [json!("8 Gi"), json!(""), json!("Gi")] {
        let mut worker = component("a", "worker");
        worker["sharedMemorySize"] = size;
        sandbox.rejects(&graph("heron", &[worker]), &["spec.components[0].sharedMemorySize"]).await;
    }
    let alpha = |memory: Value| graph_v1alpha1("lynx", &json!({"componentType": "worker", "sharedMemory": memory}));
    sandbox.rejects(&alpha(json!({"size": "0"})), &["spec.services[Worker].sharedMemory"]).await;
    sandbox.rejects(&alpha(json!({"disabled": false})), &["spec.services[Worker].sharedMemory"]).await;
    sandbox.dry().accepts(&alpha(json!({"disabled": true}))).await;
    sandbox.dry().accepts(&alpha(json!({"size": "0.5Gi"}))).await;
    sandbox.dry().accepts(&alpha(json!({"size": 1024}))).await;
}

async fn schemas_fill_in_what_the_field_tables_say(sandbox: Sandbox) {
    let mut worker = component("a", "worker");
    worker["multinode"] = json!({});
    sandbox.defaults_to(&graph("otter", &[worker]), &[("/spec/components/0/multinode/nodeCount", 2.into())]).await;
    let wanted =
        [("/spec/backend", json!("auto")), ("/spec/searchStrategy", json!("rapid")), ("/spec/autoApply", json!(true))];
    sandbox.defaults_to(&request("marmot"), &wanted).await;
}

async fn an_adapter_is_scaled_in_both_versions(sandbox: Sandbox) {
    let spec = json!({"replicas": 2, "dgdRef": {"name": "graph", "componentName": "worker"}});
    let adapter = object("v1beta1", "DynamoGraphDeploymentScalingAdapter", "otter", &spec);
    sandbox.accepts(&adapter).await;
    for (version, replicas) in [("v1alpha1", 5), ("v1beta1", 7)] {
        let place = format!("{}/scale", sandbox.place(&adapter, version));
        let client = sandbox.bed().client();
        let scale = client.merge(&place, &json!({"spec": {"replicas": replicas}})).await.unwrap().granted().unwrap();
        assert_eq!(scale["spec"]["replicas"], replicas);
        assert_eq!(sandbox.read(&adapter, "v1beta1").await["spec"]["replicas"], replicas);
    }
}

async fn a_status_is_written_by_itself(sandbox: Sandbox) {
    let mut otter = graph("otter", &[component("a", "worker")]);
    otter["status"] = json!({"state": "successful"});
    assert_eq!(sandbox.accepts(&otter).await.get("status"), None);
    let place = format!("{}/status", sandbox.place(&otter, "v1beta1"));
    let condition = json!({
        "type": "Ready", "status": "True", "reason": "All", "message": "",
        "lastTransitionTime": "2026-11-21T00:00:00Z",
    });
    let change = json!({"spec": {"components": []}, "status": {"state": "successful", "conditions": [condition]}});
    let stored = sandbox.bed().client().merge(&place, &change).await.unwrap().granted().unwrap();
    assert_eq!(stored["status"], change["status"]);
    assert_eq!(stored["spec"]["components"].as_array().unwrap().len(), 1);
}
