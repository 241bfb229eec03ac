//! Webhooks that would keep the Pods of a bundle from starting.
//!
//! OLM writes the configurations before the Pods run, and keeps no namespace from them. So a webhook that the Pods
//! themselves have to pass is asked before anybody can answer.

use anyhow::bail;
use serde_json::Value;

/// Checks that no webhook must admit the Pods of the Deployment with this spec; the error names those that must.
pub(super) fn check(descriptions: &[Value], deployment: &Value) -> anyhow::Result<()> {
    let labels = &deployment["template"]["metadata"]["labels"];
    let judging = descriptions.iter().filter(|description| {
        description["failurePolicy"] != "Ignore"
            && items(&description["rules"]).any(is_of_new_pods)
            && items(&description["objectSelector"]["matchExpressions"]).all(|one| holds(one, labels))
    });
    let problems = judging.map(|description| {
        let name = description["generateName"].as_str().unwrap_or_default();
        format!(
            "{name} would judge the operator's own Pods, and keep them from starting: OLM registers it before they run, \
             for all namespaces. Select by a label that they don't carry (.object_selector); they carry {labels}"
        )
    });
    let problems: Vec<String> = problems.collect();
    if problems.is_empty() { Ok(()) } else { bail!("{}", problems.join("\n")) }
}

fn is_of_new_pods(rule: &Value) -> bool {
    let names = |member: &str, wanted: &[&str]| items(&rule[member]).any(|name| wanted.iter().any(|it| name == it));
    names("apiGroups", &["", "*"]) && names("resources", &["pods", "*", "*/*"]) && names("operations", &["CREATE", "*"])
}

/// Whether labels meet a requirement of a selector.
fn holds(requirement: &Value, labels: &Value) -> bool {
    let label = requirement["key"].as_str().and_then(|key| labels.get(key));
    let is_listed = label.is_some_and(|label| items(&requirement["values"]).any(|value| value == label));
    match requirement["operator"].as_str() {
        Some("In") => is_listed,
        Some("NotIn") => !is_listed,
        Some("Exists") => label.is_some(),
        _ => label.is_none(),
    }
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(changed: &Value) -> bool {
        let mut description = json!({
            "generateName": "validate.pod.core",
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"]}],
        });
        for (member, value) in changed.as_object().unwrap() {
            description[member] = value.clone();
        }
        let deployment = json!({"template": {"metadata": {"labels": {"app": "otter"}}}});
        check(&[description], &deployment).is_err()
    }

    fn selecting(requirement: &Value) -> bool {
        refused(&json!({"objectSelector": {"matchExpressions": [requirement]}}))
    }

    #[test]
    fn a_webhook_that_every_new_pod_has_to_pass_is_refused() {
        assert!(refused(&json!({})) && refused(&json!({"failurePolicy": "Fail"})));
        assert!(!refused(&json!({"failurePolicy": "Ignore"})));
        let rule = |group: &str, resource: &str, operation: &str| {
            let rule = json!({"apiGroups": [group], "resources": [resource], "operations": [operation]});
            refused(&json!({"rules": [rule]}))
        };
        assert!(rule("", "*", "*") && rule("*", "*/*", "CREATE"));
        assert!(!rule("apps", "*", "*") && !rule("", "pods/eviction", "CREATE") && !rule("", "pods", "UPDATE"));
    }

    #[test]
    fn a_webhook_that_selects_by_labels_of_others_is_taken() {
        let one = |operator: &str, values: &[&str]| json!({"key": "app", "operator": operator, "values": values});
        assert!(selecting(&one("In", &["otter"])) && selecting(&one("NotIn", &["heron"])));
        assert!(!selecting(&one("In", &["heron"])) && !selecting(&one("NotIn", &["otter"])));
        let bare = |key: &str, operator: &str| json!({"key": key, "operator": operator});
        assert!(selecting(&bare("app", "Exists")) && selecting(&bare("river", "DoesNotExist")));
        assert!(!selecting(&bare("river", "Exists")) && !selecting(&bare("app", "DoesNotExist")));
    }
}
