//! Whose bundles are written, and whose are not.

use cluster_tests::{Sandbox, Test, tests, until};
use serde_json::{Value, json};

use crate::zoo::{CONVERSION, PATIENCE, Zoo, bundles_of, configuration, configurations};

pub fn tests() -> Vec<Test> {
    tests![
        a_crd_that_comes_later_is_waited_for,
        a_configuration_that_comes_again_is_written_again,
        what_is_not_ours_is_told_and_left_alone,
        nobody_who_calls_is_a_warning,
        a_configuration_without_labels_counts_by_its_name,
    ]
}

async fn a_crd_that_comes_later_is_waited_for(sandbox: Sandbox) {
    let zoo = Zoo::new(sandbox).await;
    zoo.install_configurations().await;
    let [replica] = zoo.replicas().await;
    until("the leader rests", PATIENCE, async || replica.is_idle_leader()).await;
    let waited_for = format!("CustomResourceDefinition {} is not there; it is waited for", zoo.crd_name());
    until("it is reported", PATIENCE, async || replica.status().attention().contains(&waited_for)).await;
    zoo.install_crd().await;
    zoo.settles(&[&replica]).await;
    until("it is reported no more", PATIENCE, async || !replica.status().attention().contains(&waited_for)).await;
}

async fn a_configuration_that_comes_again_is_written_again(sandbox: Sandbox) {
    let (zoo, [replica]) = Zoo::settled(sandbox).await;
    let names = [("Validating", &zoo.setup.targets.validating), ("Mutating", &zoo.setup.targets.mutating)];
    for (kind, name) in names {
        zoo.delete(kind, name).await;
    }
    zoo.install_configurations().await;
    zoo.settles(&[&replica]).await;
}

async fn what_is_not_ours_is_told_and_left_alone(sandbox: Sandbox) {
    let zoo = Zoo::installed(sandbox).await;
    let labels = &zoo.setup.targets.labels;
    let namesake = format!("{}-of-another-name", zoo.namespace());
    let foreign = configuration("Validating", &namesake, labels, &json!([zoo.webhook("a")]));
    zoo.client().post(&configurations("Validating"), &foreign).await.unwrap().granted().unwrap();
    let (mut url, mut other) = (zoo.webhook("url"), zoo.webhook("other"));
    url["clientConfig"] = json!({"url": "https://otter.example.org/v"});
    other["clientConfig"]["service"]["name"] = "badger".into();
    let add = |object: &mut Value| object["webhooks"].as_array_mut().unwrap().extend([url.clone(), other.clone()]);
    zoo.edit("Mutating", &zoo.setup.targets.mutating, "", add).await;

    let [replica] = zoo.replicas().await;
    until("the leader rests", PATIENCE, async || replica.is_idle_leader()).await;
    let bundles = bundles_of(&zoo.read("Mutating", &zoo.setup.targets.mutating).await);
    assert_eq!(bundles.iter().map(gateward_certs::CaBundle::len).collect::<Vec<_>>(), [1, 1, 0, 0]);
    assert!(bundles_of(&zoo.read("Validating", &namesake).await)[0].is_empty());
    let reported = replica.status().attention();
    for line in [
        format!("ValidatingWebhookConfiguration {namesake} carries our labels but is not ours to write"),
        format!("(url.{}) is not ours to write: it calls a URL", zoo.group()),
        format!("(other.{}) is not ours to write: it calls the Service {}/badger", zoo.group(), zoo.namespace()),
    ] {
        assert!(reported.iter().any(|reported| reported.contains(&line)), "{line} is not among {reported:?}");
    }
}

async fn nobody_who_calls_is_a_warning(sandbox: Sandbox) {
    let zoo = Zoo::new(sandbox).await;
    let [replica] = zoo.replicas().await;
    let warned = || replica.status().warnings.iter().any(|it| it.starts_with("no webhook configuration and no CRD"));
    until("it warns", PATIENCE, async || warned()).await;
    until("it serves all the same", PATIENCE, async || replica.shown().is_some()).await;
    zoo.install_configurations().await;
    until("it warns no more", PATIENCE, async || !warned()).await;
}

async fn a_configuration_without_labels_counts_by_its_name(sandbox: Sandbox) {
    let zoo = Zoo::installed(sandbox).await;
    for (kind, name) in [("Validating", &zoo.setup.targets.validating), ("Mutating", &zoo.setup.targets.mutating)] {
        zoo.merge(kind, name, &json!({"metadata": {"labels": null}})).await;
    }
    // Someone applies a CRD without its conversion: that is nothing to write, and to tell.
    zoo.merge("Crd", &zoo.crd_name(), &json!({"spec": {"conversion": {"strategy": "None", "webhook": null}}})).await;
    let [replica] = zoo.replicas().await;
    until("the leader rests", PATIENCE, async || replica.is_idle_leader()).await;
    assert!(zoo.bundles().await.iter().all(|bundle| bundle.len() == 1));
    assert!(zoo.read("Crd", &zoo.crd_name()).await.pointer(CONVERSION).is_none());
    let reported = replica.status().attention();
    assert!(reported.iter().any(|line| line.contains("names no webhook for conversion")), "{reported:?}");
}
