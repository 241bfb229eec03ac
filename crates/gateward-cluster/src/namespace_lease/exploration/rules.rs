//! The code that ships, as each process of the world asks it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gateward_core::{Operation, Review, ReviewSubject};
use k8s_openapi::api::admissionregistration::v1::RuleWithOperations;
use k8s_openapi::jiff::{SignedDuration, Timestamp};

use super::settings::{Holders, Settings};
use crate::config::{ClaimedNamespaces, NamespaceLeaseTimes};
use crate::namespace_lease::claims::{Claims, ObservedWebhook, ObservedWebhooks};
use crate::namespace_lease::exclusion::{ExcludedClaims, OwnConfiguration, OwnWebhook, marker};
use crate::namespace_lease::holder::{Holder, Role, Step, Successor, next_step};
use crate::namespace_lease::presence::PresentConfigurations;
use crate::namespace_lease::record::{LeaseVersion, NamespaceLease, ObservedLease};
use crate::namespace_lease::webhook::{ClaimingWebhook, ConfigurationVersion, Versions, WebhookRule};

/// For how long a webhook has to have been there.
pub(super) const SETTLE: u16 = 5_000;
/// Longer than anything is measured.
pub(super) const LONG: u16 = 45_000;

/// A lease as somebody has seen it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct SeenLease {
    pub(super) holder: u8,
    /// Whether it has not been renewed since.
    pub(super) is_current: bool,
    pub(super) age: u16,
}

/// What a watcher has seen: the lease, and for how long each webhook.
pub(super) type WatcherView = (Option<SeenLease>, [Option<u16>; 2]);

/// Which webhooks a read shows; `None` where it isn't answered.
pub(super) type Answer = Option<[bool; 2]>;

/// The code that ships, asked once for each thing that it can see.
pub(super) struct Rules {
    base: Instant,
    settings: Settings,
    passes: HashMap<(WatcherView, Answer), bool>,
    left_out: HashMap<WatcherView, bool>,
    steps: HashMap<(usize, Option<SeenLease>, RoleKey), Step>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum RoleKey {
    Leading,
    Following,
    Leaving(Option<u8>),
}

impl Rules {
    pub(super) fn new(settings: &Settings) -> Self {
        let base = Instant::now() + Duration::from_hours(1);
        Self { base, settings: *settings, passes: HashMap::new(), left_out: HashMap::new(), steps: HashMap::new() }
    }

    fn holder(&self, index: usize) -> Holder {
        let release = match self.settings.holders {
            Holders::Releases => format!("release-{index}"),
            Holders::Replicas => "release".to_owned(),
        };
        Holder { release, pod: format!("pod-{index}") }
    }

    fn lease(&self, holder: u8, renewed: i64) -> NamespaceLease {
        NamespaceLease {
            namespace: "team-a".into(),
            name: "lock".into(),
            holder: Some(self.holder(holder.into()).to_string()),
            duration: Some(Duration::from_secs(30)),
            renewed: Timestamp::UNIX_EPOCH.checked_add(SignedDuration::from_secs(renewed)).ok(),
            version: LeaseVersion { uid: "u".into(), resource_version: "7".into() },
        }
    }

    /// So many milliseconds before the present, which is an hour after the start.
    fn ago(&self, milliseconds: u16) -> Instant {
        self.base.checked_sub(Duration::from_millis(milliseconds.into())).unwrap()
    }

    fn observed(&self, seen: SeenLease) -> ObservedLease {
        let since = self.ago(seen.age);
        ObservedLease { lease: self.lease(seen.holder, 1_000), since }
    }

    /// What somebody sees who looks at the lease.
    pub(super) fn look(&self, before: Option<SeenLease>, lease: Option<u8>) -> Option<SeenLease> {
        let holder = lease?;
        // The next renewal, by a clock that may be behind.
        let renewed =
            if before.is_some_and(|seen| seen.is_current) { 1_000 } else { 1_010 + self.settings.clocks.skew };
        let earlier = before.map(|seen| self.observed(seen));
        let seen = ObservedLease::after(earlier.as_ref(), self.lease(holder, renewed), self.base);
        let age = u16::try_from((self.base - seen.since).as_millis()).unwrap_or(LONG).min(LONG);
        Some(SeenLease { holder, is_current: true, age })
    }

    /// Whether a watcher passes the namespace, given the answer to its question for the webhooks.
    pub(super) fn passes(&mut self, view: WatcherView, answer: Answer) -> bool {
        if let Some(known) = self.passes.get(&(view, answer)) {
            return *known;
        }
        let present = answer.into_iter().flat_map(|present| (0..2).filter(move |index| present[*index]));
        let present: PresentConfigurations = present.map(version).collect();
        let passes = self.claims(view).behind(&SUBJECT, self.base).any(|webhook| present.has(webhook));
        self.passes.insert((view, answer), passes);
        passes
    }

    /// Whether a watcher would leave the namespace out.
    pub(super) fn leaves_out(&mut self, view: WatcherView) -> bool {
        if let Some(known) = self.left_out.get(&view) {
            return *known;
        }
        let leaves_out = leaves_out(&self.claims(view));
        self.left_out.insert(view, leaves_out);
        leaves_out
    }

    fn claims(&self, (seen, webhooks): WatcherView) -> Claims {
        let leases: Vec<ObservedLease> = seen.map(|seen| self.observed(seen)).into_iter().collect();
        let observed = webhooks.into_iter().enumerate().filter_map(|(index, age)| {
            let since = self.ago(age?);
            Some(ObservedWebhook { webhook: Arc::new(webhook(index)), since })
        });
        let observed: ObservedWebhooks = observed.collect();
        Claims::of(&leases, &observed, Duration::from_millis(SETTLE.into()), self.base)
    }

    pub(super) fn step(&mut self, index: usize, seen: Option<SeenLease>, role: RoleKey) -> Step {
        if let Some(known) = self.steps.get(&(index, seen, role)) {
            return known.clone();
        }
        let observed = seen.map(|seen| self.observed(seen));
        let as_role = match role {
            RoleKey::Leading => Role::Leading,
            RoleKey::Following => Role::Following,
            RoleKey::Leaving(None) => Role::Leaving(Successor::None),
            RoleKey::Leaving(Some(other)) => Role::Leaving(Successor::Replica(format!("pod-{other}"))),
        };
        let times = NamespaceLeaseTimes::default();
        let step = next_step(observed.as_ref(), &self.holder(index), &as_role, &times, self.base);
        self.steps.insert((index, seen, role), step.clone());
        step
    }
}

const SUBJECT: ReviewSubject<'static> = ReviewSubject {
    namespace: "team-a",
    group: "zoo.org",
    resource: "otters",
    version: "v1",
    versions: &["v1"],
    operation: Some(Operation::Create),
    review: Review::Validate,
};

fn rule() -> RuleWithOperations {
    let words = |word: &str| Some(vec![word.to_owned()]);
    RuleWithOperations {
        api_groups: words("zoo.org"),
        api_versions: words("v1"),
        operations: words("CREATE"),
        resources: words("otters"),
        scope: None,
    }
}

fn version(index: usize) -> ConfigurationVersion {
    ConfigurationVersion { uid: format!("u-{index}"), resource_version: "7".into() }
}

fn webhook(index: usize) -> ClaimingWebhook {
    ClaimingWebhook {
        review: Review::Validate,
        configuration: format!("release-{index}"),
        version: version(index),
        entry: "otters.zoo.org".into(),
        namespaces: vec!["team-a".into()],
        rules: vec![WebhookRule { rule: rule(), versions: Versions::Equivalent }],
    }
}

/// Whether the selector expression names the namespace.
fn leaves_out(claims: &Claims) -> bool {
    let selector = k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector::default();
    let webhooks = vec![OwnWebhook { name: "otters.lake.org".into(), rules: vec![rule()], selector }];
    let (name, resource_version) = ("lake".to_owned(), "7".to_owned());
    let own = OwnConfiguration { review: Review::Validate, name, resource_version, webhooks };
    let marker = &marker("otter.zoo.org");
    let patch = own.patch(&ExcludedClaims { claims, setting: ClaimedNamespaces::Excluded, marker });
    patch.is_some_and(|patch| {
        let text = serde_json::to_string(&patch).unwrap();
        assert!(text.contains(marker.as_str()));
        text.contains("team-a")
    })
}
