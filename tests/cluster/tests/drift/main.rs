//! Bundles that somebody changes are restored at once.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::process::ExitCode;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cluster_tests::objects::graph;
use cluster_tests::{CA_SECRET, Client, Denial, Release, Sandbox, run_in_turn, tests, until};
use serde_json::{Value, json};

/// The CRD that is the largest.
const CRD: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/dynamographdeployments.nvidia.com";
/// How often each change is made.
const TIMES: usize = 20;

fn main() -> ExitCode {
    let tests = tests![
        a_bundle_that_is_emptied_is_restored,
        a_bundle_that_is_replaced_is_restored,
        an_entry_that_is_added_gets_a_bundle,
        a_conversion_stanza_that_is_removed_or_changed_is_restored,
        a_graph_that_is_not_converted_is_told_from_one_without_components,
    ];
    run_in_turn(tests, async |bed| Release::installed(bed, &json!({})).await)
}

async fn a_bundle_that_is_emptied_is_restored(sandbox: Sandbox) {
    drift(&sandbox, "emptied", |object| {
        for config in configs(object) {
            config.as_object_mut().unwrap().remove("caBundle");
        }
    })
    .await;
}

async fn a_bundle_that_is_replaced_is_restored(sandbox: Sandbox) {
    // Some CA that has nothing to do with ours.
    let other = STANDARD.encode(std::fs::read(sandbox.bed().folder().join("ca.crt")).unwrap());
    drift(&sandbox, "replaced", |object| {
        for config in configs(object) {
            config["caBundle"] = other.clone().into();
        }
    })
    .await;
}

async fn an_entry_that_is_added_gets_a_bundle(sandbox: Sandbox) {
    let mut number = 0;
    drift(&sandbox, "added", |object| {
        number += 1;
        let Some(webhooks) = object["webhooks"].as_array_mut() else { return };
        let mut added = webhooks[0].clone();
        added["name"] = "added.example.org".into();
        added["clientConfig"].as_object_mut().unwrap().remove("caBundle");
        // It differs each time, so that each time it is another one.
        added["timeoutSeconds"] = (1 + number % 30).into();
        webhooks.retain(|webhook| webhook["name"] != "added.example.org");
        webhooks.push(added);
    })
    .await;
}

async fn a_conversion_stanza_that_is_removed_or_changed_is_restored(sandbox: Sandbox) {
    let client = sandbox.bed().client();
    let whole = settled_conversion(client).await;
    let url = json!({"url": "https://127.0.0.1:9/convert", "service": null});
    let changes = [
        json!({"strategy": "None", "webhook": null}),
        json!({"webhook": {"clientConfig": {"service": {"path": "/elsewhere"}}}}),
        json!({"webhook": {"clientConfig": url}}),
        json!({"webhook": {"clientConfig": {"caBundle": null}}}),
    ];
    for change in changes {
        let changed = client.merge(CRD, &json!({"spec": {"conversion": change}})).await.unwrap().granted().unwrap();
        assert_ne!(changed["spec"]["conversion"], whole);
        until(&format!("restored after {change}"), Duration::from_mins(2), async || conversion(client).await == whole)
            .await;
    }
}

/// The conversion stanza with our CA alone: one that a test added is removed later than ours is restored.
async fn settled_conversion(client: &Client) -> Value {
    until("only our CA is in the caBundle", Duration::from_mins(1), async || cas(&conversion(client).await) == 1).await;
    conversion(client).await
}

async fn conversion(client: &Client) -> Value {
    client.get(CRD).await.unwrap().granted().unwrap()["spec"]["conversion"].take()
}

/// How many certificates the `caBundle` of a conversion stanza has.
fn cas(conversion: &Value) -> usize {
    let bundle = conversion["webhook"]["clientConfig"]["caBundle"].as_str().unwrap_or_default();
    String::from_utf8(STANDARD.decode(bundle).unwrap()).unwrap().matches("BEGIN CERTIFICATE").count()
}

/// Keeps a user from writing CRDs.
async fn hold_off(client: &Client, user: &str) -> Denial {
    let rule = json!({
        "apiGroups": ["apiextensions.k8s.io"], "apiVersions": ["v1"], "operations": ["UPDATE"],
        "resources": ["customresourcedefinitions"],
    });
    let (them, label) = (client.acting_as(user), json!({"metadata": {"labels": {"example.org/a": "b"}}}));
    Denial::of(client, user, &rule, async || them.merge(&format!("{CRD}?dryRun=All"), &label).await.unwrap()).await
}

/// What an API server sends that changes `apiVersion` alone. The pods can't restore the stanza while it is looked at.
async fn a_graph_that_is_not_converted_is_told_from_one_without_components(sandbox: Sandbox) {
    let (client, otter) = (sandbox.bed().client(), graph("otter"));
    sandbox.accepts(&otter).await;
    let whole = settled_conversion(client).await;
    let denial = hold_off(client, &Release::only(&sandbox).account()).await;
    let none = json!({"spec": {"conversion": {"strategy": "None", "webhook": null}}});
    client.merge(CRD, &none).await.unwrap().granted().unwrap();
    let (older, label) = (sandbox.place(&otter, "v1alpha1"), json!({"metadata": {"labels": {"example.org/a": "b"}}}));
    until("nothing is converted", Duration::from_mins(2), async || {
        client.get(&older).await.unwrap().body["spec"]["services"].is_null()
    })
    .await;
    let answer = client.merge(&older, &label).await.unwrap();
    let said = answer.body["message"].as_str().unwrap_or_default();
    assert!(answer.status.as_u16() == 422 && said.contains("the CRD's conversion seems to be off"), "{answer:?}");

    denial.lift().await;
    until("the stanza is restored", Duration::from_mins(1), async || {
        client.get(CRD).await.unwrap().granted().unwrap()["spec"]["conversion"] == whole
    })
    .await;
    until("objects are converted", Duration::from_mins(2), async || {
        client.merge(&older, &label).await.unwrap().status.is_success()
    })
    .await;
}

/// The parts of a configuration or CRD that carry bundles.
fn configs(object: &mut Value) -> Vec<&mut Value> {
    if object["webhooks"].is_array() {
        let webhooks = object["webhooks"].as_array_mut().unwrap();
        return webhooks.iter_mut().map(|webhook| &mut webhook["clientConfig"]).collect();
    }
    vec![&mut object["spec"]["conversion"]["webhook"]["clientConfig"]]
}

/// Changes objects that carry bundles, one after the other, and measures how long they stay so.
async fn drift(sandbox: &Sandbox, what: &str, mut change: impl FnMut(&mut Value)) {
    let (client, release) = (sandbox.bed().client(), Release::only(sandbox));
    let ca = release.certificate(CA_SECRET).await.unwrap().unwrap();
    let mut times = Vec::new();
    for path in release.configurations().iter().chain(&[CRD.to_owned()]).cycle() {
        let mut object = client.get(path).await.unwrap().granted().unwrap();
        let before = object.clone();
        change(&mut object);
        if object == before {
            continue;
        }
        let answer = client.put(path, &object).await.unwrap();
        if answer.status.as_u16() == 409 {
            // The leader has just tidied up after the last time.
            continue;
        }
        answer.granted().unwrap();
        let changed = Instant::now();
        until(&format!("{path} {what}"), Duration::from_mins(1), async || {
            let mut object = client.get(path).await.unwrap().granted().unwrap();
            // What somebody has added is taken away when all replicas have been looked at.
            let restored = |config: &mut Value| {
                let bundle = STANDARD.decode(config["caBundle"].as_str().unwrap_or_default()).unwrap();
                String::from_utf8_lossy(&bundle).contains(ca.trim())
            };
            configs(&mut object).into_iter().all(restored)
        })
        .await;
        times.push(changed.elapsed());
        if times.len() == TIMES {
            break;
        }
    }
    times.sort_unstable();
    let (median, worst) = (times[TIMES / 2], times[TIMES - 1]);
    println!("{what}: restored {TIMES} times, median {median:.1?}, worst {worst:.1?}");
}
