//! The configuration file of a release, as its ConfigMap has it.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::ListParams;

use super::error::InspectError;
use crate::connection::Connection;
use crate::request::with_read_timeout;

/// How many objects with the labels are looked at.
const LIMIT: u32 = 20;

/// The file of this name in a ConfigMap of the namespace that has these labels; `None` where there is no such ConfigMap.
pub async fn configuration_file(
    connection: &Connection,
    namespace: &str,
    labels: &BTreeMap<String, String>,
    file: &str,
) -> Result<Option<String>, InspectError> {
    let selector = labels.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(",");
    let api: Api<ConfigMap> = Api::namespaced(connection.client(), namespace);
    let list = with_read_timeout(api.list(&ListParams::default().labels(&selector).limit(LIMIT))).await?;
    Ok(list.items.into_iter().find_map(|it| it.data?.remove(file)))
}
