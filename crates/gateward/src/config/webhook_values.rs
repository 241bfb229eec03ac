//! What the values of a chart say of the webhook configurations.

use serde_json::{Map, Value};

/// `failurePolicy`, `timeoutSeconds` and `namespaceSelector` of the webhooks, as far as the values of a chart have them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WebhookValues(Map<String, Value>);

impl WebhookValues {
    const NAMES: [&str; 3] = ["failurePolicy", "timeoutSeconds", "namespaceSelector"];

    /// Those below the key `webhook` of the values.
    pub fn of(values: &Value) -> Self {
        let webhook = values.get("webhook");
        let given = |name: &str| webhook?.get(name).filter(|value| !value.is_null()).cloned();
        Self(Self::NAMES.into_iter().filter_map(|name| Some((name.to_owned(), given(name)?))).collect())
    }

    /// One of them, by its name.
    #[cfg(feature = "cli")]
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }
}
