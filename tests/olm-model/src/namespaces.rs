//! The namespaces of an `OperatorGroup`.

use serde_json::{Map, Value, json};

/// An `OperatorGroup`, as far as webhooks depend on it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OperatorGroup {
    /// Its uid.
    pub uid: String,
    /// The namespaces that it lists.
    pub target_namespaces: Vec<String>,
    /// The namespaces that it selects by labels.
    pub selector: Option<Value>,
}

/// The selector of its webhooks; `None` for a group of all namespaces, which the API server stores as an empty one.
pub fn namespace_selector(group: &OperatorGroup) -> Option<Value> {
    let listed = group.target_namespaces.iter().any(|namespace| !namespace.is_empty());
    if listed {
        // OLM labels the namespaces.
        let label = format!("olm.operatorgroup.uid/{}", group.uid);
        let labels: Map<String, Value> = [(label, Value::from(""))].into_iter().collect();
        return Some(json!({"matchLabels": labels}));
    }
    group.selector.clone()
}
