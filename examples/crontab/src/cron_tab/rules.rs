//! What a CronTab itself says that it must be.

use super::v2::CronTab;
use crate::REGISTRY;
use gateward::prelude::*;

/// The schedule.
pub const SCHEDULE: Rule = Rule {
    id: "CRON-01",
    summary: "a schedule has five fields",
    help: "write minute, hour, day, month and weekday, such as \"0 4 * * *\"",
    ..Rule::on(CREATE_AND_UPDATE)
};

/// The replicas.
pub const REPLICAS: Rule = Rule {
    id: "CRON-02",
    summary: "a CronTab has at most ten replicas",
    help: "write a number from 0 to 10",
    ..Rule::on(CREATE_AND_UPDATE)
};

/// The image.
pub const IMAGE: Rule = Rule {
    id: "CRON-03",
    summary: "a CronTab runs an image of one registry",
    help: "push the image to registry.example.com",
    ..Rule::on(CREATE_AND_UPDATE)
};

/// The name.
pub const NAME: Rule = Rule {
    id: "CRON-04",
    summary: "a CronTab's name leaves room for a time at its end",
    help: "take a name of at most 52 characters",
    ..Rule::on(CREATE_AND_UPDATE)
};

/// The policy's name.
pub const POLICY_STAYS: Rule = Rule {
    id: "CRON-05",
    summary: "a CronTab keeps its policy",
    help: "delete the CronTab and create it anew",
    ..Rule::on(UPDATE)
};

/// All of them.
pub const ALL: [&Rule; 5] = [&SCHEDULE, &REPLICAS, &IMAGE, &NAME, &POLICY_STAYS];

/// The names of Pods are those of CronTabs with eleven characters more, and no label has more than 63.
const LONGEST_NAME: usize = 52;

/// The rules that need nothing but the object.
pub struct CronTabs;

#[handler]
impl Validator<CronTab> for CronTabs {
    async fn create(&self, new: &CronTab, _: &Request) -> Issues {
        shape(new)
    }

    async fn update(&self, old: &CronTab, new: &CronTab, _: &Request) -> Issues {
        let mut issues = shape(new);
        if old.spec.policy != new.spec.policy {
            let policy = new.spec.policy.as_deref();
            issues.add(POLICY_STAYS.invalid(spec() / "policy", policy).message("never changes"));
        }
        issues
    }
}

fn spec() -> FieldPath {
    FieldPath::field("spec")
}

fn shape(tab: &CronTab) -> Issues {
    let mut issues = Issues::new();
    let schedule = tab.spec.schedule.as_str();
    if schedule.split_whitespace().count() != 5 {
        issues.add(SCHEDULE.invalid(spec() / "schedule", schedule).message("must have five fields"));
    }
    if tab.spec.replicas.is_some_and(|replicas| !(0..=10).contains(&replicas)) {
        issues.add(REPLICAS.invalid(spec() / "replicas", tab.spec.replicas).message("must be from 0 to 10"));
    }
    let image = tab.spec.image.as_str();
    if !image.starts_with(REGISTRY) {
        issues.add(IMAGE.invalid(spec() / "image", image).message(format!("must come from {REGISTRY}")));
    }
    if tab.metadata.name.as_ref().is_some_and(|name| name.len() > LONGEST_NAME) {
        issues.add(NAME.too_long(FieldPath::field("metadata") / "name", LONGEST_NAME));
    }
    issues
}
