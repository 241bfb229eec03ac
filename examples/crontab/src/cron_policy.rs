//! The kind `CronPolicy`: what the CronTabs that name it may ask for.

use gateward::prelude::*;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Limits for the CronTabs that name the policy.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "stable.example.com", version = "v1", kind = "CronPolicy", plural = "cronpolicies")]
#[serde(rename_all = "camelCase")]
pub struct CronPolicySpec {
    /// The most replicas that a CronTab may have.
    pub max_replicas: i32,
    /// The images that a CronTab may run; empty for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_images: Vec<String>,
    /// Whether the policy must stay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protected: Option<bool>,
}

/// The limit itself has limits.
pub const MAX_REPLICAS: Rule = Rule {
    id: "CRON-09",
    summary: "a policy allows one to ten replicas",
    help: "write a number from 1 to 10",
    ..Rule::on(CREATE_AND_UPDATE)
};

/// A policy can be kept from being deleted.
pub const PROTECTED: Rule = Rule {
    id: "CRON-10",
    summary: "a protected policy is not deleted",
    help: "set spec.protected to false first",
    ..Rule::on(&[Delete])
};

/// The rules on policies.
pub struct Policies;

#[handler]
impl Validator<CronPolicy> for Policies {
    async fn create(&self, new: &CronPolicy, _: &Request) -> Issues {
        limits(new)
    }

    async fn update(&self, _: &CronPolicy, new: &CronPolicy, _: &Request) -> Issues {
        limits(new)
    }

    async fn delete(&self, old: &CronPolicy, _: &Request) -> Issues {
        let mut issues = Issues::new();
        if old.spec.protected == Some(true) {
            let at = FieldPath::field("spec") / "protected";
            issues.add(PROTECTED.forbidden(at).message("a protected policy can't be deleted"));
        }
        issues
    }
}

fn limits(policy: &CronPolicy) -> Issues {
    let mut issues = Issues::new();
    if !(1..=10).contains(&policy.spec.max_replicas) {
        let at = FieldPath::field("spec") / "maxReplicas";
        issues.add(MAX_REPLICAS.invalid(at, policy.spec.max_replicas).message("must be from 1 to 10"));
    }
    issues
}

/// The kind with its rules.
pub fn webhook() -> Webhook<CronPolicy> {
    Webhook::new().validator(Policies).rules([&MAX_REPLICAS, &PROTECTED]).crd(include_str!("../crds/cronpolicies.yaml"))
}
