//! The injection targets in the stores of the watches, with their `caBundle`s and since when they have had them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use futures_util::FutureExt;
use gateward_certs::rotation::{InjectionTarget, InjectionTargetId};
use kube::runtime::reflector::Store;

use super::classify::TargetObject;
use super::conflicts::ConflictingWebhook;
use super::object::{InjectableKind, InjectableObject};
use crate::config::InjectionRules;
use crate::injected::InjectedCaBundles;
use crate::namespace_lease::ObservedConfigurations;

/// All injection targets that the watches have seen.
#[derive(Debug)]
pub(crate) struct InjectionTargets {
    rules: InjectionRules,
    /// The store of each watch.
    stores: Vec<(InjectableKind, Store<InjectableObject>)>,
    carried: BTreeMap<InjectionTargetId, Carried>,
    /// Bundles that were replaced recently, and when.
    replaced: Vec<(Instant, Vec<u8>)>,
}

#[derive(Debug)]
struct Carried {
    bundle: Vec<u8>,
    since: Instant,
}

/// The present time by the monotonic clock and by the API server's.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    pub(crate) now: Instant,
    pub(crate) api_server_time: Option<SystemTime>,
}

impl InjectionTargets {
    pub(crate) fn new(rules: InjectionRules, stores: Vec<(InjectableKind, Store<InjectableObject>)>) -> Self {
        Self { rules, stores, carried: BTreeMap::new(), replaced: Vec::new() }
    }

    /// All objects with injection targets.
    pub(crate) fn objects(&self) -> Vec<TargetObject> {
        self.watched().iter().filter_map(|(kind, object)| self.rules.classify(*kind, object)).collect()
    }

    /// Webhooks of other configurations for our kinds.
    pub(crate) fn conflicts(&self) -> Vec<ConflictingWebhook> {
        self.watched().iter().flat_map(|(kind, object)| self.rules.conflicts(*kind, object)).collect()
    }

    /// What webhook configurations say of claims on namespaces.
    pub(crate) fn configurations(&self) -> ObservedConfigurations {
        let watched = self.watched();
        ObservedConfigurations {
            is_complete: self.is_complete(),
            failing: None,
            claiming: watched.iter().flat_map(|(kind, object)| self.rules.claiming(*kind, object)).collect(),
            own: watched.iter().filter_map(|(kind, object)| self.rules.own_configuration(*kind, object)).collect(),
        }
    }

    /// What is in the stores, by kind and name.
    fn watched(&self) -> Vec<(InjectableKind, Arc<InjectableObject>)> {
        let mut watched = Vec::new();
        for (kind, store) in &self.stores {
            watched.extend(store.state().into_iter().map(|object| (*kind, object)));
        }
        watched.sort_by(|(kind, object), (other_kind, other)| (kind, object.name()).cmp(&(other_kind, other.name())));
        watched
    }

    /// Whether all watches have synced.
    pub(crate) fn is_complete(&self) -> bool {
        self.stores.iter().all(|(_, store)| store.wait_until_ready().now_or_never().is_some_and(|it| it.is_ok()))
    }

    /// The `caBundle`s that API servers may use, if they observe a change within `settle`.
    pub(crate) fn trust(&self, settle: Duration, now: Instant) -> InjectedCaBundles {
        let recent = self.replaced.iter().filter(|(at, _)| now.saturating_duration_since(*at) < settle);
        let present = self.carried.values().map(|carried| carried.bundle.clone());
        let mut bundles: Vec<_> = present.chain(recent.map(|(_, bundle)| bundle.clone())).collect();
        bundles.retain(|bundle| !bundle.is_empty());
        bundles.sort();
        bundles.dedup();
        let latest =
            self.carried.values().filter(|carried| !carried.bundle.is_empty()).map(|it| it.since + settle).max();
        InjectedCaBundles { bundles, valid_from: self.is_complete().then(|| latest.unwrap_or(now)) }
    }

    /// When [`InjectionTargets::trust`] changes by time alone.
    pub(crate) fn next_change(&self, settle: Duration, now: Instant) -> Option<Instant> {
        self.replaced.iter().map(|(at, _)| *at + settle).filter(|at| *at > now).min()
    }

    /// Compares the bundles in the stores with those before; due after each change of a store.
    pub(crate) fn refresh(&mut self, clock: Clock) {
        let mut before = std::mem::take(&mut self.carried);
        for (kind, object) in self.watched() {
            let entries = self.rules.classify(kind, &object).into_iter().flat_map(|found| found.entries);
            for InjectionTarget { id, bundle, .. } in entries.map(|entry| entry.target) {
                let carried = match before.remove(&id) {
                    Some(carried) if carried.bundle == bundle => carried,
                    Some(carried) => {
                        self.replaced.push((clock.now, carried.bundle));
                        Carried { bundle, since: clock.now }
                    }
                    None => Carried { bundle, since: since(&object, clock) },
                };
                self.carried.insert(id, carried);
            }
        }
        // Far longer than API servers need to observe a change.
        self.replaced.retain(|(at, _)| clock.now.saturating_duration_since(*at) < Duration::from_mins(5));
    }
}

/// Since when an object that is seen for the first time has been unchanged.
fn since(object: &InjectableObject, Clock { now, api_server_time }: Clock) -> Instant {
    let age = object.last_change().zip(api_server_time).and_then(|(changed, time)| time.duration_since(changed).ok());
    age.and_then(|age| now.checked_sub(age)).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use kube::runtime::reflector::store::Writer;
    use kube::runtime::watcher::Event;
    use serde_json::json;

    use super::*;
    use crate::permissions::ResourceName;

    const SETTLE: Duration = Duration::from_secs(5);
    const KIND: InjectableKind = InjectableKind::Validating;

    fn rules() -> InjectionRules {
        let kinds = vec![ResourceName { group: "zoo.org".to_owned(), plural: "otters".to_owned() }];
        InjectionRules {
            validating: "otter".to_owned(),
            mutating: "otter".to_owned(),
            kinds,
            ..InjectionRules::of_zoo()
        }
    }

    fn carrying(bundle: &str) -> InjectableObject {
        let service = json!({"namespace": "zoo", "name": "otter"});
        serde_json::from_value(json!({
            "metadata": {
                "name": "otter",
                "managedFields": [{"manager": "helm", "time": "2027-01-15T08:00:00Z"}],
            },
            "webhooks": [{"name": "a", "clientConfig": {"service": service, "caBundle": bundle}}],
        }))
        .unwrap()
    }

    fn at(now: Instant) -> Clock {
        Clock { now, api_server_time: None }
    }

    /// The targets with the store of one watch.
    fn watched(kind: InjectableKind) -> (InjectionTargets, Writer<InjectableObject>) {
        let store = Writer::new(kind);
        (InjectionTargets::new(rules(), vec![(kind, store.as_reader())]), store)
    }

    /// The targets after a watch has synced without an object.
    fn synced() -> (InjectionTargets, Writer<InjectableObject>) {
        let (known, mut store) = watched(KIND);
        store.apply_watcher_event(&Event::Init);
        store.apply_watcher_event(&Event::InitDone);
        (known, store)
    }

    fn observed(known: &mut InjectionTargets, store: &mut Writer<InjectableObject>, bundle: &str, clock: Clock) {
        store.apply_watcher_event(&Event::Apply(carrying(bundle)));
        known.refresh(clock);
    }

    #[test]
    fn nothing_is_valid_before_every_watch_has_synced() {
        let ((_, synced), (_, mut listing)) = (synced(), watched(InjectableKind::Mutating));
        let stores = vec![(KIND, synced.as_reader()), (InjectableKind::Mutating, listing.as_reader())];
        let (known, now) = (InjectionTargets::new(rules(), stores), Instant::now());
        listing.apply_watcher_event(&Event::Init);
        assert_eq!(known.trust(SETTLE, now).valid_from, None);
        listing.apply_watcher_event(&Event::InitDone);
        assert_eq!(known.trust(SETTLE, now), InjectedCaBundles { bundles: Vec::new(), valid_from: Some(now) });
    }

    #[test]
    fn a_replaced_bundle_counts_until_every_api_server_has_observed_the_change() {
        let ((mut known, mut store), start) = (synced(), Instant::now());
        observed(&mut known, &mut store, "eA==", at(start));
        let later = start + Duration::from_mins(1);
        observed(&mut known, &mut store, "eQ==", at(later));
        let trust = known.trust(SETTLE, later);
        assert_eq!((trust.bundles, trust.valid_from), (vec![b"x".to_vec(), b"y".to_vec()], Some(later + SETTLE)));
        assert_eq!(known.next_change(SETTLE, later), Some(later + SETTLE));
        assert_eq!(known.trust(SETTLE, later + SETTLE).bundles, [b"y"]);
        assert_eq!(known.next_change(SETTLE, later + SETTLE), None);
    }

    #[test]
    fn a_bundle_that_has_long_been_unchanged_is_valid_at_once() {
        let ((mut known, mut store), now) = (synced(), Instant::now() + Duration::from_hours(1));
        let time = SystemTime::UNIX_EPOCH + Duration::from_hours(500_000) + Duration::from_mins(1);
        observed(&mut known, &mut store, "eA==", Clock { now, api_server_time: Some(time) });
        assert!(known.trust(SETTLE, now).valid_from.is_some_and(|from| from + Duration::from_secs(55) == now));
    }

    #[test]
    fn an_empty_bundle_is_left_out() {
        let ((mut known, mut store), now) = (synced(), Instant::now());
        observed(&mut known, &mut store, "", at(now));
        assert_eq!(known.trust(SETTLE, now), InjectedCaBundles { bundles: Vec::new(), valid_from: Some(now) });
    }

    #[test]
    fn an_object_that_a_watch_lists_no_more_is_forgotten() {
        let ((mut known, mut store), now) = (synced(), Instant::now());
        observed(&mut known, &mut store, "eA==", at(now));
        store.apply_watcher_event(&Event::Init);
        known.refresh(at(now));
        assert_eq!((known.objects().len(), known.trust(SETTLE, now).bundles.len()), (1, 1));
        store.apply_watcher_event(&Event::InitDone);
        known.refresh(at(now));
        assert!(known.objects().is_empty() && known.trust(SETTLE, now).bundles.is_empty());
    }

    #[test]
    fn a_conflict_is_known_until_it_changes_or_is_deleted() {
        let badger = |group: &str| {
            let rule = json!({"apiGroups": [group], "resources": ["otters"], "operations": ["CREATE"]});
            let webhook = json!({"name": "a", "clientConfig": {"url": "https://badger"}, "rules": [rule]});
            serde_json::from_value(json!({"metadata": {"name": "badger"}, "webhooks": [webhook]})).unwrap()
        };
        for after in [Event::Apply(badger("apps")), Event::Delete(badger("zoo.org"))] {
            let (known, mut store) = synced();
            store.apply_watcher_event(&Event::Apply(badger("zoo.org")));
            assert_eq!((known.conflicts().len(), known.objects().len()), (1, 0));
            store.apply_watcher_event(&after);
            assert!(known.conflicts().is_empty());
        }
    }
}
