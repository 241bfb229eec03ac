//! The leases that the watches have seen.

use std::collections::{BTreeMap, HashSet};
use std::time::Instant;

use super::record::{NamespaceLease, ObservedLease};

/// All leases that the watches have seen, and which watches can't read.
#[derive(Debug, Clone, Default)]
pub(crate) struct KnownLeases {
    /// By name and namespace.
    seen: BTreeMap<(String, String), ObservedLease>,
    /// The names whose watch has not listed them yet, or keeps failing, with the reason.
    unreadable: BTreeMap<String, String>,
}

impl KnownLeases {
    /// None, until the watch of each name has listed them.
    pub(crate) fn awaiting<'a>(names: impl IntoIterator<Item = &'a String>) -> Self {
        let waiting = "they have not been listed yet";
        let unreadable = names.into_iter().map(|name| (name.clone(), waiting.to_owned())).collect();
        Self { seen: BTreeMap::new(), unreadable }
    }

    /// Stores a lease.
    pub(crate) fn observe(&mut self, lease: NamespaceLease, now: Instant) {
        let key = (lease.name.clone(), lease.namespace.clone());
        let observed = ObservedLease::after(self.seen.get(&key), lease, now);
        self.seen.insert(key, observed);
    }

    /// Removes a deleted lease.
    pub(crate) fn remove(&mut self, name: &str, namespace: &str) {
        self.seen.remove(&(name.to_owned(), namespace.to_owned()));
    }

    /// Retains the leases of a name in the namespaces in which a watch has listed it.
    pub(crate) fn retain_listed(&mut self, name: &str, namespaces: &HashSet<String>) {
        self.seen.retain(|(its, namespace), _| its != name || namespaces.contains(namespace));
        self.unreadable.remove(name);
    }

    /// The watch of a name keeps failing, or no longer does. Leases that were seen go on to their expiry.
    pub(crate) fn watch_fails(&mut self, name: &str, why: Option<String>) {
        match why {
            Some(why) => drop(self.unreadable.insert(name.to_owned(), why)),
            None => drop(self.unreadable.remove(name)),
        }
    }

    /// All leases.
    pub(crate) fn leases(&self) -> impl Iterator<Item = &ObservedLease> {
        self.seen.values()
    }

    /// Why leases can't be read; `None` if they can.
    pub(crate) fn unreadable(&self) -> Option<String> {
        let (name, why) = self.unreadable.first_key_value()?;
        Some(format!("Leases {name} can't be read: {why}"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn lease(name: &str, namespace: &str) -> NamespaceLease {
        let lease = json!({"metadata": {"name": name, "namespace": namespace}, "spec": {"holderIdentity": "otter"}});
        NamespaceLease::read(&serde_json::from_value(lease).unwrap())
    }

    fn places(known: &KnownLeases) -> Vec<(&str, &str)> {
        known.leases().map(|seen| (seen.lease.name.as_str(), seen.lease.namespace.as_str())).collect()
    }

    #[test]
    fn what_a_watch_lists_no_more_is_gone_and_what_another_has_listed_stays() {
        let (mut known, now) = (KnownLeases::default(), Instant::now());
        for (name, namespace) in [("lock", "a"), ("lock", "b"), ("scope", "b")] {
            known.observe(lease(name, namespace), now);
        }
        known.retain_listed("lock", &HashSet::from(["a".to_owned()]));
        assert_eq!(places(&known), [("lock", "a"), ("scope", "b")]);
        known.remove("scope", "b");
        assert_eq!(places(&known), [("lock", "a")]);
    }

    #[test]
    fn leases_are_readable_once_every_watch_has_listed_them() {
        let names = ["lock".to_owned(), "scope".to_owned()];
        let mut known = KnownLeases::awaiting(&names);
        known.retain_listed("lock", &HashSet::new());
        assert_eq!(known.unreadable().unwrap(), "Leases scope can't be read: they have not been listed yet");
        known.retain_listed("scope", &HashSet::new());
        assert_eq!(known.unreadable(), None);
    }

    #[test]
    fn a_watch_that_keeps_failing_takes_no_lease_away() {
        let mut known = KnownLeases::default();
        known.observe(lease("lock", "a"), Instant::now());
        known.watch_fails("lock", Some("forbidden".into()));
        assert_eq!(known.unreadable().unwrap(), "Leases lock can't be read: forbidden");
        assert_eq!(places(&known), [("lock", "a")]);
        known.watch_fails("lock", None);
        assert_eq!(known.unreadable(), None);
    }
}
