//! What an annotation keeps of a status belongs to the status: a write of the object leaves it as it is stored, as it
//! leaves the status.
//!
//! Without that, who may write requests but not their status would write the fields that only the other version has, and
//! who replaces a request by a manifest without annotations would lose them.

use dynamo_api::meta::ObjectMeta;
use dynamo_api::{v1alpha1, v1beta1};
use gateward::{Defaulter, Request, handler};

use crate::conversion::preserved::REQUEST_ANNOTATIONS;

/// Keeps the annotation as it is stored.
pub(super) struct KeptStatus;

#[handler]
impl Defaulter<v1alpha1::DynamoGraphDeploymentRequest> for KeptStatus {
    async fn create(
        &self,
        mut new: v1alpha1::DynamoGraphDeploymentRequest,
        _: &Request,
    ) -> v1alpha1::DynamoGraphDeploymentRequest {
        keep(&ObjectMeta::default(), &mut new.metadata);
        new
    }

    async fn update(
        &self,
        old: &v1alpha1::DynamoGraphDeploymentRequest,
        mut new: v1alpha1::DynamoGraphDeploymentRequest,
        _: &Request,
    ) -> v1alpha1::DynamoGraphDeploymentRequest {
        keep(&old.metadata, &mut new.metadata);
        new
    }
}

#[handler]
impl Defaulter<v1beta1::DynamoGraphDeploymentRequest> for KeptStatus {
    async fn create(
        &self,
        mut new: v1beta1::DynamoGraphDeploymentRequest,
        _: &Request,
    ) -> v1beta1::DynamoGraphDeploymentRequest {
        keep(&ObjectMeta::default(), &mut new.metadata);
        new
    }

    async fn update(
        &self,
        old: &v1beta1::DynamoGraphDeploymentRequest,
        mut new: v1beta1::DynamoGraphDeploymentRequest,
        _: &Request,
    ) -> v1beta1::DynamoGraphDeploymentRequest {
        keep(&old.metadata, &mut new.metadata);
        new
    }
}

fn keep(old: &ObjectMeta, new: &mut ObjectMeta) {
    let annotation = REQUEST_ANNOTATIONS.status.annotation();
    match old.annotations.get(annotation) {
        Some(kept) => drop(new.annotations.insert(annotation.to_owned(), kept.clone())),
        None => drop(new.annotations.remove(annotation)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::testing::{alpha, beta};
    use crate::testing::on;

    const ANNOTATION: &str = "nvidia.com/dgdr-status";

    /// The request that keeps this of a status.
    fn keeping(mut request: Value, kept: &Value) -> Value {
        request["metadata"]["annotations"] = json!({"own": "1", ANNOTATION: kept.to_string()});
        request
    }

    fn without(mut request: Value) -> Value {
        request["metadata"]["annotations"] = json!({"own": "1"});
        request
    }

    fn updated(old: &Value, new: &Value) -> Value {
        on(&json!({}), |request| request.default_update(old, new)).patched()["metadata"]["annotations"].clone()
    }

    #[test]
    fn an_update_leaves_what_is_kept_of_a_status() {
        for request in [alpha(&json!({})), beta(&json!({}))] {
            let stored = keeping(request.clone(), &json!({"phase": "Deployed", "dgdName": "g"}));
            let forged = keeping(request.clone(), &json!({"phase": "Ready"}));
            let plain = without(request);
            let (kept, none) = (&stored["metadata"]["annotations"], &plain["metadata"]["annotations"]);
            for new in [&stored, &forged, &plain] {
                assert_eq!(updated(&stored, new), *kept);
                assert_eq!(updated(&plain, new), *none);
            }
        }
    }

    #[test]
    fn a_new_request_keeps_nothing_of_a_status() {
        for request in [alpha(&json!({})), beta(&json!({}))] {
            let forged = keeping(request, &json!({"backend": "vllm", "profilingResults": "configmap/forged"}));
            let created = on(&json!({}), |request| request.default(&forged)).patched();
            assert_eq!(created["metadata"]["annotations"], json!({"own": "1"}));
        }
    }
}
