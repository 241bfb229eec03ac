//! What becomes of configurations and CRDs when a CSV changes or goes.

use serde_json::Value;

use crate::configuration::configuration;
use crate::conversion::reset;
use crate::csv::{Csv, CsvIdentity};
use crate::description::{WebhookDescription, WebhookType};
use crate::hash::description_hash;

/// A write of a configuration.
#[derive(Debug, Clone, PartialEq)]
pub enum ConfigurationChange {
    /// It is created.
    Create(Value),
    /// The first gets webhooks and labels of the second.
    Overwrite(Value, Value),
    /// It is deleted.
    Delete(Value),
}

const GENERATE_NAME: &str = "olm.webhook-description-generate-name";
const HASH: &str = "olm.webhook-description-hash";

fn label<'a>(object: &'a Value, name: &str) -> &'a str {
    object["metadata"]["labels"][name].as_str().unwrap_or_default()
}

fn owned_by(object: &Value, csv: &CsvIdentity) -> bool {
    label(object, "olm.owner") == csv.name && label(object, "olm.owner.namespace") == csv.namespace
}

fn is_of(object: &Value, webhook: &WebhookDescription) -> bool {
    label(object, GENERATE_NAME) == webhook.generate_name
}

/// Whether each description has a configuration of its present hash. A CSV that hasn't is installed again.
pub fn is_healthy(csv: &CsvIdentity, webhooks: &[WebhookDescription], there: &[Value]) -> bool {
    let mut admission = webhooks.iter().filter(|webhook| webhook.webhook_type != WebhookType::Conversion);
    admission.all(|webhook| {
        let mut own = there.iter().filter(|it| owned_by(it, csv) && is_of(it, webhook));
        own.any(|it| label(it, HASH) == description_hash(webhook))
    })
}

/// The writes of an installation: each description is created or overwritten, and what no description asks for is deleted.
pub fn reconciled(
    csv: &CsvIdentity,
    webhooks: &[WebhookDescription],
    there: &[Value],
    namespace_selector: Option<&Value>,
    ca: &str,
) -> Vec<ConfigurationChange> {
    let own: Vec<&Value> = there.iter().filter(|it| owned_by(it, csv)).collect();
    let mut changes = Vec::new();
    for webhook in webhooks {
        let Some(wanted) = configuration(webhook, csv, namespace_selector, ca) else { continue };
        let before: Vec<_> = own.iter().filter(|it| is_of(it, webhook)).collect();
        if before.is_empty() {
            changes.push(ConfigurationChange::Create(wanted.clone()));
        }
        changes.extend(before.into_iter().map(|it| ConfigurationChange::Overwrite((*it).clone(), wanted.clone())));
    }
    let stale = own.into_iter().filter(|it| !webhooks.iter().any(|webhook| is_of(it, webhook)));
    changes.extend(stale.map(|it| ConfigurationChange::Delete(it.clone())));
    changes
}

/// What is left of an installation once its CSV is deleted.
#[derive(Debug, Clone, PartialEq)]
pub struct Removal {
    /// The configurations that are deleted.
    pub configurations: Vec<Value>,
    /// The CRDs whose conversion is put back, as they are then. No CRD is deleted.
    pub crds: Vec<Value>,
}

/// What deleting a CSV brings about. `replaced_by` is a CSV of the namespace that says that it replaces this one.
pub fn removal(csv: &Csv, namespace: &str, there: &[Value], crds: &[Value], replaced_by: Option<&str>) -> Removal {
    let identity = CsvIdentity { name: csv.name.clone(), namespace: namespace.to_owned() };
    let converted: Vec<&str> = csv
        .webhooks
        .iter()
        .filter(|webhook| webhook.webhook_type == WebhookType::Conversion)
        .flat_map(|webhook| webhook.conversion_crds.iter().map(String::as_str))
        .collect();
    let is_converted = |crd: &&Value| crd["metadata"]["name"].as_str().is_some_and(|name| converted.contains(&name));
    let crds = if replaced_by.is_some() { Vec::new() } else { crds.iter().filter(is_converted).map(reset).collect() };
    Removal { configurations: there.iter().filter(|it| owned_by(it, &identity)).cloned().collect(), crds }
}
