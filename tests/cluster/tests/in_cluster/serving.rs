//! From the first moment to verdicts, and what is repaired meanwhile.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cluster_tests::objects::{graph, graph_v1alpha1};
use cluster_tests::{Sandbox, Test, tests, until};
use serde_json::{Value, json};

use crate::installation::installation;
use crate::release::NAMESPACE;

const VALIDATING: &str = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/otter-validating";

pub fn tests() -> Vec<Test> {
    tests![
        it_gets_ready_once_all_who_call_trust_it,
        verdicts_and_conversions_come_through_the_service,
        a_bundle_that_somebody_empties_is_restored,
        a_secret_that_somebody_deletes_comes_back,
    ]
}

async fn it_gets_ready_once_all_who_call_trust_it(sandbox: Sandbox) {
    let replica = &installation().replica;
    let took = replica.becomes_ready().await;
    println!("ready after {:.1} s", took.as_secs_f32());
    for number in 0..bundles(&sandbox).await.len() {
        assert!(bundles(&sandbox).await[number].starts_with("-----BEGIN CERTIFICATE-----"), "webhook {number}");
    }
    let (_, page) = replica.page("/readyz?verbose").unwrap();
    assert!(page.contains("[+]handshake ok") && page.contains("[i]certificates: leader: this replica"), "{page}");
    let log = replica.log();
    for words in [
        "Registering validation webhooks",
        "Starting webhook server",
        "colour: unknown key, ignored",
        "ca-bundle-injector",
        "cert-rotation",
    ] {
        assert!(log.contains(words), "{words:?} is not in\n{log}");
    }
}

async fn verdicts_and_conversions_come_through_the_service(sandbox: Sandbox) {
    // What calls us learns from an EndpointSlice, which comes a moment after the Pod is ready.
    let mut otter = graph("otter");
    until("the API server calls", Duration::from_mins(2), async || {
        sandbox.dry().create(&otter).await.status.is_success()
    })
    .await;
    let stored = sandbox.defaults_to(&otter, &[("/spec/components/0/replicas", json!(1))]).await;
    assert_eq!(stored["metadata"]["annotations"]["nvidia.com/dynamo-operator-origin-version"], "1.4.0");
    otter["metadata"]["name"] = "badger".into();
    otter["spec"]["components"][1]["frontendSidecar"] = "nobody".into();
    let refusal = sandbox.rejects(&otter, &["spec.components[1].frontendSidecar"]).await;
    assert_eq!((refusal.code, refusal.reason.as_str()), (422, "Invalid"));

    let heron = sandbox.accepts(&graph_v1alpha1("heron")).await;
    assert_eq!(sandbox.read(&heron, "v1beta1").await["apiVersion"], "nvidia.com/v1beta1");
    assert!(installation().replica.log().contains("validate create"));
}

async fn a_bundle_that_somebody_empties_is_restored(sandbox: Sandbox) {
    let emptied = json!([{"op": "replace", "path": "/webhooks/0/clientConfig/caBundle", "value": ""}]);
    let mut kubectl = sandbox.bed().kubectl();
    let arguments = ["patch", "validatingwebhookconfiguration", "otter-validating", "--type=json", "-p"];
    assert!(kubectl.args(arguments).arg(emptied.to_string()).output().unwrap().status.success());
    let took = until("the bundle is back", Duration::from_mins(2), async || {
        bundles(&sandbox).await.iter().all(|bundle| bundle.starts_with("-----BEGIN CERTIFICATE-----"))
    })
    .await;
    println!("restored after {took:?}");
}

async fn a_secret_that_somebody_deletes_comes_back(sandbox: Sandbox) {
    let secret = format!("/api/v1/namespaces/{NAMESPACE}/secrets/webhook-server-cert");
    let client = sandbox.bed().client();
    let before = client.get(&secret).await.unwrap().granted().unwrap();
    client.delete(&secret).await.unwrap().granted().unwrap();
    until("another Secret is there", Duration::from_mins(2), async || {
        let now = client.get(&secret).await.unwrap().body;
        now["data"]["tls.crt"].is_string() && now["metadata"]["uid"] != before["metadata"]["uid"]
    })
    .await;
    let after = client.get(&secret).await.unwrap().granted().unwrap();
    assert_eq!(after["data"]["ca.crt"], before["data"]["ca.crt"], "the CA is still good");
    assert_eq!(after["metadata"]["labels"]["app.kubernetes.io/instance"], "otter");
    sandbox.accepts(&graph("otter")).await;
}

/// The bundles of all validating webhooks.
async fn bundles(sandbox: &Sandbox) -> Vec<String> {
    let configuration = sandbox.bed().client().get(VALIDATING).await.unwrap().granted().unwrap();
    let webhooks = configuration["webhooks"].as_array().unwrap().iter();
    let bundle = |webhook: &Value| STANDARD.decode(webhook["clientConfig"]["caBundle"].as_str().unwrap_or_default());
    webhooks.map(|webhook| String::from_utf8(bundle(webhook).unwrap()).unwrap()).collect()
}
