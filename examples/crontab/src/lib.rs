//! CronTabs of two versions, the CronPolicies that limit them, and the Pods that they start.

pub mod cron_policy;
pub mod cron_tab;
pub mod pod;

use gateward::prelude::*;

/// Where images come from.
pub const REGISTRY: &str = "registry.example.com/";

/// All kinds of the operator.
pub fn webhooks() -> Webhooks {
    Webhooks::new()
        .register(cron_tab::webhook())
        .register(cron_policy::webhook())
        .register(pod::webhook())
        .register(pod::debug_containers())
}
