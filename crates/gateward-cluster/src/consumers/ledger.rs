//! What the consumers carry, as far as it was heard of, and for how long they have carried it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime};

use gateward_certs::rotation::InjectionTargetId;

use super::find::Sighting;
use super::object::{ConsumerKind, ConsumerObject};
use super::rivals::Rival;
use crate::setup::ConsumerRules;
use crate::trust::Trust;

/// All consumers that were heard of.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    seen: BTreeMap<(ConsumerKind, String), Sighting>,
    rivals: BTreeMap<(ConsumerKind, String), Vec<Rival>>,
    carried: BTreeMap<InjectionTargetId, Carried>,
    /// Bundles that were carried a moment ago, and when they were replaced.
    replaced: Vec<(Instant, Vec<u8>)>,
    /// How many watches have not told yet what there is.
    silent: usize,
}

#[derive(Debug)]
struct Carried {
    bundle: Vec<u8>,
    since: Instant,
}

/// A moment, by the clocks that matter here.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    pub(crate) now: Instant,
    pub(crate) api_server_time: Option<SystemTime>,
}

impl Ledger {
    /// Of nothing, while so many watches are being started.
    pub(crate) fn before(watches: usize) -> Self {
        Self { silent: watches, ..Self::default() }
    }

    /// A watch has told all that there is of these names, for the first time.
    pub(crate) fn one_has_told(&mut self) {
        self.silent = self.silent.saturating_sub(1);
    }

    /// An object is there, or has changed; gives what it is to us.
    pub(crate) fn heard(
        &mut self,
        kind: ConsumerKind,
        object: &ConsumerObject,
        rules: &ConsumerRules,
        moment: Moment,
    ) -> Option<Sighting> {
        let key = (kind, object.name().to_owned());
        self.rivals.insert(key.clone(), rules.rivals(kind, object));
        let sighting = rules.look_at(kind, object);
        match &sighting {
            Some(sighting) => drop(self.seen.insert(key, sighting.clone())),
            None => drop(self.seen.remove(&key)),
        }
        self.take_stock(since(object, moment), moment.now);
        sighting
    }

    /// An object is gone.
    pub(crate) fn gone(&mut self, kind: ConsumerKind, name: &str, moment: Moment) {
        let key = (kind, name.to_owned());
        self.rivals.remove(&key);
        self.seen.remove(&key);
        self.take_stock(moment.now, moment.now);
    }

    /// The objects of a kind that a watch has told of, all others of its are gone.
    pub(crate) fn only(&mut self, kind: ConsumerKind, of: impl Fn(&str) -> bool, told: &[String], moment: Moment) {
        let stays = |(its_kind, name): &(ConsumerKind, String)| *its_kind != kind || !of(name) || told.contains(name);
        self.rivals.retain(|key, _| stays(key));
        self.seen.retain(|key, _| stays(key));
        self.take_stock(moment.now, moment.now);
    }

    /// All that were heard of.
    pub(crate) fn sightings(&self) -> Vec<Sighting> {
        self.seen.values().cloned().collect()
    }

    /// The webhooks of others for kinds of ours.
    pub(crate) fn rivals(&self) -> Vec<Rival> {
        self.rivals.values().flatten().cloned().collect()
    }

    /// Whether everything was heard of at least once.
    pub(crate) fn is_complete(&self) -> bool {
        self.silent == 0
    }

    /// The bundles by which API servers may judge a replica, if they hear of a change within this time.
    pub(crate) fn trust(&self, settle: Duration, now: Instant) -> Trust {
        let recent = self.replaced.iter().filter(|(at, _)| now.saturating_duration_since(*at) < settle);
        let present = self.carried.values().map(|carried| carried.bundle.clone());
        let mut bundles: Vec<_> = present.chain(recent.map(|(_, bundle)| bundle.clone())).collect();
        bundles.retain(|bundle| !bundle.is_empty());
        bundles.sort();
        bundles.dedup();
        let latest =
            self.carried.values().filter(|carried| !carried.bundle.is_empty()).map(|it| it.since + settle).max();
        Trust { bundles, stands_from: self.is_complete().then(|| latest.unwrap_or(now)) }
    }

    /// When [`Ledger::trust`] says something else although nothing is heard.
    pub(crate) fn next_change(&self, settle: Duration, now: Instant) -> Option<Instant> {
        self.replaced.iter().map(|(at, _)| *at + settle).filter(|at| *at > now).min()
    }

    /// What is carried now, compared with before.
    fn take_stock(&mut self, since: Instant, now: Instant) {
        let entries = self.seen.values().flat_map(|sighting| &sighting.entries);
        let present: BTreeMap<_, _> = entries.map(|it| (it.consumer.id.clone(), it.consumer.bundle.clone())).collect();
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
        // Far longer than API servers need to hear of anything.
        self.replaced.retain(|(at, _)| now.saturating_duration_since(*at) < Duration::from_mins(5));
    }
}

/// Since when an object that is heard of for the first time has been as it is: nobody has changed it for that long.
fn since(object: &ConsumerObject, Moment { now, api_server_time }: Moment) -> Instant {
    let age = object.last_change().zip(api_server_time).and_then(|(changed, time)| time.duration_since(changed).ok());
    age.and_then(|age| now.checked_sub(age)).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::permissions::ResourceName;
    use crate::setup::ServiceName;

    const SETTLE: Duration = Duration::from_secs(5);
    const KIND: ConsumerKind = ConsumerKind::Validating;

    fn rules() -> ConsumerRules {
        ConsumerRules {
            validating: "otter".to_owned(),
            mutating: "otter".to_owned(),
            labels: BTreeMap::new(),
            crds: Vec::new(),
            kinds: vec![ResourceName { group: "zoo.org".to_owned(), plural: "otters".to_owned() }],
            service: ServiceName { namespace: "zoo".to_owned(), name: "otter".to_owned() },
            conversion: serde_json::Value::Null,
        }
    }

    fn carrying(bundle: &str) -> ConsumerObject {
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

    fn at(now: Instant) -> Moment {
        Moment { now, api_server_time: None }
    }

    fn heard(ledger: &mut Ledger, bundle: &str, moment: Moment) {
        ledger.heard(KIND, &carrying(bundle), &rules(), moment).unwrap();
    }

    #[test]
    fn nothing_stands_before_every_watch_has_told() {
        let (mut ledger, now) = (Ledger::before(1), Instant::now());
        assert_eq!(ledger.trust(SETTLE, now).stands_from, None);
        ledger.one_has_told();
        assert_eq!(ledger.trust(SETTLE, now), Trust { bundles: Vec::new(), stands_from: Some(now) });
    }

    #[test]
    fn a_bundle_that_was_replaced_counts_until_every_api_server_has_heard() {
        let (mut ledger, start) = (Ledger::default(), Instant::now());
        heard(&mut ledger, "eA==", at(start));
        let later = start + Duration::from_mins(1);
        heard(&mut ledger, "eQ==", at(later));
        let trust = ledger.trust(SETTLE, later);
        assert_eq!((trust.bundles, trust.stands_from), (vec![b"x".to_vec(), b"y".to_vec()], Some(later + SETTLE)));
        assert_eq!(ledger.next_change(SETTLE, later), Some(later + SETTLE));
        assert_eq!(ledger.trust(SETTLE, later + SETTLE).bundles, [b"y"]);
        assert_eq!(ledger.next_change(SETTLE, later + SETTLE), None);
    }

    #[test]
    fn a_bundle_that_nobody_has_changed_for_long_stands_at_once() {
        let (mut ledger, now) = (Ledger::default(), Instant::now() + Duration::from_hours(1));
        let time = SystemTime::UNIX_EPOCH + Duration::from_hours(500_000) + Duration::from_mins(1);
        heard(&mut ledger, "eA==", Moment { now, api_server_time: Some(time) });
        assert!(ledger.trust(SETTLE, now).stands_from.is_some_and(|from| from + Duration::from_secs(55) == now));
    }

    #[test]
    fn whoever_carries_nothing_counts_for_nothing() {
        let (mut ledger, now) = (Ledger::default(), Instant::now());
        heard(&mut ledger, "", at(now));
        assert_eq!(ledger.trust(SETTLE, now), Trust { bundles: Vec::new(), stands_from: Some(now) });
    }

    #[test]
    fn what_a_watch_does_not_tell_of_any_more_is_gone() {
        let (mut ledger, now) = (Ledger::default(), Instant::now());
        heard(&mut ledger, "eA==", at(now));
        ledger.only(ConsumerKind::Mutating, |_| true, &[], at(now));
        assert_eq!(ledger.sightings().len(), 1);
        ledger.only(KIND, |_| true, &[], at(now));
        assert!(ledger.sightings().is_empty() && ledger.trust(SETTLE, now).bundles.is_empty());
    }

    #[test]
    fn a_rival_is_known_until_it_changes_or_is_gone() {
        let (mut ledger, moment) = (Ledger::default(), at(Instant::now()));
        let badger = |group: &str| {
            let rule = json!({"apiGroups": [group], "resources": ["otters"], "operations": ["CREATE"]});
            let webhook = json!({"name": "a", "clientConfig": {"url": "https://badger"}, "rules": [rule]});
            serde_json::from_value(json!({"metadata": {"name": "badger"}, "webhooks": [webhook]})).unwrap()
        };
        let mut after = |change: &dyn Fn(&mut Ledger)| {
            assert!(ledger.heard(KIND, &badger("zoo.org"), &rules(), moment).is_none());
            assert_eq!(ledger.rivals().len(), 1);
            change(&mut ledger);
            ledger.rivals().len()
        };
        assert_eq!(after(&|ledger| drop(ledger.heard(KIND, &badger("apps"), &rules(), moment))), 0);
        assert_eq!(after(&|ledger| ledger.gone(KIND, "badger", moment)), 0);
        assert_eq!(after(&|ledger| ledger.only(KIND, |_| true, &[], moment)), 0);
        assert_eq!(after(&|ledger| ledger.only(ConsumerKind::Mutating, |_| true, &[], moment)), 1);
    }
}
