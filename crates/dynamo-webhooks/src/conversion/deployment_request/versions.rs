//! The types of the kind in both versions.

use dynamo_api::{v1alpha1, v1beta1};

pub(super) type SpokeObject = v1alpha1::DynamoGraphDeploymentRequest;
pub(super) type SpokeSpec = v1alpha1::DynamoGraphDeploymentRequestSpec;
pub(super) type SpokeStatus = v1alpha1::DynamoGraphDeploymentRequestStatus;
pub(super) type HubObject = v1beta1::DynamoGraphDeploymentRequest;
pub(super) type HubSpec = v1beta1::DynamoGraphDeploymentRequestSpec;
pub(super) type HubStatus = v1beta1::DynamoGraphDeploymentRequestStatus;
