//! A kind whose type is forgotten.

use std::sync::Arc;

use serde_json::Value;

use crate::conversion::ConversionError;
use crate::conversion::attempt::Attempt;
use crate::conversion::keys::ConversionKeys;
use crate::conversion::origins::Origins;
use crate::conversion::source::Source;
use crate::json::patch::Patch;
use crate::rule::issue::Issues;
use crate::rule::verdict::Verdict;
use crate::webhooks::declaration::Declaration;
use crate::webhooks::error::WebhooksError;
use crate::webhooks::future::BoxFuture;
use crate::wire::review::AdmissionReview;

/// A kind whose type is forgotten.
pub(crate) trait AnyKind: Send + Sync {
    fn declaration(&self) -> &Declaration;
    /// Conversion writes under these keys from now on.
    fn use_keys(&mut self, keys: &Arc<ConversionKeys>);
    /// What contradicts itself in the declaration.
    fn problems(&self) -> Vec<WebhooksError>;
    /// The verdict, also on what no other version could say of the object; `None` where no handler is registered for the version.
    fn validate<'a>(&'a self, review: &'a AdmissionReview<'a>) -> BoxFuture<'a, Option<Verdict>>;
    /// The verdict on a change of the subresource `scale`; `None` where it isn't judged.
    fn validate_scale<'a>(&'a self, review: &'a AdmissionReview<'a>) -> BoxFuture<'a, Option<Verdict>>;
    /// The object, if it can be read, with the number of replicas where `.scale` writes it.
    fn scaled(&self, json: &str, replicas: i32) -> Option<Value>;
    /// Converts an object to the version, which is another than its own and declared, as its own is.
    fn convert(&self, source: &Source<'_>, version: &str, issues: &mut Issues) -> Result<Attempt, ConversionError>;
    /// Where the nodes of `converted` stood in `object`, both of which are of declared versions.
    fn origins(&self, object: &Source<'_>, converted: &Source<'_>) -> Origins;
    /// The patch, with a verdict that may refuse.
    fn default<'a>(&'a self, review: &'a AdmissionReview<'a>) -> BoxFuture<'a, Option<(Verdict, Patch)>>;
}
