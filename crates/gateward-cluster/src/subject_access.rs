//! Whether a user may do something, as the API server sees it.

use std::time::Duration;

use k8s_openapi::api::authorization::v1::{SubjectAccessReview, SubjectAccessReviewSpec};
use kube::api::PostParams;
use kube::{Api, Client};

use crate::failure::{RequestError, with_timeout};

/// Whether what is asked about is granted.
pub(crate) async fn is_granted(
    client: &Client,
    timeout: Duration,
    spec: SubjectAccessReviewSpec,
) -> Result<bool, RequestError> {
    let review = SubjectAccessReview { spec, ..SubjectAccessReview::default() };
    let api = Api::<SubjectAccessReview>::all(client.clone());
    let answer = with_timeout(timeout, api.create(&PostParams::default(), &review)).await?;
    Ok(answer.status.is_some_and(|status| status.allowed))
}
