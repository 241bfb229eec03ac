//! The names under which the operator is installed; dashboards and runbooks depend on them.

use std::collections::BTreeMap;

use gateward_core::manifest::{FailurePolicy, Installation};

/// What the webhook configurations of a Helm release look like: the names of the webhook guide, the labels and the
/// defaults of the released operator.
pub fn installation(release: &str, namespace: &str) -> Installation {
    Installation {
        validating_name: format!("{release}-validating"),
        mutating_name: format!("{release}-mutating"),
        service: format!("{release}-dynamo-operator-webhook-service"),
        namespace: namespace.to_owned(),
        port: 443,
        failure_policy: FailurePolicy::Fail,
        timeout_seconds: 10,
        labels: labels(release, namespace),
        namespace_selector: None,
        object_selector: None,
    }
}

fn labels(release: &str, namespace: &str) -> BTreeMap<String, String> {
    let labels = [
        ("app.kubernetes.io/component", "webhook"),
        ("app.kubernetes.io/created-by", "dynamo-operator"),
        ("app.kubernetes.io/instance", release),
        ("app.kubernetes.io/name", "dynamo-operator"),
        ("app.kubernetes.io/part-of", "dynamo-operator"),
        ("nvidia.com/dynamo-operator-namespace", namespace),
    ];
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
        assert_eq!(installation.labels["nvidia.com/dynamo-operator-namespace"], "dynamo-system");
    }
}
