//! The webhook configurations of a release, as the values of its chart have them.

use gateward_core::manifest::{FailurePolicy, Installation};
use gateward_core::{FieldPath, Segment};
use serde_json::{Map, Value, json};

use crate::config::{ConfigError, Problem, WebhookValues};

/// The installation with what the values say. One that no chart takes is an error.
pub(crate) fn with_values(mut usual: Installation, values: &WebhookValues) -> Result<Installation, ConfigError> {
    if let Some(policy) = values.get("failurePolicy") {
        usual.failure_policy = match policy.as_str() {
            Some("Fail") => FailurePolicy::Fail,
            Some("Ignore") => FailurePolicy::Ignore,
            _ => return Err(refused("failurePolicy", "must be Fail or Ignore")),
        };
    }
    if let Some(seconds) = values.get("timeoutSeconds") {
        let seconds = seconds.as_u64().and_then(|it| u8::try_from(it).ok()).filter(|it| (1..=30).contains(it));
        usual.timeout_seconds = seconds.ok_or_else(|| refused("timeoutSeconds", "must be a number from 1 to 30"))?;
    }
    if let Some(given) = values.get("namespaceSelector") {
        let given = given.as_object().ok_or_else(|| refused("namespaceSelector", "must be a label selector"))?;
        usual.namespace_selector = narrowed(usual.namespace_selector, given);
    }
    Ok(usual)
}

fn refused(name: &str, why: &str) -> ConfigError {
    ConfigError(vec![Problem::of_key(FieldPath::field("webhook") / Segment::Field(name.to_owned().into()), why)])
}

/// What both selectors select.
fn narrowed(usual: Option<Value>, given: &Map<String, Value>) -> Option<Value> {
    let usual = usual.unwrap_or_default();
    let listed = |of: Option<&Value>| of.and_then(Value::as_array).cloned().unwrap_or_default();
    let mut expressions = [listed(given.get("matchExpressions")), listed(usual.get("matchExpressions"))].concat();
    for (key, value) in usual["matchLabels"].as_object().into_iter().flatten() {
        expressions.push(json!({"key": key, "operator": "In", "values": [value]}));
    }
    let mut selector = Map::new();
    if let Some(labels) = given.get("matchLabels").filter(|labels| labels.is_object()) {
        selector.insert("matchLabels".into(), labels.clone());
    }
    if !expressions.is_empty() {
        selector.insert("matchExpressions".into(), expressions.into());
    }
    (!selector.is_empty()).then_some(Value::Object(selector))
}

#[cfg(test)]
mod tests {
    use gateward_core::Webhooks;

    use super::*;
    use crate::operator::Operator;
    use crate::release::Release;

    fn put(webhook: &Value, selector: Option<Value>) -> Result<Installation, String> {
        let release = Release { name: "river".into(), namespace: "zoo".into() };
        let usual = Installation { namespace_selector: selector, ..Webhooks::new().installation(&release) };
        with_values(usual, &WebhookValues::of(&json!({"webhook": webhook}))).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_given_takes_the_place_of_the_usual() {
        let put = put(&json!({"failurePolicy": "Ignore", "timeoutSeconds": 5, "port": 10250}), None).unwrap();
        assert!(matches!(put.failure_policy, FailurePolicy::Ignore));
        assert_eq!((put.timeout_seconds, put.namespace_selector), (5, None));
    }

    #[test]
    fn a_selector_narrows_the_usual_one() {
        let apart = json!({"key": "name", "operator": "NotIn", "values": ["kube-system"]});
        let usual = json!({"matchLabels": {"zone": "a"}, "matchExpressions": [apart]});
        let exists = json!({"key": "team", "operator": "Exists"});
        let given = json!({"matchLabels": {"zone": "b"}, "matchExpressions": [exists]});
        let in_zone = json!({"key": "zone", "operator": "In", "values": ["a"]});
        let wanted = json!({"matchLabels": {"zone": "b"}, "matchExpressions": [exists, apart, in_zone]});
        let narrowed = put(&json!({"namespaceSelector": given}), Some(usual)).unwrap().namespace_selector;
        assert_eq!(narrowed, Some(wanted));
        assert_eq!(put(&json!({"namespaceSelector": {}}), None).unwrap().namespace_selector, None);
    }

    #[test]
    fn what_no_chart_takes_is_refused_where_it_stands() {
        for (webhook, wanted) in [
            (json!({"failurePolicy": "ignore"}), "webhook.failurePolicy: must be Fail or Ignore"),
            (json!({"timeoutSeconds": 31}), "webhook.timeoutSeconds: must be a number from 1 to 30"),
            (json!({"namespaceSelector": "all"}), "webhook.namespaceSelector: must be a label selector"),
        ] {
            let said = put(&webhook, None).unwrap_err();
            assert!(said.contains(wanted), "{said}");
        }
    }
}
