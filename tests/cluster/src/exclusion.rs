//! An operator of the whole cluster that leaves claimed namespaces out of its webhooks, in each mode of certificates.

use std::time::Duration;

use gateward_testbed::{Sandbox, until};
use serde_json::{Value, json};

use crate::objects::model;
use crate::release::{Chart, Release};

/// The namespace that an operator of its own claims.
const TENANT: &str = "team-a";
/// Longer than a claim takes to be made, to count, and to be followed, on a machine that is busy.
const PATIENCE: Duration = Duration::from_mins(3);

/// Turns `webhook.excludeClaimedNamespaces` on for a release, and has an operator of one namespace come and go: the release
/// leaves the namespace out of each webhook, with the right to do just that, and off again. `values` are those that the
/// release has.
pub async fn leaves_a_claimed_namespace_out(sandbox: &Sandbox, release: &Release, values: &Value) {
    let may_patch = async || {
        let mut may = Vec::new();
        for kind in ["validating", "mutating"] {
            for name in [format!("{}-{kind}", release.name()), "of-another".to_owned()] {
                may.push(may_patch(release, kind, &name).await);
            }
        }
        may
    };
    assert_eq!(may_patch().await, [false; 4], "without the value there is nothing to patch");
    let mut excluding = values.clone();
    excluding["dynamo-operator"]["webhook"]["excludeClaimedNamespaces"] = true.into();
    release.upgrade(Chart::Current, &excluding).await.unwrap();
    release.settled().await.unwrap();
    assert_eq!(may_patch().await, [true, false, true, false]);

    let audit = sandbox.bed().audit().unwrap();
    let bundles = release.bundles().await.unwrap();
    let tenant = Release::new(&sandbox.shared_bed(), "team-a-operator", TENANT);
    let restriction = json!({"enabled": true, "namespace": TENANT});
    let restricted = json!({"dynamo-operator": {
        "namespaceRestriction": restriction, "controllerManager": {"replicas": 1},
    }});
    tenant.install(Chart::Current, &restricted).await.unwrap();
    until("each webhook leaves the namespace out", PATIENCE, async || left_out(sandbox, release).await == [true; 2])
        .await;
    assert_eq!(release.bundles().await.unwrap(), bundles, "who provides them still does");
    for configuration in release.configurations() {
        is_left_to_its_writer(sandbox, release, &configuration).await;
    }
    is_judged_without(sandbox, release).await;

    tenant.uninstall().await.unwrap();
    until("no webhook leaves it out", PATIENCE, async || left_out(sandbox, release).await == [false; 2]).await;
    let patched = audit.of(&release.account()).unwrap();
    let patched =
        patched.iter().filter(|event| event.resource.ends_with("webhookconfigurations") && event.verb == "patch");
    let names: Vec<&str> = patched.map(|event| event.name.as_str()).collect();
    let own = ["validating", "mutating"].map(|kind| format!("{}-{kind}", release.name()));
    assert!(own.iter().all(|name| names.contains(&name.as_str())), "{names:?}");
    assert!(names.iter().all(|name| own.iter().any(|own| own == name)), "{names:?}");
    release.upgrade(Chart::Current, values).await.unwrap();
    release.settled().await.unwrap();
    assert_eq!(may_patch().await, [false; 4]);
}

async fn may_patch(release: &Release, kind: &str, name: &str) -> bool {
    let object = format!("{kind}webhookconfigurations/{name}");
    // It ends with an error where the answer is no.
    let asked = release.kubectl(&["auth", "can-i", "patch", &object, "--as", &release.account()]).await;
    asked.is_ok_and(|answer| answer.trim() == "yes")
}

/// Of each configuration, whether every webhook leaves the namespace out.
async fn left_out(sandbox: &Sandbox, release: &Release) -> Vec<bool> {
    let mut all = Vec::new();
    for path in release.configurations() {
        let configuration = sandbox.bed().client().get(&path).await.unwrap().granted().unwrap();
        let expression = json!({
            "key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["claimed.gateward.dev", TENANT],
        });
        let leaves_out = |webhook: &Value| {
            let expressions = webhook["namespaceSelector"]["matchExpressions"].as_array();
            expressions.is_some_and(|expressions| expressions.contains(&expression))
        };
        all.push(configuration["webhooks"].as_array().unwrap().iter().all(leaves_out));
    }
    all
}

/// Beside that expression the pods may change nothing, where others write the `caBundle`.
async fn is_left_to_its_writer(sandbox: &Sandbox, release: &Release, configuration: &str) {
    let pod = sandbox.bed().client().acting_as(&release.account());
    for (place, value) in [("clientConfig/caBundle", "b3R0ZXI="), ("failurePolicy", "Ignore")] {
        let operations = json!([{"op": "add", "path": format!("/webhooks/0/{place}"), "value": value}]);
        let answer = pod.patch(configuration, &operations).await.unwrap();
        assert_eq!(answer.status.as_u16(), 403, "{place}: {}", answer.body);
        assert!(answer.body["message"].to_string().contains("since others write its caBundle"), "{}", answer.body);
    }
}

/// While the operator of the whole cluster is down, the namespace's own judges there.
async fn is_judged_without(sandbox: &Sandbox, release: &Release) {
    let replicas = release.pods().await.unwrap().len();
    release.scale(0).await.unwrap();
    until("the release is down", PATIENCE, async || release.pods().await.unwrap().is_empty()).await;
    until("its own operator admits", PATIENCE, async || is_admitted(sandbox, TENANT, "hf://zoo/otter").await).await;
    assert!(!is_admitted(sandbox, TENANT, "https://zoo.example/otter").await, "its own operator denies");
    assert!(!is_admitted(sandbox, "default", "hf://zoo/otter").await, "elsewhere nothing passes unjudged");
    release.scale(replicas).await.unwrap();
    release.rolled_out().await.unwrap();
}

/// Whether a model of a source would be stored.
pub async fn is_admitted(sandbox: &Sandbox, namespace: &str, source: &str) -> bool {
    let mut object = model("otter", source);
    object["metadata"]["namespace"] = namespace.into();
    let path = format!("/apis/nvidia.com/v1alpha1/namespaces/{namespace}/dynamomodels?dryRun=All");
    sandbox.bed().client().post(&path, &object).await.unwrap().status.is_success()
}
