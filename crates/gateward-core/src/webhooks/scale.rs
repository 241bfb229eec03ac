//! Changes of the subresource `scale`, judged as the changes of the object that they are.

use std::marker::PhantomData;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use crate::json::decode::{Lists, Sent};
use crate::rule::cluster::{Lookup, ObjectName};
use crate::rule::into_handler::DynValidator;
use crate::rule::resource::{GroupVersionKind, Resource};
use crate::rule::review_object::ReviewObject;
use crate::rule::verdict::Verdict;
use crate::webhooks::declaration::{Declaration, DeletingObjects};
use crate::webhooks::metadata;
use crate::webhooks::objects::{AsItIs, ObjectReader, verdict_of};
use crate::webhooks::read::{missing, read};
use crate::webhooks::subresource::SCALE;
use crate::webhooks::webhook_error::WebhookError;
use crate::wire::operation::Operation;
use crate::wire::request::Request;
use crate::wire::review::AdmissionReview;

/// Writes a number of replicas into an object.
pub(crate) type SetReplicas<H> = Arc<dyn Fn(&mut H, i32) + Send + Sync>;

/// An object of `autoscaling/v1`, as far as it matters.
#[derive(serde::Serialize, Deserialize)]
struct Scale {
    #[serde(default)]
    spec: ScaleSpec,
}

#[derive(Default, serde::Serialize, Deserialize)]
struct ScaleSpec {
    /// Absent is zero, as for the API server.
    #[serde(default)]
    replicas: i32,
}

crate::resource!(Scale, "autoscaling/v1", "Scale", "scales");

/// Whether the request changes the subresource of a resource.
pub(crate) fn is_scale(request: &Request, group: &str, plural: &str) -> bool {
    let resource = (&*request.resource.group, &*request.resource.resource);
    request.operation == Some(Operation::Update)
        && request.sub_resource.as_deref() == Some(SCALE)
        && resource == (group, plural)
        && request.kind == Scale::gvk()
}

/// What the rules on updates say of the stored object with the new number of replicas.
///
/// The object is looked up in the hub's version, whichever the request names. One that is gone has nothing to be judged,
/// nor has one that is being deleted where the kind's updates then pass. What can't be read of it counts as absent before
/// and after the change; where that is all of it, there is no verdict.
pub(crate) async fn validate<H: ReviewObject>(
    declared: &Declaration,
    validators: &[Arc<dyn DynValidator<H>>],
    set_replicas: &SetReplicas<H>,
    review: &AdmissionReview<'_>,
) -> Verdict {
    match changed(declared, set_replicas, review).await {
        Ok(Some((old, new))) => verdict_of(validators, |validator| validator.update(&old, &new, &review.request)).await,
        Ok(None) => Verdict::allow(),
        Err(why) => why,
    }
}

/// The object as it is stored, and as it would be.
async fn changed<H: ReviewObject>(
    declared: &Declaration,
    set_replicas: &SetReplicas<H>,
    review: &AdmissionReview<'_>,
) -> Result<Option<(H, H)>, Verdict> {
    let raw = review.object.ok_or_else(|| missing("object"))?.get();
    let Sent { value: Scale { spec: ScaleSpec { replicas } }, .. } = read(raw)?;
    let request = &review.request;
    let GroupVersionKind { group, version, .. } = declared.hub.clone();
    let name = ObjectName {
        group,
        version,
        plural: declared.plural.to_string(),
        namespace: request.namespace.clone(),
        name: request.name.clone().unwrap_or_default(),
    };
    let stored = match request.cluster()?.get(&name).await {
        Lookup::Found(stored) => stored.to_string(),
        Lookup::Absent => return Ok(None),
        Lookup::Unreadable(why) => return Err(WebhookError::Unavailable(why).into()),
    };
    if declared.deleting_objects == DeletingObjects::Skip && metadata::is_deleted(&stored) {
        return Ok(None);
    }
    let [Some(old), Some(mut new)] = [stored_object(&stored), stored_object(&stored)] else {
        let why =
            format!("the {} {:?} that is scaled can't be read: it is no object of its kind", declared.hub, name.name);
        return Err(WebhookError::Unavailable(why).into());
    };
    set_replicas(&mut new, replicas);
    Ok(Some((old, new)))
}

/// The object, if it can be read, with so many replicas.
pub(crate) fn scaled<H: ReviewObject>(set_replicas: &SetReplicas<H>, json: &str, replicas: i32) -> Option<Value> {
    let mut object = stored_object(json)?;
    set_replicas(&mut object, replicas);
    serde_json::to_value(&object).ok()
}

/// What can be read of a stored object: who scales it can't mend it.
fn stored_object<H: ReviewObject>(json: &str) -> Option<H> {
    AsItIs::<H>(PhantomData).leniently(json, None, Lists::Unbounded).map(|lenient| lenient.value)
}
