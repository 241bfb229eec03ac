//! The JSON Patch that writes `caBundle`s and no other field. It fails if the object has changed since it was read.

use gateward_certs::CaBundle;
use json_patch::jsonptr::PointerBuf;
use json_patch::{AddOperation, Patch, PatchOperation, TestOperation};
use k8s_openapi::ByteString;
use serde_json::Value;

/// Where the `caBundle` is in an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CaBundleLocation {
    /// In an entry of `webhooks`, a list that others may reorder.
    Webhook { index: usize, name: String },
    /// In the conversion stanza.
    Conversion,
}

/// The patch that writes bundles into an object of some version.
pub(crate) fn patch<'a>(
    version: &str,
    bundles: impl IntoIterator<Item = (&'a CaBundleLocation, &'a CaBundle)>,
) -> Patch {
    let mut operations = vec![test(&["metadata", "resourceVersion"], version)];
    for (location, bundle) in bundles {
        match location {
            CaBundleLocation::Webhook { index, name } => {
                let index = index.to_string();
                operations.push(test(&["webhooks", &index, "name"], name));
                operations.push(add(&["webhooks", &index, "clientConfig", "caBundle"], bundle));
            }
            CaBundleLocation::Conversion => {
                operations.push(test(&["spec", "conversion", "strategy"], "Webhook"));
                operations.push(add(&["spec", "conversion", "webhook", "clientConfig", "caBundle"], bundle));
            }
        }
    }
    Patch(operations)
}

fn test(path: &[&str], value: &str) -> PatchOperation {
    PatchOperation::Test(TestOperation { path: PointerBuf::from_tokens(path.iter().copied()), value: value.into() })
}

fn add(path: &[&str], bundle: &CaBundle) -> PatchOperation {
    PatchOperation::Add(AddOperation { path: PointerBuf::from_tokens(path.iter().copied()), value: base64(bundle) })
}

/// A `caBundle` as the API server takes it.
pub(crate) fn base64(bundle: &CaBundle) -> Value {
    serde_json::to_value(ByteString(bundle.to_pem().into_bytes())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_bundle_is_written_where_version_and_entry_are_those_that_were_read() {
        let location = CaBundleLocation::Webhook { index: 2, name: "a.zoo.org".to_owned() };
        let patch =
            patch("7", [(&location, &CaBundle::default()), (&CaBundleLocation::Conversion, &CaBundle::default())]);
        assert_eq!(
            serde_json::to_value(patch).unwrap(),
            json!([
                {"op": "test", "path": "/metadata/resourceVersion", "value": "7"},
                {"op": "test", "path": "/webhooks/2/name", "value": "a.zoo.org"},
                {"op": "add", "path": "/webhooks/2/clientConfig/caBundle", "value": ""},
                {"op": "test", "path": "/spec/conversion/strategy", "value": "Webhook"},
                {"op": "add", "path": "/spec/conversion/webhook/clientConfig/caBundle", "value": ""},
            ])
        );
    }
}
