//! A release that was installed with `webhook.enabled: false`.

use cluster_tests::objects::{graph, graph_v1alpha1, model};
use cluster_tests::{Chart, Conversion, Sandbox, Test, crds, tests};
use serde_json::json;

use crate::cluster_objects::Undecided;
use crate::gateward::Gateward;

pub fn tests() -> Vec<Test> {
    tests![a_cluster_without_webhooks_gets_ours]
}

/// Its objects were neither judged nor converted.
async fn a_cluster_without_webhooks_gets_ours(sandbox: Sandbox) {
    let bed = sandbox.bed();
    bed.install_crds(&crds(bed.programs(), Conversion::None).unwrap()).await.unwrap();
    sandbox.accepts(&model("unjudged", "ftp://example.org")).await;

    let ours = Gateward::new(&sandbox);
    let switched_off = json!({"dynamo-operator": {"webhook": {"enabled": false}}});
    let said = ours.release.install(Chart::Current, &switched_off).await.unwrap_err().to_string();
    assert!(said.contains("remove this key: webhooks are always on"), "{said}");

    ours.install(Undecided::Refused).await;
    sandbox.rejects(&model("rail", "ftp://example.org"), &["spec.source.uri"]).await;
    sandbox.defaults_to(&graph("heron"), &[("/spec/components/0/replicas", json!(1))]).await;
    sandbox.survives(&graph_v1alpha1("otter"), "v1beta1").await;
    sandbox.delete(&model("unjudged", "ftp://example.org")).await;

    for object in [graph("heron"), graph_v1alpha1("otter")] {
        sandbox.delete(&object).await;
    }
    ours.release.uninstall().await.unwrap();
    ours.is_forgotten().await;
}
