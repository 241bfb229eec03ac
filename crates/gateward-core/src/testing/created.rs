//! An object created before one validator alone.

use std::future::Future;

use super::findings::Findings;
use super::request::TestRequest;
use crate::rule::into_handler::IntoValidator;
use crate::rule::resource::Resource;
use crate::webhooks::Webhooks;
use crate::webhooks::webhook::Webhook;

/// What `validator` finds in a new `object`.
pub(super) fn created<K: Resource, M, V: IntoValidator<K, M>>(
    validator: V,
    object: &K,
) -> impl Future<Output = Findings> + Send + use<K, M, V> {
    let webhooks = Webhooks::new().register(Webhook::<K>::new().validator(validator));
    let mut document = serde_json::to_value(object).unwrap_or_default();
    document["apiVersion"] = K::gvk().api_version().into();
    document["kind"] = K::kind().into();
    async move { TestRequest::of(&webhooks).with_unlisted_rules().asynchronous().create(&document).await }
}
