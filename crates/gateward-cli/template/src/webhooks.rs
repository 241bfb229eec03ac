//! What is declared. Routes, manifests, the offline check and the catalogue of rules follow from it.

use gateward::prelude::*;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt;
use kube::core::crd::{MergeError, merge_crds};

use crate::conversion::Versions;
use crate::rules;
use crate::v1::__kind__ as V1;
use crate::v2::__kind__ as V2;

/// All kinds of the operator.
pub fn webhooks() -> Webhooks {
    Webhooks::new().register(kind())
}

fn kind() -> Webhook<V2> {
    Webhook::new()
        .spoke::<V1>(Versions)
        .validator(rules::Rules)
        .defaulter(rules::one_replica)
        .defaulter_for(rules::one_replica_in_v1)
        .rules(rules::ALL)
        .renamed_fields(&[("size", "replicas")])
        .crd(crd().expect("v1 and v2 are versions of one kind"))
}

/// The CRD of both versions, as their types are; v2 is stored.
pub fn crd() -> Result<CustomResourceDefinition, MergeError> {
    merge_crds(vec![V1::crd(), V2::crd()], "v2")
}
