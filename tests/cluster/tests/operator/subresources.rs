//! Webhooks of a small operator on `scale`, `exec` and `eviction`, beside the API server that asks them.

use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cluster_tests::{Response, Sandbox, Test, tests, until};
use gateward::config::{HttpVersions, ListenAddress, Listeners, MetricsAccess};
use gateward::prelude::*;
use gateward::{CertResolver, Drain, Identity, Installation, Review, Server};
use gateward_certs::{Ca, CommonName, ServerNames, SystemKeys, TEN_YEARS, Validity};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::account::Account;

pub fn tests() -> Vec<Test> {
    tests![scale_exec_and_eviction_are_judged]
}

#[derive(Serialize, Deserialize)]
struct Raft {
    #[serde(default)]
    spec: RaftSpec,
}

#[derive(Default, Serialize, Deserialize)]
struct RaftSpec {
    #[serde(default)]
    otters: i32,
}

resource!(Raft, "zoo.example.org/v1", "Raft", "rafts");

fn at_most_a_hundred(new: &Raft, _: &Request) -> Result<(), Verdict> {
    if new.spec.otters > 100 { Err(Verdict::deny("a raft has at most 100 otters")) } else { Ok(()) }
}

#[derive(Serialize, Deserialize)]
struct Pod {}

resource!(Pod, "v1", "Pod", "pods");

#[derive(Serialize, Deserialize)]
struct Eviction {
    metadata: Name,
}

#[derive(Serialize, Deserialize)]
struct Name {
    name: String,
}

resource!(Eviction, "policy/v1", "Eviction", "evictions");

fn otto_stays(new: &Eviction, _: &Request) -> Verdict {
    if new.metadata.name == "otto" { Verdict::deny("otto stays") } else { Verdict::allow() }
}

#[derive(Serialize, Deserialize)]
struct PodExecOptions {
    command: Vec<String>,
}

resource!(PodExecOptions, "v1", "PodExecOptions", "pods");

struct NoShell;

#[handler]
impl Validator<PodExecOptions> for NoShell {
    async fn connect(&self, options: &PodExecOptions, request: &Request) -> Result<(), Verdict> {
        assert_eq!(request.name.as_deref(), Some("otto"));
        if options.command == ["sh"] { Err(Verdict::deny("no shells in here")) } else { Ok(()) }
    }
}

fn webhooks() -> Webhooks {
    Webhooks::new()
        .register(Webhook::<Raft>::new().validator(at_most_a_hundred).scale(|raft, otters| raft.spec.otters = otters))
        .register(Webhook::<Eviction>::new().subresource_of::<Pod>("eviction").validator(otto_stays))
        .register(Webhook::<PodExecOptions>::new().subresource_of::<Pod>("exec").validator(NoShell))
}

fn crd() -> Value {
    let spec = json!({"type": "object", "properties": {"otters": {"type": "integer"}}});
    let schema = json!({"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}});
    let scale = json!({"specReplicasPath": ".spec.otters", "statusReplicasPath": ".status.otters"});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "rafts.zoo.example.org", "annotations": {"api-approved.kubernetes.io": "unapproved"}},
        "spec": {
            "group": "zoo.example.org",
            "names": {"plural": "rafts", "singular": "raft", "kind": "Raft", "listKind": "RaftList"},
            "scope": "Namespaced",
            "versions": [{
                "name": "v1", "served": true, "storage": true, "schema": schema, "subresources": {"scale": scale},
            }],
        },
    })
}

/// The configuration as it would be for a Service, with the address of the server in its place.
fn configuration(sandbox: &Sandbox, address: std::net::SocketAddr, ca: &str) -> Value {
    let installation = Installation {
        namespace_selector: Some(json!({"matchLabels": {"kubernetes.io/metadata.name": sandbox.namespace()}})),
        ..Installation::of_release(sandbox.namespace(), "zoo-system")
    };
    let rendered = gateward_core::manifest::webhook_configuration(&webhooks(), Review::Validate, &installation);
    let mut configuration = serde_json::to_value(rendered.unwrap()).unwrap();
    for webhook in configuration["webhooks"].as_array_mut().unwrap() {
        let path = webhook["clientConfig"]["service"]["path"].as_str().unwrap();
        webhook["clientConfig"] = json!({"url": format!("https://{address}{path}"), "caBundle": STANDARD.encode(ca)});
    }
    configuration
}

fn said(response: &Response) -> &str {
    response.body["message"].as_str().unwrap_or_default()
}

async fn scale_exec_and_eviction_are_judged(sandbox: Sandbox) {
    let ca = Ca::new(&CommonName::new("zoo").unwrap(), validity(), &SystemKeys).unwrap();
    let leaf = ca.issue(&ServerNames::parse(["127.0.0.1"]).unwrap(), validity(), &SystemKeys).unwrap();
    let rules = json!([{"apiGroups": ["zoo.example.org"], "resources": ["rafts"], "verbs": ["get"]}]);
    let account = Account::with_rules(&sandbox, "zoo", &rules).await;
    let free = ListenAddress { ip: Some([127, 0, 0, 1].into()), port: 0 };
    let (metrics_access, http) = (MetricsAccess::Open, HttpVersions::Http1);
    let server = Server::builder(webhooks())
        .client(account.connection().await.client())
        .certificates(CertResolver::new(Identity::try_from(&leaf).unwrap()))
        .listeners(Listeners { webhooks: free, health: free, metrics: free, metrics_access, http })
        .drain(Drain { grace: Duration::ZERO, ..Drain::default() })
        .start()
        .await
        .unwrap();
    let configuration = configuration(&sandbox, server.address(), &ca.certificate_pem());
    let serving = tokio::spawn(server.run_until(std::future::pending()));

    let client = sandbox.bed().client();
    sandbox.bed().install_crds(&[crd()]).await.unwrap();
    let configurations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    client.post(configurations, &configuration).await.unwrap().granted().unwrap();
    let rafts = format!("/apis/zoo.example.org/v1/namespaces/{}/rafts", sandbox.namespace());
    let raft = |otters: i64| json!({"apiVersion": "zoo.example.org/v1", "kind": "Raft", "metadata": {"name": "spey"}, "spec": {"otters": otters}});
    until("the webhooks are asked", Duration::from_mins(1), async || {
        let dry = client.post(&format!("{rafts}?dryRun=All"), &raft(900)).await.unwrap();
        said(&dry).contains("at most 100 otters")
    })
    .await;

    scales(&sandbox, &rafts, &raft(7)).await;
    pods(&sandbox).await;
    client.delete(&format!("{configurations}/{}-validating", sandbox.namespace())).await.unwrap().granted().unwrap();
    serving.abort();
}

fn validity() -> Validity {
    Validity::starting(SystemTime::now(), TEN_YEARS).unwrap()
}

/// What `kubectl scale` sends.
async fn scales(sandbox: &Sandbox, rafts: &str, raft: &Value) {
    let client = sandbox.bed().client();
    client.post(rafts, raft).await.unwrap().granted().unwrap();
    let to =
        async |otters: i64| client.merge(&format!("{rafts}/spey/scale"), &json!({"spec": {"replicas": otters}})).await;
    let refused = to(900).await.unwrap();
    assert!(said(&refused).contains("a raft has at most 100 otters"), "{}", refused.body);
    to(90).await.unwrap().granted().unwrap();
    let stored = client.get(&format!("{rafts}/spey")).await.unwrap().granted().unwrap();
    assert_eq!(stored["spec"]["otters"], 90);
    // What could be scaled can be edited too.
    client
        .merge(&format!("{rafts}/spey"), &json!({"metadata": {"labels": {"a": "b"}}}))
        .await
        .unwrap()
        .granted()
        .unwrap();
}

async fn pods(sandbox: &Sandbox) {
    let client = sandbox.bed().client();
    let pods = format!("/api/v1/namespaces/{}/pods", sandbox.namespace());
    for name in ["otto", "otis"] {
        let spec = json!({"automountServiceAccountToken": false, "containers": [{"name": "main", "image": "none"}]});
        let pod = json!({"metadata": {"name": name}, "spec": spec});
        until("the Pod's ServiceAccount is there", Duration::from_mins(1), async || {
            client.post(&pods, &pod).await.unwrap().status.is_success()
        })
        .await;
    }
    let exec = async |command: &str| {
        client
            .post(&format!("{pods}/otto/exec?container=main&command={command}&stdout=true"), &json!({}))
            .await
            .unwrap()
    };
    let refused = exec("sh").await;
    assert!(said(&refused).contains("no shells in here"), "{}", refused.body);
    let passed = exec("date").await;
    assert!(
        !passed.status.is_success() && !said(&passed).contains("admission webhook"),
        "no node runs it: {}",
        passed.body
    );

    let evict = async |name: &str| {
        let eviction = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}});
        client.post(&format!("{pods}/{name}/eviction"), &eviction).await.unwrap()
    };
    let refused = evict("otto").await;
    assert!(said(&refused).contains("otto stays"), "{}", refused.body);
    evict("otis").await.granted().unwrap();
}
