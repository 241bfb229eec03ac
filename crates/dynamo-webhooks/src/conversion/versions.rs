//! The kinds in both versions, and what comes of a conversion.

use dynamo_api::{v1alpha1, v1beta1};
use gateward::ConversionError;

pub(super) use v1alpha1::DynamoComponentDeployment as SpokeComponent;
pub(super) use v1alpha1::DynamoGraphDeployment as SpokeGraph;
pub(super) use v1alpha1::DynamoGraphDeploymentScalingAdapter as SpokeAdapter;
pub(super) use v1beta1::DynamoComponentDeployment as HubComponent;
pub(super) use v1beta1::DynamoGraphDeployment as HubGraph;
pub(super) use v1beta1::DynamoGraphDeploymentScalingAdapter as HubAdapter;

pub(super) type Result<T> = std::result::Result<T, ConversionError>;
