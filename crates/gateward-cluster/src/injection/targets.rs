//! The injection targets that the watches have seen, with their `caBundle`s and since when they have had them.

use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime};

use gateward_certs::rotation::InjectionTargetId;

use super::classify::TargetObject;
use super::conflicts::ConflictingWebhook;
use super::object::{InjectableKind, InjectableObject};
use crate::config::InjectionRules;
use crate::injected::InjectedCaBundles;

/// All injection targets that the watches have seen.
#[derive(Debug, Default)]
pub(crate) struct InjectionTargets {
    seen: BTreeMap<(InjectableKind, String), TargetObject>,
    conflicts: BTreeMap<(InjectableKind, String), Vec<ConflictingWebhook>>,
    carried: BTreeMap<InjectionTargetId, Carried>,
    /// Bundles that were replaced recently, and when.
    replaced: Vec<(Instant, Vec<u8>)>,
    /// How many watches have not synced yet.
    unsynced_watches: usize,
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
    /// Empty, until so many watches have synced.
    pub(crate) fn awaiting(watches: usize) -> Self {
        Self { unsynced_watches: watches, ..Self::default() }
    }

    /// A watch has synced.
    pub(crate) fn watch_synced(&mut self) {
        self.unsynced_watches = self.unsynced_watches.saturating_sub(1);
    }

    /// Stores an object; returns it if it is an injection target.
    pub(crate) fn observe(
        &mut self,
        kind: InjectableKind,
        object: &InjectableObject,
        rules: &InjectionRules,
        clock: Clock,
    ) -> Option<TargetObject> {
        let key = (kind, object.name().to_owned());
        self.conflicts.insert(key.clone(), rules.conflicts(kind, object));
        let found = rules.classify(kind, object);
        match &found {
            Some(found) => drop(self.seen.insert(key, found.clone())),
            None => drop(self.seen.remove(&key)),
        }
        self.refresh(since(object, clock), clock.now);
        found
    }

    /// Removes a deleted object.
    pub(crate) fn remove(&mut self, kind: InjectableKind, name: &str, clock: Clock) {
        let key = (kind, name.to_owned());
        self.conflicts.remove(&key);
        self.seen.remove(&key);
        self.refresh(clock.now, clock.now);
    }

    /// Retains the objects that a watch has listed, of those that it covers.
    pub(crate) fn retain_listed(
        &mut self,
        kind: InjectableKind,
        of: impl Fn(&str) -> bool,
        listed: &[String],
        clock: Clock,
    ) {
        let stays =
            |(its_kind, name): &(InjectableKind, String)| *its_kind != kind || !of(name) || listed.contains(name);
        self.conflicts.retain(|key, _| stays(key));
        self.seen.retain(|key, _| stays(key));
        self.refresh(clock.now, clock.now);
    }

    /// All objects.
    pub(crate) fn objects(&self) -> Vec<TargetObject> {
        self.seen.values().cloned().collect()
    }

    /// Webhooks of other configurations for our kinds.
    pub(crate) fn conflicts(&self) -> Vec<ConflictingWebhook> {
        self.conflicts.values().flatten().cloned().collect()
    }

    /// Whether all watches have synced.
    pub(crate) fn is_complete(&self) -> bool {
        self.unsynced_watches == 0
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

    /// Compares the present bundles with those before.
    fn refresh(&mut self, since: Instant, now: Instant) {
        let entries = self.seen.values().flat_map(|found| &found.entries);
        let present: BTreeMap<_, _> = entries.map(|it| (it.target.id.clone(), it.target.bundle.clone())).collect();
        let mut before = std::mem::take(&mut self.carried);
        for (id, bundle) in present {
            let carried = match before.remove(&id) {
                Some(carried) if carried.bundle == bundle => carried,
                Some(carried) => {
                    self.replaced.push((now, carried.bundle));
                    Carried { bundle, since: now }
                }
                None => Carried { bundle, since },
            };
            self.carried.insert(id, carried);
        }
        // Far longer than API servers need to observe a change.
        self.replaced.retain(|(at, _)| now.saturating_duration_since(*at) < Duration::from_mins(5));
    }
}

/// Since when an object that is seen for the first time has been unchanged.
fn since(object: &InjectableObject, Clock { now, api_server_time }: Clock) -> Instant {
    let age = object.last_change().zip(api_server_time).and_then(|(changed, time)| time.duration_since(changed).ok());
    age.and_then(|age| now.checked_sub(age)).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::config::ServiceName;
    use crate::permissions::ResourceName;

    const SETTLE: Duration = Duration::from_secs(5);
    const KIND: InjectableKind = InjectableKind::Validating;

    fn rules() -> InjectionRules {
        InjectionRules {
            validating: "otter".to_owned(),
            mutating: "otter".to_owned(),
            labels: BTreeMap::new(),
            crds: Vec::new(),
            kinds: vec![ResourceName { group: "zoo.org".to_owned(), plural: "otters".to_owned() }],
            service: ServiceName { namespace: "zoo".to_owned(), name: "otter".to_owned() },
            conversion: serde_json::Value::Null,
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

    fn observed(known: &mut InjectionTargets, bundle: &str, clock: Clock) {
        known.observe(KIND, &carrying(bundle), &rules(), clock).unwrap();
    }

    #[test]
    fn nothing_is_valid_before_every_watch_has_synced() {
        let (mut known, now) = (InjectionTargets::awaiting(1), Instant::now());
        assert_eq!(known.trust(SETTLE, now).valid_from, None);
        known.watch_synced();
        assert_eq!(known.trust(SETTLE, now), InjectedCaBundles { bundles: Vec::new(), valid_from: Some(now) });
    }

    #[test]
    fn a_replaced_bundle_counts_until_every_api_server_has_observed_the_change() {
        let (mut known, start) = (InjectionTargets::default(), Instant::now());
        observed(&mut known, "eA==", at(start));
        let later = start + Duration::from_mins(1);
        observed(&mut known, "eQ==", at(later));
        let trust = known.trust(SETTLE, later);
        assert_eq!((trust.bundles, trust.valid_from), (vec![b"x".to_vec(), b"y".to_vec()], Some(later + SETTLE)));
        assert_eq!(known.next_change(SETTLE, later), Some(later + SETTLE));
        assert_eq!(known.trust(SETTLE, later + SETTLE).bundles, [b"y"]);
        assert_eq!(known.next_change(SETTLE, later + SETTLE), None);
    }

    #[test]
    fn a_bundle_that_has_long_been_unchanged_is_valid_at_once() {
        let (mut known, now) = (InjectionTargets::default(), Instant::now() + Duration::from_hours(1));
        let time = SystemTime::UNIX_EPOCH + Duration::from_hours(500_000) + Duration::from_mins(1);
        observed(&mut known, "eA==", Clock { now, api_server_time: Some(time) });
        assert!(known.trust(SETTLE, now).valid_from.is_some_and(|from| from + Duration::from_secs(55) == now));
    }

    #[test]
    fn an_empty_bundle_is_left_out() {
        let (mut known, now) = (InjectionTargets::default(), Instant::now());
        observed(&mut known, "", at(now));
        assert_eq!(known.trust(SETTLE, now), InjectedCaBundles { bundles: Vec::new(), valid_from: Some(now) });
    }

    #[test]
    fn an_object_that_a_watch_lists_no_more_is_removed() {
        let (mut known, now) = (InjectionTargets::default(), Instant::now());
        observed(&mut known, "eA==", at(now));
        known.retain_listed(InjectableKind::Mutating, |_| true, &[], at(now));
        assert_eq!(known.objects().len(), 1);
        known.retain_listed(KIND, |_| true, &[], at(now));
        assert!(known.objects().is_empty() && known.trust(SETTLE, now).bundles.is_empty());
    }

    #[test]
    fn a_conflict_is_known_until_it_changes_or_is_deleted() {
        let (mut known, clock) = (InjectionTargets::default(), at(Instant::now()));
        let badger = |group: &str| {
            let rule = json!({"apiGroups": [group], "resources": ["otters"], "operations": ["CREATE"]});
            let webhook = json!({"name": "a", "clientConfig": {"url": "https://badger"}, "rules": [rule]});
            serde_json::from_value(json!({"metadata": {"name": "badger"}, "webhooks": [webhook]})).unwrap()
        };
        let mut after = |change: &dyn Fn(&mut InjectionTargets)| {
            assert!(known.observe(KIND, &badger("zoo.org"), &rules(), clock).is_none());
            assert_eq!(known.conflicts().len(), 1);
            change(&mut known);
            known.conflicts().len()
        };
        assert_eq!(after(&|known| drop(known.observe(KIND, &badger("apps"), &rules(), clock))), 0);
        assert_eq!(after(&|known| known.remove(KIND, "badger", clock)), 0);
        assert_eq!(after(&|known| known.retain_listed(KIND, |_| true, &[], clock)), 0);
        assert_eq!(after(&|known| known.retain_listed(InjectableKind::Mutating, |_| true, &[], clock)), 1);
    }
}
