//! Whether webhooks of others judge or default the same kinds.

use std::collections::BTreeSet;
use std::time::SystemTime;

use kube::{Api, Client};

use super::check::{PreflightCheck, PreflightResult};
use super::planned_release::{HandOver, PlannedRelease};
use crate::any_lease::AnyLease;
use crate::config::{ControllerConfig, ServedNamespaces};
use crate::connection::Connection;
use crate::injection::{ConflictingWebhook, OtherConfiguration, TargetStore};
use crate::namespace_lease::NamespaceLease;
use crate::request::with_short_timeout;

const CHECK: PreflightCheck = PreflightCheck::ConflictingConfigurations;
/// For so many namespaces it is looked up whether a Lease claims them.
const NAMESPACES: usize = 100;

pub(super) async fn check(connection: &Connection, planned: &PlannedRelease) -> Vec<PreflightResult> {
    let config = &planned.config;
    let others = match TargetStore::new(connection, config).others().await {
        Ok(others) => others,
        Err(why) => return vec![CHECK.not_provable_yet(format!("webhook configurations can't be listed: {why}"))],
    };
    let namespaces: BTreeSet<&str> = others.iter().flat_map(OtherConfiguration::claimed).take(NAMESPACES).collect();
    let mut claimed = BTreeSet::new();
    for namespace in namespaces {
        if is_claimed(&connection.client(), config, namespace, connection.now()).await {
            claimed.insert(namespace.to_owned());
        }
    }
    judge(planned, &others, &claimed)
}

/// Whether a live Lease claims a namespace. One that can't be read claims nothing: the webhook is then reported.
async fn is_claimed(client: &Client, config: &ControllerConfig, namespace: &str, now: SystemTime) -> bool {
    let ServedNamespaces::All(claims) = &config.namespaces else { return false };
    let api: Api<AnyLease> = Api::namespaced(client.clone(), namespace);
    for name in &claims.leases {
        if let Ok(Some(lease)) = with_short_timeout(api.get_opt(name)).await
            && NamespaceLease::read(&lease.0).is_live_at(now)
        {
            return true;
        }
    }
    false
}

/// What the release itself brought goes with the upgrade, and what stands behind a claim is left what it covers. What a
/// predecessor in the same namespace brought is there during the hand-over, and after it where it goes on running.
fn judge(planned: &PlannedRelease, others: &[OtherConfiguration], claimed: &BTreeSet<String>) -> Vec<PreflightResult> {
    let (name, namespace) = (planned.name.as_str(), planned.config.namespace.as_str());
    let foreign = others.iter().filter(|other| !other.belongs_to(name, namespace));
    let conflicting = foreign.filter(|other| !other.claimed().any(|namespace| claimed.contains(namespace)));
    let results = conflicting.flat_map(|other| match handed_over(planned, other) {
        Some(result) => vec![result],
        None => other.conflicts.iter().map(|conflict| CHECK.failed(conflict.to_string())).collect(),
    });
    let mut results: Vec<_> = results.collect();
    if results.is_empty() {
        results.push(CHECK.ok("no webhooks of others judge or default the same kinds"));
    }
    results
}

/// What is said of a configuration of the predecessor. It is known by its label, and without one by the Service that it
/// calls, which is in the release's own namespace.
fn handed_over(planned: &PlannedRelease, other: &OtherConfiguration) -> Option<PreflightResult> {
    let HandOver { namespace_label, guide } = planned.hand_over.as_ref()?;
    let namespace = &planned.config.namespace;
    let first = other.conflicts.first()?;
    let is_near =
        |conflict: &ConflictingWebhook| conflict.called.service().is_some_and(|it| it.namespace == *namespace);
    let sign = if other.is_labelled(namespace_label, namespace) {
        format!("its label {namespace_label}")
    } else if !other.has_label(namespace_label) && other.conflicts.iter().all(is_near) {
        format!("the Service that it calls in {namespace}")
    } else {
        return None;
    };
    Some(CHECK.not_provable_yet(format!(
        "{} also judges or defaults our kinds; by {sign} it is of the operator that hands its webhooks over to this \
         release: go on as {guide} says",
        first.configuration
    )))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::PreflightState;
    use super::super::testing::planned;
    use super::*;
    use crate::config::ServiceName;
    use crate::injection::WebhookEndpoint;

    fn other(release: Option<(&str, &str)>, claims: &[&str]) -> OtherConfiguration {
        let conflict = ConflictingWebhook {
            configuration: "ValidatingWebhookConfiguration badger".into(),
            entry: "otters.badger.org".into(),
            called: WebhookEndpoint::Url("https://badger".into()),
        };
        OtherConfiguration {
            conflicts: vec![conflict],
            labels: BTreeMap::new(),
            release: release.map(|(name, namespace)| (name.to_owned(), namespace.to_owned())),
            claims: claims.iter().map(|namespace| (*namespace).to_owned()).collect(),
        }
    }

    fn judged(other: OtherConfiguration) -> Vec<PreflightResult> {
        judge(&planned(), &[other], &BTreeSet::from(["team-a".to_owned()]))
    }

    #[test]
    fn a_webhook_of_others_is_a_failure_that_names_it() {
        for others in [other(None, &[]), other(Some(("river", "sea")), &[]), other(None, &["team-b"])] {
            let results = judged(others);
            assert_eq!(results.len(), 1);
            assert_eq!(results[0].state, PreflightState::Failed);
            assert_eq!(
                results[0].text,
                "ValidatingWebhookConfiguration badger also judges or defaults our kinds: its webhook otters.badger.org \
                 calls https://badger; remove one"
            );
        }
    }

    #[test]
    fn what_a_predecessor_hands_over_is_not_provable_yet_and_all_else_with_a_label_is_a_failure() {
        let labelled = |label: &str, namespace: &str| OtherConfiguration {
            labels: [(label.to_owned(), namespace.to_owned())].into(),
            ..other(Some(("go", "zoo")), &[])
        };
        for (label, namespace, state) in [
            ("zoo.org/keeper", "zoo", PreflightState::NotProvableYet),
            ("zoo.org/keeper", "lake", PreflightState::Failed),
            ("zoo.org/visitor", "zoo", PreflightState::Failed),
        ] {
            let results = judged(labelled(label, namespace));
            assert_eq!(results.iter().map(|it| it.state).collect::<Vec<_>>(), [state], "{label}={namespace}");
        }
        let without = PlannedRelease { hand_over: None, ..planned() };
        let results = judge(&without, &[labelled("zoo.org/keeper", "zoo")], &BTreeSet::new());
        assert_eq!(results[0].state, PreflightState::Failed);
        assert_eq!(
            judged(labelled("zoo.org/keeper", "zoo"))[0].text,
            "ValidatingWebhookConfiguration badger also judges or defaults our kinds; by its label zoo.org/keeper it is of \
             the operator that hands its webhooks over to this release: go on as the keepers' book says"
        );
    }

    #[test]
    fn a_predecessor_without_the_label_is_known_by_the_service_that_it_calls_in_our_namespace() {
        let calling = |namespace: &str, label: Option<&str>| {
            let service = ServiceName { namespace: namespace.to_owned(), name: "keepers".into() };
            let mut other = other(Some(("go", "zoo")), &[]);
            other.conflicts[0].called = WebhookEndpoint::Service(service);
            other.labels.extend(label.map(|value| ("zoo.org/keeper".to_owned(), value.to_owned())));
            other
        };
        for (namespace, label, state) in [
            ("zoo", None, PreflightState::NotProvableYet),
            ("lake", None, PreflightState::Failed),
            ("zoo", Some("lake"), PreflightState::Failed),
        ] {
            assert_eq!(judged(calling(namespace, label))[0].state, state, "{namespace} {label:?}");
        }
        assert_eq!(
            judged(calling("zoo", None))[0].text,
            "ValidatingWebhookConfiguration badger also judges or defaults our kinds; by the Service that it calls in zoo \
             it is of the operator that hands its webhooks over to this release: go on as the keepers' book says"
        );
    }

    #[test]
    fn what_the_release_brought_before_and_what_stands_behind_a_claim_is_no_conflict() {
        for others in [other(Some(("river", "zoo")), &[]), other(None, &["team-a"])] {
            assert_eq!(judged(others)[0].state, PreflightState::Ok);
        }
        assert_eq!(judge(&planned(), &[], &BTreeSet::new())[0].state, PreflightState::Ok);
    }
}
