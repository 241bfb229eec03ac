//! What a container finds: its environment, its volumes, what came before it.

use cluster_tests::{Sandbox, Test, tests};
use serde_json::{Value, json};

use crate::workloads::{pod, ran, ready, runs, script, started, tell, until, wrote};

pub fn tests() -> Vec<Test> {
    tests![
        a_container_finds_its_environment,
        a_container_finds_its_volumes,
        a_container_waits_for_its_config_map,
        init_containers_come_first_and_in_order,
        an_init_container_that_fails_holds_the_others_back,
        a_secret_that_changes_comes_to_pods_that_run,
        a_root_that_is_read_only_cannot_be_written,
        a_container_sees_nothing_of_the_machine_but_programs,
    ]
}

fn settings() -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"a": "1", "b": "2"}})
}

fn secret(content: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "pair"}, "stringData": {"key": content}})
}

async fn a_container_finds_its_environment(sandbox: Sandbox) {
    sandbox.accepts(&settings()).await;
    sandbox.accepts(&secret("k")).await;
    let mut spec = runs("echo $0; exec sleep infinity");
    let container = &mut spec["containers"][0];
    container["args"] = json!(["$(PLAIN)-$(NAME)"]);
    container["envFrom"] = json!([{"prefix": "ALL_", "configMapRef": {"name": "settings"}}]);
    container["env"] = json!([
        {"name": "PLAIN", "value": "p"},
        {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "pair", "key": "key"}}},
        {"name": "NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        {"name": "LABEL", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['app']"}}},
        {"name": "ACCOUNT", "valueFrom": {"fieldRef": {"fieldPath": "spec.serviceAccountName"}}},
        {"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
    ]);
    let pod = ready(&sandbox, &pod("otter", &spec)).await;
    wrote(&pod, "p-otter\n").await;
    let environment = tell(&pod, &["env"]).await;
    let ip = format!("IP={}", pod.ip().unwrap());
    let wanted = ["ALL_b=2", "KEY=k", "LABEL=otter", "ACCOUNT=default", &ip, "KUBERNETES_SERVICE_HOST=10.96.0.1"];
    for line in wanted {
        assert!(environment.lines().any(|known| known == line), "{line} in {environment}");
    }
    assert_eq!(tell(&pod, &["cat", "/proc/sys/kernel/hostname"]).await, "otter\n");
}

async fn a_container_finds_its_volumes(sandbox: Sandbox) {
    sandbox.accepts(&settings()).await;
    sandbox.accepts(&secret("k")).await;
    let mut spec = runs("exec sleep infinity");
    spec["volumes"] = json!([
        {"name": "settings", "configMap": {"name": "settings", "items": [{"key": "b", "path": "deep/b"}]}},
        {"name": "pair", "secret": {"secretName": "pair"}},
        {"name": "other", "secret": {"secretName": "other", "optional": true}},
        {"name": "room", "emptyDir": {}},
        {"name": "about", "downwardAPI": {"items": [{"path": "l", "fieldRef": {"fieldPath": "metadata.labels"}}]}},
    ]);
    spec["containers"][0]["volumeMounts"] = json!([
        {"name": "settings", "mountPath": "/etc/settings"},
        {"name": "pair", "mountPath": "/etc/settings-key", "subPath": "key"},
        {"name": "other", "mountPath": "/other"},
        {"name": "room", "mountPath": "/room"},
        {"name": "about", "mountPath": "/about"},
    ]);
    let pod = ready(&sandbox, &pod("otter", &spec)).await;
    for (file, content) in [("/etc/settings/deep/b", "2"), ("/etc/settings-key", "k"), ("/about/l", r#"app="otter""#)] {
        assert_eq!(tell(&pod, &["cat", file]).await, content);
    }
    assert_eq!(tell(&pod, &["ls", "/other"]).await, "");
    tell(&pod, &["touch", "/room/x"]).await;
    assert!(!ran(&pod, &["touch", "/etc/settings/x"]).await.status.success());
    let account = "/var/run/secrets/kubernetes.io/serviceaccount";
    assert_eq!(tell(&pod, &["cat", &format!("{account}/namespace")]).await, sandbox.namespace());
    let ca = std::fs::read_to_string(sandbox.bed().folder().join("ca.crt")).unwrap();
    assert_eq!(tell(&pod, &["cat", &format!("{account}/ca.crt")]).await, ca);
}

async fn a_container_waits_for_its_config_map(sandbox: Sandbox) {
    let mut spec = runs("cat /settings/a; exec sleep infinity");
    // What comes before it could be written at once.
    let labels = json!({"path": "l", "fieldRef": {"fieldPath": "metadata.labels"}});
    spec["volumes"] = json!([
        {"name": "about", "downwardAPI": {"items": [labels]}},
        {"name": "settings", "configMap": {"name": "settings"}},
    ]);
    spec["containers"][0]["volumeMounts"] = json!([{"name": "settings", "mountPath": "/settings"}]);
    let object = pod("otter", &spec);
    let pod = started(&sandbox, &object).await;
    let waiting = async || {
        let state = sandbox.read(&object, "v1").await["status"]["containerStatuses"][0]["state"]["waiting"].clone();
        state["reason"] == "ContainerCreating"
            && state["message"].as_str().unwrap_or_default().contains("ConfigMap(\"settings\") doesn't exist")
    };
    until("a word about what is missing", waiting).await;
    sandbox.accepts(&settings()).await;
    until("ready", async || pod.is_ready()).await;
}

/// A Pod with a folder in which its containers leave notes.
fn noting(first: &[Value], main: &str) -> Value {
    let mut spec = runs(main);
    spec["initContainers"] = first.into();
    spec["volumes"] = json!([
        {"name": "notes", "emptyDir": {}},
        {"name": "settings", "configMap": {"name": "settings", "optional": true}},
    ]);
    let mounts = json!([{"name": "notes", "mountPath": "/notes"}, {"name": "settings", "mountPath": "/settings"}]);
    for kind in ["initContainers", "containers"] {
        for container in spec[kind].as_array_mut().unwrap() {
            container["volumeMounts"] = mounts.clone();
        }
    }
    pod("otter", &spec)
}

async fn init_containers_come_first_and_in_order(sandbox: Sandbox) {
    let first = [script("a", "sleep 0.2; echo a >> /notes/all"), script("b", "echo b >> /notes/all")];
    let object = noting(&first, "echo main >> /notes/all; exec sleep infinity");
    let pod = ready(&sandbox, &object).await;
    until("all notes", async || tell(&pod, &["cat", "/notes/all"]).await == "a\nb\nmain\n").await;
    until("reported", async || {
        let status = sandbox.read(&object, "v1").await["status"].clone();
        status["phase"] == "Running" && status["initContainerStatuses"][1]["state"]["terminated"]["exitCode"] == 0
    })
    .await;
}

async fn an_init_container_that_fails_holds_the_others_back(sandbox: Sandbox) {
    let first = [script("a", "echo tried; test -e /settings/a"), script("b", "echo b")];
    let object = noting(&first, "exec sleep infinity");
    let pod = started(&sandbox, &object).await;
    until("another try", async || pod.log_of("a").matches("tried").count() > 1).await;
    assert_eq!((pod.log_of("b"), pod.is_ready()), (String::new(), false));
    assert_eq!(sandbox.read(&object, "v1").await["status"]["phase"], "Pending");
    sandbox.accepts(&settings()).await;
    until("ready", async || pod.is_ready()).await;
    assert_eq!(pod.log_of("b"), "b\n");
}

async fn a_secret_that_changes_comes_to_pods_that_run(sandbox: Sandbox) {
    sandbox.accepts(&secret("old")).await;
    let mut spec = runs("exec sleep infinity");
    spec["volumes"] = json!([{"name": "pair", "secret": {"secretName": "pair"}}]);
    spec["containers"][0]["volumeMounts"] = json!([{"name": "pair", "mountPath": "/pair"}]);
    let pod = ready(&sandbox, &pod("otter", &spec)).await;
    let read = || tell(&pod, &["cat", "/pair/key"]);
    assert_eq!(read().await, "old");
    assert!(sandbox.replace(&secret("new")).await.status.is_success());
    until("the new content", async || read().await == "new").await;
}

async fn a_root_that_is_read_only_cannot_be_written(sandbox: Sandbox) {
    let mut spec = runs("touch /x || echo refused; exec sleep infinity");
    let pod_of = |name: &str, spec: &Value| pod(name, spec);
    let open = ready(&sandbox, &pod_of("open", &spec)).await;
    spec["containers"][0]["securityContext"] = json!({"readOnlyRootFilesystem": true});
    let closed = ready(&sandbox, &pod_of("closed", &spec)).await;
    wrote(&closed, "refused").await;
    assert_eq!(open.log(), "");
}

async fn a_container_sees_nothing_of_the_machine_but_programs(sandbox: Sandbox) {
    let pod = ready(&sandbox, &pod("otter", &runs("exec sleep infinity"))).await;
    let bed = sandbox.bed().folder().display().to_string();
    assert!(!ran(&pod, &["ls", &bed]).await.status.success());
    assert_eq!(tell(&pod, &["ls", "/tmp"]).await, "");
}
