//! `gateward doctor --preflight`, as an administrator runs it before an upgrade.

use std::io::Write as _;
use std::process::Stdio;
use std::time::Duration;

use cluster_tests::{NAMESPACE, RELEASE, Sandbox, Test, tests, until};
use serde_json::{Value, json};

pub fn tests() -> Vec<Test> {
    tests![
        a_healthy_release_passes_until_another_configuration_judges_its_kinds,
        values_that_were_removed_and_certificates_that_are_missing_fail,
        values_that_pods_could_not_start_with_are_told,
        what_is_not_installed_is_not_provable_yet,
        pods_that_the_api_server_does_not_reach_are_a_failure,
        a_user_whom_the_api_server_does_not_know_has_checked_nothing,
    ]
}

/// How the command ended.
#[derive(Debug)]
struct Preflight {
    code: Option<i32>,
    printed: Value,
}

impl Preflight {
    /// Of a release in a namespace, with values from standard input.
    fn of(sandbox: &Sandbox, release: &str, namespace: &str, values: &Value) -> Self {
        let mut command = sandbox.bed().programs().gateward();
        command.env("KUBECONFIG", sandbox.bed().folder().join("kubeconfig"));
        command.args(["doctor", "--preflight", "--release", release, "-n", namespace]);
        command.args(["--values", "-", "--output", "json"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut running = command.spawn().unwrap();
        running.stdin.take().unwrap().write_all(values.to_string().as_bytes()).unwrap();
        let output = running.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let printed = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
        Self { code: output.status.code(), printed }
    }

    fn lines(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        let checks = self.printed["checks"].as_array().into_iter().flatten();
        checks.map(|line| {
            let member = |name: &str| line[name].as_str().unwrap();
            (member("check"), member("state"), member("text"))
        })
    }

    /// Whether a line of a check ended so and says this.
    fn says(&self, check: &str, state: &str, text: &str) -> bool {
        self.lines().any(|line| (line.0, line.1) == (check, state) && line.2.contains(text))
    }
}

async fn a_healthy_release_passes_until_another_configuration_judges_its_kinds(sandbox: Sandbox) {
    let healthy = Preflight::of(&sandbox, RELEASE, NAMESPACE, &Value::Null);
    assert_eq!(healthy.code, Some(0), "{healthy:?}");
    let checks: Vec<_> = healthy.lines().map(|(check, state, _)| (check, state)).collect();
    let all = ["removedValues", "unknownValues", "reachability", "certificates", "conflictingConfigurations", "rbac"];
    assert_eq!(checks, all.map(|check| (check, "ok")), "{healthy:?}");

    // It is called for nothing, since the other tests write objects meanwhile.
    let webhook = json!({
        "name": "models.badger.org",
        "clientConfig": {"url": "https://badger.invalid/judge"},
        "rules": [{
            "apiGroups": ["nvidia.com"], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["dynamomodels"],
        }],
        "namespaceSelector": {"matchLabels": {"badger.org/judged": "yes"}},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    });
    let configurations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    let configuration = json!({"metadata": {"name": "badger"}, "webhooks": [webhook]});
    sandbox.bed().client().post(configurations, &configuration).await.unwrap().granted().unwrap();
    let conflicting = Preflight::of(&sandbox, RELEASE, NAMESPACE, &Value::Null);
    sandbox.bed().client().delete(&format!("{configurations}/badger")).await.unwrap().granted().unwrap();
    assert_eq!(conflicting.code, Some(1), "{conflicting:?}");
    let text = "ValidatingWebhookConfiguration badger also judges or defaults our kinds: its webhook models.badger.org";
    assert!(conflicting.says("conflictingConfigurations", "failed", text), "{conflicting:?}");
}

async fn values_that_were_removed_and_certificates_that_are_missing_fail(sandbox: Sandbox) {
    let external =
        json!({"enabled": false, "timeoutSecond": 5, "certificateSecret": {"external": true, "name": "our-own"}});
    let failed = Preflight::of(&sandbox, RELEASE, NAMESPACE, &json!({"dynamo-operator": {"webhook": external}}));
    assert_eq!(failed.code, Some(1), "{failed:?}");
    let removed = "dynamo-operator.webhook.enabled: remove this key: webhooks are always on";
    assert!(failed.says("removedValues", "failed", removed), "{failed:?}");
    let unknown = "webhook.timeoutSecond: did you mean dynamo-operator.webhook.timeoutSeconds?";
    assert!(failed.says("unknownValues", "failed", unknown), "{failed:?}");
    assert!(failed.says("certificates", "failed", "webhook.caBundle is empty"), "{failed:?}");
    let missing = "Secret dynamo-system/our-own is not there; it needs tls.crt, tls.key and ca.crt";
    assert!(failed.says("certificates", "failed", missing), "{failed:?}");
    assert!(failed.says("rbac", "notProvableYet", "the upgrade writes them"), "{failed:?}");
    assert!(failed.says("reachability", "ok", "port 9443"), "{failed:?}");

    let by_cert_manager = json!({"dynamo-operator": {"webhook": {"certManager": {"enabled": true}}}});
    let failed = Preflight::of(&sandbox, RELEASE, NAMESPACE, &by_cert_manager);
    assert!(failed.says("certificates", "failed", "doesn't serve cert-manager.io/v1"), "{failed:?}");
    assert_eq!(failed.code, Some(1), "{failed:?}");
}

async fn values_that_pods_could_not_start_with_are_told(sandbox: Sandbox) {
    let file = sandbox.bed().folder().join("short-lived.json");
    std::fs::write(&file, json!({"webhook": {"certificates": {"lifetime": "1s"}}}).to_string()).unwrap();
    let mut command = sandbox.bed().programs().gateward();
    command.env("KUBECONFIG", sandbox.bed().folder().join("kubeconfig")).args(["doctor", "--preflight", "--values"]);
    let ended = command.arg(file).output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(2), "{said}");
    assert!(said.contains("server.webhook.certificates.lifetime"), "{said}");
}

async fn what_is_not_installed_is_not_provable_yet(sandbox: Sandbox) {
    let absent = Preflight::of(&sandbox, "river", sandbox.namespace(), &Value::Null);
    assert!(absent.says("reachability", "notProvableYet", "run this again after the upgrade"), "{absent:?}");
    assert!(absent.says("rbac", "notProvableYet", "the upgrade makes it, with its roles"), "{absent:?}");
    assert!(absent.says("certificates", "ok", "nothing is to be done"), "{absent:?}");
    // A second operator of the whole cluster contradicts the first.
    let text = "ValidatingWebhookConfiguration dynamo-platform-validating also judges";
    assert!(absent.says("conflictingConfigurations", "failed", text), "{absent:?}");
}

/// A Pod is ready without a probe; this one doesn't listen.
async fn pods_that_the_api_server_does_not_reach_are_a_failure(sandbox: Sandbox) {
    let (client, namespace) = (sandbox.bed().client(), sandbox.namespace());
    let core = format!("/api/v1/namespaces/{namespace}");
    let labels = json!({"app": "lake"});
    let container = json!({"name": "main", "image": "local", "command": ["sh", "-c", "sleep 600"]});
    let spec = json!({"containers": [container], "terminationGracePeriodSeconds": 1});
    let pod = json!({"metadata": {"name": "lake", "labels": labels}, "spec": spec});
    client.post(&format!("{core}/pods"), &pod).await.unwrap().granted().unwrap();
    let ports = json!([{"name": "webhook-server", "port": 443, "targetPort": 9443}]);
    let spec = json!({"selector": labels, "ports": ports});
    let service = json!({"metadata": {"name": "lake-dynamo-operator-webhook-service"}, "spec": spec});
    client.post(&format!("{core}/services"), &service).await.unwrap().granted().unwrap();

    let mut unreached = Preflight::of(&sandbox, "lake", namespace, &Value::Null);
    until("the Pod is ready", Duration::from_mins(1), async || {
        unreached = Preflight::of(&sandbox, "lake", namespace, &Value::Null);
        !unreached.says("reachability", "notProvableYet", "")
    })
    .await;
    assert_eq!(unreached.code, Some(1), "{unreached:?}");
    assert!(unreached.says("reachability", "failed", "error trying to reach service"), "{unreached:?}");
    assert!(unreached.says("reachability", "failed", "open port 9443"), "{unreached:?}");
}

async fn a_user_whom_the_api_server_does_not_know_has_checked_nothing(sandbox: Sandbox) {
    let text = std::fs::read_to_string(sandbox.bed().folder().join("kubeconfig")).unwrap();
    let mut kubeconfig: Value = serde_json::from_str(&text).unwrap();
    kubeconfig["users"][0]["user"] = json!({"token": "expired"});
    let file = sandbox.bed().folder().join("kubeconfig-of-nobody");
    std::fs::write(&file, kubeconfig.to_string()).unwrap();
    let mut command = sandbox.bed().programs().gateward();
    command.env("KUBECONFIG", &file).args(["doctor", "--preflight", "--release", RELEASE, "-n", NAMESPACE]);
    let ended = command.output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(2), "{said}");
    let wanted = format!("the API server refuses the credentials of the kubeconfig {} (401 ", file.display());
    assert!(said.contains(&wanted), "{said}");
}
