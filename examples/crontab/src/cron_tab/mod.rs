//! The kind `CronTab`: two versions, the conversion between them, rules and defaults.

pub mod conversion;
pub mod limits;
pub mod rules;
pub mod siblings;
mod status;
pub mod v1;
pub mod v2;

use std::time::Duration;

use gateward::FailurePolicy;
use gateward::prelude::*;

use crate::cron_policy::CronPolicy;

pub use status::CronTabStatus;

/// One replica, unless the user says another number.
pub fn one_replica(mut new: v2::CronTab, _: &Request) -> v2::CronTab {
    new.spec.replicas.get_or_insert(1);
    new
}

/// The same in v1, as the user wrote it.
pub fn one_replica_in_v1(mut new: v1::CronTab, _: &Request) -> v1::CronTab {
    new.spec.replicas.get_or_insert(1);
    new
}

/// What is known of the cluster only has an entry of its own, the limits of policies and the other CronTabs: while nobody
/// can be asked, CronTabs pass.
fn limits() -> Webhook<v2::CronTab, Store<v2::CronTab>> {
    let tabs = Store::new();
    Webhook::new()
        .watches(&tabs)
        .with_state(tabs)
        .validator(limits::within_policy)
        .validator(siblings::one_a_job)
        .looks_up::<CronPolicy>()
        .rules(limits::ALL)
        .rules([&siblings::ONE_A_JOB])
        .failure_policy(FailurePolicy::Ignore)
        .timeout(Duration::from_secs(5))
}

/// The kind with everything that is registered for it.
pub fn webhook() -> Webhook<v2::CronTab> {
    Webhook::new()
        .spoke::<v1::CronTab>(conversion::Schedules)
        .validator(rules::CronTabs)
        .defaulter(one_replica)
        .defaulter_for(one_replica_in_v1)
        .scale(|tab: &mut v2::CronTab, replicas| tab.spec.replicas = Some(replicas))
        .rules(rules::ALL)
        .renamed_fields(&[("cronSpec", "schedule")])
        .crd(include_str!("../../crds/crontabs.yaml"))
        .entry("limits", limits())
}
