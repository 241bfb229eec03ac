//! What the CronTabs of a namespace demand of each other.

use super::v2::CronTab;
use gateward::prelude::*;

/// A second CronTab for one job.
pub const ONE_A_JOB: Rule = Rule {
    id: "CRON-12",
    summary: "no two CronTabs of a namespace run one image on one schedule",
    help: "raise the replicas of the other one, or choose another schedule",
    ..Rule::on(CREATE_AND_UPDATE)
};

/// Looks among the CronTabs of the namespace for one of the same schedule and image.
pub fn one_a_job(new: &CronTab, request: &Request, State(tabs): State<Store<CronTab>>) -> Result<Issues, WebhookError> {
    let is_same = |other: &CronTab| {
        let job = |tab: &CronTab| (tab.spec.schedule.clone(), tab.spec.time_zone.clone(), tab.spec.image.clone());
        job(other) == job(new)
    };
    let others = tabs.others(request)?;
    let finding = |other: &CronTab| {
        let message =
            format!("the CronTab {:?} runs that image then", other.metadata.name.as_deref().unwrap_or_default());
        let at = FieldPath::field("spec") / "schedule";
        ONE_A_JOB.invalid(at, new.spec.schedule.as_str()).message(message)
    };
    Ok(others.iter().find(|other| is_same(other)).map(|other| finding(other)).into_iter().collect())
}
