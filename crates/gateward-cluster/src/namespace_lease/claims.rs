//! Which namespaces are claimed by operators of one namespace, and for what.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gateward_core::ReviewSubject;

use super::record::ObservedLease;
use super::webhook::ClaimingWebhook;

/// The webhooks of other releases that were observed.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ObservedWebhooks(Vec<ObservedWebhook>);

/// A webhook, and since when it has been observed as it is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ObservedWebhook {
    pub(crate) webhook: Arc<ClaimingWebhook>,
    pub(crate) since: Instant,
}

/// All claims at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Claims {
    namespaces: BTreeMap<String, NamespaceClaim>,
    /// When they change by time alone.
    pub(crate) changes_at: Option<Instant>,
}

/// The claim on one namespace.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NamespaceClaim {
    pub(crate) state: ClaimState,
    /// Who holds the leases.
    pub(crate) holders: Vec<String>,
    /// When the last of them expires unless it is renewed.
    pub(crate) until: Option<Instant>,
    /// The webhooks that stand behind it.
    pub(crate) webhooks: Vec<Arc<ClaimingWebhook>>,
}

/// How far a claim counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClaimState {
    /// What its webhooks cover is left to its operator.
    Counted,
    /// There is a lease, but no webhook of another release that refuses what it can't judge: it counts for nothing.
    LeaseAlone,
    /// Its lease was released or has expired.
    Expired,
}

impl ObservedWebhooks {
    /// The next observation: the time restarts for each webhook that is another than before.
    pub(crate) fn after(before: &Self, now_seen: Vec<ClaimingWebhook>, now: Instant) -> Self {
        let observed = now_seen.into_iter().map(|webhook| {
            let known = before.0.iter().find(|known| known.webhook.is_called_as(&webhook));
            let since = known.map_or(now, |known| known.since);
            ObservedWebhook { webhook: Arc::new(webhook), since }
        });
        Self(observed.collect())
    }
}

impl FromIterator<ObservedWebhook> for ObservedWebhooks {
    fn from_iter<I: IntoIterator<Item = ObservedWebhook>>(observed: I) -> Self {
        Self(observed.into_iter().collect())
    }
}

impl Claims {
    /// What is claimed `now`. A webhook counts once API servers have had the time `settle` to hear of it.
    pub(crate) fn of<'a>(
        leases: impl IntoIterator<Item = &'a ObservedLease>,
        webhooks: &ObservedWebhooks,
        settle: Duration,
        now: Instant,
    ) -> Self {
        let mut claims = Self::default();
        for seen in leases {
            let claim = claims.namespaces.entry(seen.lease.namespace.clone()).or_insert(NamespaceClaim {
                state: ClaimState::Expired,
                holders: Vec::new(),
                until: None,
                webhooks: Vec::new(),
            });
            if seen.is_live(now) {
                claim.state = ClaimState::LeaseAlone;
                claim.holders.extend(seen.lease.holder.clone());
                claim.until = claim.until.max(seen.expiry());
                claims.changes_at = earlier(claims.changes_at, seen.expiry());
            }
        }
        for ObservedWebhook { webhook, since } in &webhooks.0 {
            for namespace in &webhook.namespaces {
                let Some(claim) = claims.namespaces.get_mut(namespace) else { continue };
                if claim.state == ClaimState::Expired {
                    continue;
                }
                if now < *since + settle {
                    claims.changes_at = earlier(claims.changes_at, Some(*since + settle));
                    continue;
                }
                claim.state = ClaimState::Counted;
                claim.webhooks.push(Arc::clone(webhook));
            }
        }
        claims
    }

    /// The webhooks that stand behind the claim on what a review is about, at a later moment: the reader may be late.
    pub(crate) fn behind(&self, subject: &ReviewSubject<'_>, now: Instant) -> impl Iterator<Item = &ClaimingWebhook> {
        let claim = self.namespaces.get(subject.namespace);
        let live = claim.filter(|claim| claim.until.is_some_and(|until| now < until));
        let webhooks = live.into_iter().flat_map(|claim| &claim.webhooks);
        webhooks.map(AsRef::as_ref).filter(|webhook| webhook.covers(subject))
    }

    /// Whether an operator of one namespace has claimed what a review is about.
    pub(crate) fn covers(&self, subject: &ReviewSubject<'_>) -> bool {
        let claim = self.namespaces.get(subject.namespace);
        claim.is_some_and(|claim| claim.webhooks.iter().any(|webhook| webhook.covers(subject)))
    }

    /// The namespaces with a lease.
    pub(crate) fn namespaces(&self) -> impl Iterator<Item = (&str, &NamespaceClaim)> {
        self.namespaces.iter().map(|(namespace, claim)| (namespace.as_str(), claim))
    }
}

fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    [one, other].into_iter().flatten().min()
}

impl ClaimState {
    /// The word that metrics use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Counted => "counted",
            Self::LeaseAlone => "lease_alone",
            Self::Expired => "expired",
        }
    }
}

impl fmt::Display for ClaimState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use gateward_core::{Operation, Review};
    use k8s_openapi::api::admissionregistration::v1::RuleWithOperations;
    use k8s_openapi::jiff::Timestamp;

    use super::*;
    use crate::namespace_lease::record::{LeaseVersion, NamespaceLease};
    use crate::namespace_lease::webhook::{ConfigurationVersion, Versions, WebhookRule};

    const SETTLE: Duration = Duration::from_secs(5);
    const SECOND: Duration = Duration::from_secs(1);

    fn subject(resource: &'static str, operation: Operation, review: Review) -> ReviewSubject<'static> {
        ReviewSubject {
            namespace: "team-a",
            group: "zoo.org",
            resource,
            version: "v1",
            versions: &["v1"],
            operation: Some(operation),
            review,
        }
    }

    fn lease(name: &str, holder: &str, since: Instant) -> ObservedLease {
        let lease = NamespaceLease {
            namespace: "team-a".into(),
            name: name.into(),
            holder: Some(holder.into()),
            duration: Some(30 * SECOND),
            renewed: Some(Timestamp::UNIX_EPOCH),
            version: LeaseVersion::default(),
        };
        ObservedLease { lease, since }
    }

    fn webhook(review: Review, resource: &str, operation: &str) -> ClaimingWebhook {
        let words = |word: &str| Some(vec![word.to_owned()]);
        let rule = RuleWithOperations {
            api_groups: words("zoo.org"),
            api_versions: words("v1"),
            operations: words(operation),
            resources: words(resource),
            scope: None,
        };
        ClaimingWebhook {
            review,
            configuration: "river".into(),
            version: ConfigurationVersion { uid: "u".into(), resource_version: "7".into() },
            entry: resource.into(),
            namespaces: vec!["team-a".into()],
            rules: vec![WebhookRule { rule, versions: Versions::Equivalent }],
        }
    }

    fn observed(webhooks: Vec<ClaimingWebhook>, at: Instant) -> ObservedWebhooks {
        ObservedWebhooks::after(&ObservedWebhooks::default(), webhooks, at)
    }

    fn state(claims: &Claims) -> Option<ClaimState> {
        claims.namespaces().find(|(namespace, _)| *namespace == "team-a").map(|(_, claim)| claim.state)
    }

    #[test]
    fn a_claim_counts_for_each_kind_operation_and_stage_by_itself() {
        let start = Instant::now();
        let webhooks = observed(vec![webhook(Review::Validate, "otters", "CREATE")], start);
        let claims = Claims::of([&lease("lock", "river/1", start)], &webhooks, SETTLE, start + SETTLE);
        assert_eq!(state(&claims), Some(ClaimState::Counted));
        assert!(claims.covers(&subject("otters", Operation::Create, Review::Validate)));
        assert!(!claims.covers(&subject("otters", Operation::Update, Review::Validate)));
        assert!(!claims.covers(&subject("otters", Operation::Create, Review::Mutate)));
        assert!(!claims.covers(&subject("herons", Operation::Create, Review::Validate)));
    }

    #[test]
    fn a_lease_alone_counts_for_nothing_and_is_reported() {
        let start = Instant::now();
        let claims = Claims::of([&lease("lock", "forger", start)], &ObservedWebhooks::default(), SETTLE, start);
        assert_eq!(state(&claims), Some(ClaimState::LeaseAlone));
        assert!(!claims.covers(&subject("otters", Operation::Create, Review::Validate)));
    }

    #[test]
    fn a_webhook_alone_claims_nothing() {
        let start = Instant::now();
        let webhooks = observed(vec![webhook(Review::Validate, "otters", "CREATE")], start);
        let claims = Claims::of([], &webhooks, SETTLE, start + SETTLE);
        assert!(!claims.covers(&subject("otters", Operation::Create, Review::Validate)));
    }

    #[test]
    fn a_claim_ends_with_its_lease_and_begins_once_api_servers_know_its_webhook() {
        let start = Instant::now();
        let webhooks = observed(vec![webhook(Review::Validate, "otters", "CREATE")], start);
        let held = lease("lock", "river/1", start);
        let at = |now| Claims::of([&held], &webhooks, SETTLE, now);
        assert_eq!((state(&at(start)), at(start).changes_at), (Some(ClaimState::LeaseAlone), Some(start + SETTLE)));
        let counted = at(start + SETTLE);
        assert_eq!((state(&counted), counted.changes_at), (Some(ClaimState::Counted), Some(start + 35 * SECOND)));
        assert_eq!(state(&at(start + 35 * SECOND)), Some(ClaimState::Expired));
    }

    #[test]
    fn a_claim_that_is_looked_at_late_has_ended_all_the_same() {
        let start = Instant::now();
        let webhooks = observed(vec![webhook(Review::Validate, "otters", "CREATE")], start);
        let claims = Claims::of([&lease("lock", "river/1", start)], &webhooks, SETTLE, start + SETTLE);
        let subject = subject("otters", Operation::Create, Review::Validate);
        assert_eq!(claims.behind(&subject, start + 34 * SECOND).count(), 1);
        assert_eq!(claims.behind(&subject, start + 35 * SECOND).count(), 0);
    }

    #[test]
    fn either_of_two_leases_claims_a_namespace() {
        let start = Instant::now();
        let now = start + 60 * SECOND;
        let webhooks = observed(vec![webhook(Review::Validate, "otters", "CREATE")], start);
        let (silent, released) = (lease("lock", "river/1", start), lease("scope", "operator-1.5.0", now));
        let claims = Claims::of([&silent, &released], &webhooks, SETTLE, now);
        assert_eq!(state(&claims), Some(ClaimState::Counted));
        let claims = Claims::of([&released, &silent], &webhooks, SETTLE, now);
        assert!(claims.covers(&subject("otters", Operation::Create, Review::Validate)));
    }

    #[test]
    fn a_webhook_whose_object_was_written_goes_on_and_one_that_was_made_anew_has_to_settle() {
        let start = Instant::now();
        let seen = webhook(Review::Validate, "otters", "CREATE");
        let (mut written, mut remade) = (seen.clone(), seen.clone());
        written.version.resource_version = "8".into();
        remade.version = ConfigurationVersion { uid: "v".into(), resource_version: "8".into() };
        let held = lease("lock", "river/1", start);
        let after = |webhook: ClaimingWebhook| {
            let observed = ObservedWebhooks::after(&observed(vec![seen.clone()], start), vec![webhook], start + SETTLE);
            Claims::of([&held], &observed, SETTLE, start + SETTLE)
        };
        let subject = subject("otters", Operation::Create, Review::Validate);
        let goes_on = after(written.clone());
        assert_eq!(goes_on.behind(&subject, start + SETTLE).collect::<Vec<_>>(), [&written]);
        assert!(!after(remade).covers(&subject));
    }

    #[test]
    fn a_webhook_that_changes_has_to_settle_anew() {
        let start = Instant::now();
        let (create, update) =
            (webhook(Review::Validate, "otters", "CREATE"), webhook(Review::Validate, "otters", "*"));
        let first = observed(vec![create.clone()], start);
        let same = ObservedWebhooks::after(&first, vec![create], start + SECOND);
        assert_eq!(same, first);
        let changed = ObservedWebhooks::after(&same, vec![update], start + SETTLE);
        let held = lease("lock", "river/1", start);
        let claims = Claims::of([&held], &changed, SETTLE, start + SETTLE);
        assert!(!claims.covers(&subject("otters", Operation::Create, Review::Validate)));
    }
}
