//! What the policy that a CronTab names demands of it.

use super::v2::CronTab;
use crate::cron_policy::CronPolicy;
use gateward::prelude::*;

/// The policy itself.
pub const POLICY_EXISTS: Rule = Rule {
    id: "CRON-06",
    summary: "the policy of a CronTab exists",
    help: "create the CronPolicy first",
    ..Rule::on(CREATE_AND_UPDATE)
};

/// The policy's limit.
pub const POLICY_REPLICAS: Rule = Rule {
    id: "CRON-07",
    summary: "a CronTab has no more replicas than its policy allows",
    help: "ask for fewer, or name another policy",
    ..Rule::on(CREATE_AND_UPDATE)
};

/// The policy's images.
pub const POLICY_IMAGE: Rule = Rule {
    id: "CRON-08",
    summary: "a CronTab runs an image that its policy allows",
    help: "choose one of spec.allowedImages of the policy",
    ..Rule::on(CREATE_AND_UPDATE)
};

/// All of them.
pub const ALL: [&Rule; 3] = [&POLICY_EXISTS, &POLICY_REPLICAS, &POLICY_IMAGE];

/// Looks the policy up. A CronTab that names none is not limited.
pub async fn within_policy(new: &CronTab, request: &Request) -> Result<Issues, WebhookError> {
    let Some(name) = &new.spec.policy else { return Ok(Issues::new()) };
    let Some(policy) = request.find::<CronPolicy>(None, name).await? else {
        let at = FieldPath::field("spec") / "policy";
        let missing = POLICY_EXISTS.invalid(at, name.as_str()).message("there is no such CronPolicy");
        return Ok(Issues::from_iter([missing]));
    };
    Ok(beyond(&policy, new))
}

/// What goes beyond the policy.
fn beyond(policy: &CronPolicy, tab: &CronTab) -> Issues {
    let spec = || FieldPath::field("spec");
    let mut issues = Issues::new();
    let most = policy.spec.max_replicas;
    if tab.spec.replicas > Some(most) {
        let finding = POLICY_REPLICAS.invalid(spec() / "replicas", tab.spec.replicas);
        issues.add(finding.message(format!("the policy allows at most {most}")));
    }
    let allowed: Vec<_> = policy.spec.allowed_images.iter().map(String::as_str).collect();
    if !allowed.is_empty() && !allowed.contains(&tab.spec.image.as_str()) {
        issues.add(POLICY_IMAGE.not_supported(spec() / "image", tab.spec.image.as_str(), &allowed));
    }
    issues
}
