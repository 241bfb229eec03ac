//! Deployments, how they change, and who reaches their Pods.

use cluster_tests::{Sandbox, Test, tests};
use serde_json::{Value, json};

use crate::workloads::{deployment, gateward, pod, pods, ready, ready_pods, runs, tell, until, wrote};

pub fn tests() -> Vec<Test> {
    tests![
        a_deployment_of_the_webhooks_becomes_available,
        a_restart_keeps_as_many_pods_ready_as_before,
        pods_reach_each_other,
        the_api_server_reaches_pods_alone_and_behind_a_service,
        kubectl_shows_pods_as_they_are,
        kubectl_reads_logs_and_follows_them,
    ]
}

async fn a_deployment_of_the_webhooks_becomes_available(sandbox: Sandbox) {
    let otter = sandbox.accepts(&deployment("otter", 2, &gateward())).await;
    ready_pods(&sandbox, "otter", 2).await;
    until("available", async || sandbox.read(&otter, "v1").await["status"]["availableReplicas"] == 2).await;
}

async fn a_restart_keeps_as_many_pods_ready_as_before(sandbox: Sandbox) {
    let mut otter = deployment("otter", 2, &gateward());
    otter["spec"]["strategy"] = json!({"rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}});
    sandbox.accepts(&otter).await;
    let before: Vec<_> = ready_pods(&sandbox, "otter", 2).await.iter().map(|pod| pod.name().to_owned()).collect();
    kubectl(&sandbox, &["rollout", "restart", "deployment/otter"]);
    let counting = async {
        let mut fewest = usize::MAX;
        loop {
            let pods = pods(&sandbox, "otter");
            fewest = fewest.min(pods.iter().filter(|pod| pod.is_ready() && !pod.is_ending()).count());
            if pods.len() == 2 && pods.iter().all(|pod| !before.contains(&pod.name().to_owned())) {
                return fewest;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    assert_eq!(counting.await, 2);
    kubectl(&sandbox, &["rollout", "status", "deployment/otter", "--timeout=20s"]);
}

async fn pods_reach_each_other(sandbox: Sandbox) {
    sandbox.accepts(&deployment("otter", 2, &gateward())).await;
    let pods = ready_pods(&sandbox, "otter", 2).await;
    let ip = pods[1].ip().unwrap();
    assert_ne!(pods[0].ip(), Some(ip));
    let get = format!("exec 3<>/dev/tcp/{ip}/8081; printf 'GET /healthz HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3");
    let answer = tell(&pods[0], &["bash", "-c", &get]).await;
    assert!(answer.starts_with("HTTP/1.0 200"), "{answer}");
}

async fn the_api_server_reaches_pods_alone_and_behind_a_service(sandbox: Sandbox) {
    let mut spec = gateward();
    let args = spec["containers"][0]["args"].as_array_mut().unwrap();
    args.extend([json!("--ca-out"), json!("/tmp/ca.crt")]);
    sandbox.accepts(&deployment("otter", 1, &spec)).await;
    let pod = ready_pods(&sandbox, "otter", 1).await.remove(0);
    let path = format!("/api/v1/namespaces/{}/pods/{}:8081/proxy/healthz", sandbox.namespace(), pod.name());
    assert_eq!(sandbox.bed().client().get(&path).await.unwrap().status, 200);

    let service = json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "otters"},
        "spec": {"selector": {"app": "otter"}, "ports": [{"port": 443, "targetPort": "webhook-server"}]},
    });
    sandbox.accepts(&service).await;
    let ca = tell(&pod, &["base64", "-w0", "/tmp/ca.crt"]).await;
    ask_about_config_maps(&sandbox, &ca).await;
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}});
    // The certificate is for this machine. Only who holds it can have shown it.
    let name = format!("certificate is valid for localhost, not otters.{}.svc", sandbox.namespace());
    until("an answer of the Pod", async || {
        sandbox.create(&map).await.body["message"].as_str().unwrap_or_default().contains(&name)
    })
    .await;
}

/// Has the API server ask the Service about each `ConfigMap` of the sandbox.
async fn ask_about_config_maps(sandbox: &Sandbox, ca: &str) {
    let name = sandbox.namespace();
    let service = json!({"name": "otters", "namespace": name, "path": "/x"});
    let webhook = json!({
        "name": "otters.example.com",
        "clientConfig": {"service": service, "caBundle": ca},
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE"]}],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    });
    let configuration = json!({"metadata": {"name": name}, "webhooks": [webhook]});
    let path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    sandbox.bed().client().post(path, &configuration).await.unwrap().granted().unwrap();
}

async fn kubectl_shows_pods_as_they_are(sandbox: Sandbox) {
    let mut spec = runs("sleep infinity");
    spec["containers"][0]["command"] = json!(["sh", "-c", "exit 3"]);
    sandbox.accepts(&deployment("broken", 1, &spec)).await;
    sandbox.accepts(&deployment("otter", 1, &runs("exec sleep infinity"))).await;
    ready_pods(&sandbox, "otter", 1).await;
    let shown = async |wanted: &[&str]| {
        let table = kubectl(&sandbox, &["get", "pods", "--no-headers"]);
        wanted.iter().all(|wanted| table.contains(wanted))
    };
    until("Running", async || shown(&["1/1   Running"]).await).await;
    until("CrashLoopBackOff", async || shown(&["0/1   CrashLoopBackOff"]).await).await;
    let nodes: Value = serde_json::from_str(&kubectl(&sandbox, &["get", "nodes", "-o", "json"])).unwrap();
    assert_eq!(nodes["items"][0]["spec"].get("taints"), None);
}

async fn kubectl_reads_logs_and_follows_them(sandbox: Sandbox) {
    let mut otter = pod("otter", &runs("echo a; echo b; echo c; sleep 6; echo d"));
    otter["spec"]["restartPolicy"] = "Never".into();
    let pod = ready(&sandbox, &otter).await;
    wrote(&pod, "c\n").await;
    assert_eq!(kubectl(&sandbox, &["logs", "otter", "--tail=2"]), "b\nc\n");
    assert_eq!(kubectl(&sandbox, &["logs", "otter", "--follow"]), "a\nb\nc\nd\n");
}

fn kubectl(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let output = sandbox.bed().kubectl().args(["-n", sandbox.namespace()]).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}
