//! The names under which the operator is installed; dashboards and runbooks depend on them.

use std::collections::BTreeMap;

use gateward::Installation;
use serde_json::{Value, json};

/// What the name of the Service ends in, after the full name of the release.
pub const SERVICE_SUFFIX: &str = "-webhook-service";
/// What the name of the writer's lease ends in, after the full name of the release. The controllers have another.
pub const LEASE_SUFFIX: &str = "-webhook-writer";
/// What the name of the controllers' ServiceAccount ends in, after the full name of the release.
pub const CONTROLLERS_SUFFIX: &str = "-controller-manager";
/// The Lease by which an operator of one namespace claims it: the name of the webhook guide.
pub const NAMESPACE_LEASE: &str = "dynamo-operator-ns-lock";
/// The Leases that claim a namespace: the one of the guide, and the one that released operators write.
pub const CLAIMING_LEASES: [&str; 2] = [NAMESPACE_LEASE, "dynamo-operator-namespace-scope"];
/// What the names of metrics of reviews and connections begin with.
pub const METRICS_PREFIX: &str = "dynamo_operator";
/// What the names of metrics of certificates, injection and leader election begin with.
pub const CLUSTER_METRICS_PREFIX: &str = "gateward";
/// The name that new CAs get.
pub const CA_NAME: &str = "Dynamo-Webhook-CA";

const COMPONENT: (&str, &str) = ("app.kubernetes.io/component", "webhook");
const CREATED_BY: (&str, &str) = ("app.kubernetes.io/created-by", "dynamo-operator");
const MANAGED_BY: (&str, &str) = ("app.kubernetes.io/managed-by", "dynamo-operator");
const NAME: (&str, &str) = ("app.kubernetes.io/name", "dynamo-operator");
const PART_OF: (&str, &str) = ("app.kubernetes.io/part-of", "dynamo-operator");
const INSTANCE: &str = "app.kubernetes.io/instance";

/// The prefix of most other names, unless the chart's values set another.
pub fn fullname(release: &str) -> String {
    format!("{release}-dynamo-operator")
}

/// The label, beside `app.kubernetes.io/part-of`, by which the Go operator of a namespace finds the webhook
/// configurations whose `caBundle` it replaces.
pub const GO_OPERATOR_LABEL: &str = "nvidia.com/dynamo-operator-namespace";

/// What the webhook configurations of a Helm release look like: the names of the webhook guide, the labels and the
/// defaults of the released operator. They lack its label ([`GO_OPERATOR_LABEL`]). The name of the Service is as long as
/// it gets.
pub fn installation(release: &str, namespace: &str) -> Installation {
    Installation {
        service: fullname(release) + SERVICE_SUFFIX,
        labels: labels([COMPONENT, CREATED_BY, (INSTANCE, release), NAME, PART_OF]),
        namespace_selector: Some(all_but_kube_system()),
        ..Installation::of_release(release, namespace)
    }
}

/// Without the namespace that a cluster is mended from, whatever becomes of the webhooks.
fn all_but_kube_system() -> Value {
    json!({
        "matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system"]}],
    })
}

/// The labels by which the webhook configurations of a release are found.
pub fn configuration_labels(release: &str) -> BTreeMap<String, String> {
    labels([COMPONENT, (INSTANCE, release), PART_OF])
}

/// The labels of the Secrets of a release.
pub fn secret_labels(release: &str) -> BTreeMap<String, String> {
    labels([COMPONENT, (INSTANCE, release), MANAGED_BY, PART_OF])
}

/// The labels by which the Pods of a release are found that serve webhooks: its controllers have another component.
pub fn pod_labels(release: &str) -> BTreeMap<String, String> {
    labels([COMPONENT, (INSTANCE, release), NAME])
}

/// The user that a ServiceAccount is.
pub fn service_account(namespace: &str, name: &str) -> String {
    format!("system:serviceaccount:{namespace}:{name}")
}

fn labels<const N: usize>(labels: [(&str, &str); N]) -> BTreeMap<String, String> {
    labels.map(|(key, value)| (key.to_owned(), value.to_owned())).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_guide() {
        let installation = installation("dynamo-platform", "dynamo-system");
        assert_eq!(installation.validating_name, "dynamo-platform-validating");
        assert_eq!(installation.service, "dynamo-platform-dynamo-operator-webhook-service");
    }

    #[test]
    fn the_go_operator_takes_no_configuration_of_ours_for_its_own() {
        assert!(!installation("otter", "zoo").labels.contains_key(GO_OPERATOR_LABEL));
    }

    #[test]
    fn a_configuration_is_found_by_labels_that_it_carries() {
        let carried = installation("otter", "zoo").labels;
        assert!(
            configuration_labels("otter")
                .iter()
                .all(|label| carried.contains_key(label.0) && carried[label.0] == *label.1)
        );
        assert!(!configuration_labels("badger").iter().all(|label| carried[label.0] == *label.1));
    }
}
