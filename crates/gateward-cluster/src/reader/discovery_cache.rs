//! Caches which groups and resources the API server serves.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gateward_core::GroupServed;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::APIResourceList;
use tokio::time::Instant;

/// How long a served API stays cached.
const TTL: Duration = Duration::from_mins(5);

/// Whether something is served.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Query {
    /// A group, in whatever version.
    Group { group: String },
    /// A resource in a version.
    Resource { group: String, version: String, plural: String },
}

impl Query {
    /// The path of the discovery document.
    pub(super) fn path(&self) -> String {
        match self {
            Self::Group { group } => format!("/apis/{group}"),
            Self::Resource { group, version, .. } => format!("/apis/{group}/{version}"),
        }
    }

    /// Whether the document at the path lists it.
    pub(super) fn is_served_in(&self, document: &str) -> bool {
        match self {
            Self::Group { .. } => true,
            Self::Resource { plural, .. } => serde_json::from_str(document)
                .is_ok_and(|list: APIResourceList| list.resources.iter().any(|resource| resource.name == *plural)),
        }
    }
}

/// Results by query. That something is served is cached for a while; any other result only answers callers that were
/// waiting when it was fetched. So a newly installed API is found at once, and concurrent callers fetch at most twice.
#[derive(Debug, Clone, Default)]
pub(super) struct DiscoveryCache(Arc<Mutex<HashMap<Query, Slot>>>);

type Slot = Arc<tokio::sync::Mutex<Option<CachedResult>>>;

#[derive(Debug)]
struct CachedResult {
    served: GroupServed,
    fetched: Instant,
}

impl CachedResult {
    fn is_valid_for(&self, arrived: Instant) -> bool {
        let fresh = self.served == GroupServed::Served && self.fetched.elapsed() < TTL;
        fresh || self.fetched >= arrived
    }
}

impl DiscoveryCache {
    /// The cached result, or what `fetch` returns.
    pub(super) async fn get_or_fetch(&self, query: &Query, fetch: impl Future<Output = GroupServed>) -> GroupServed {
        let arrived = Instant::now();
        let slot = self.slot(query);
        let mut result = slot.lock().await;
        if let Some(known) = result.as_ref().filter(|result| result.is_valid_for(arrived)) {
            return known.served.clone();
        }
        let fetched = Instant::now();
        let served = fetch.await;
        *result = Some(CachedResult { served: served.clone(), fetched });
        served
    }

    fn slot(&self, query: &Query) -> Slot {
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(slots.entry(query.clone()).or_default())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn query() -> Query {
        Query::Group { group: "zoo.org".into() }
    }

    async fn fetched(cache: &DiscoveryCache, fetches: &AtomicUsize, result: GroupServed) -> GroupServed {
        let fetch = async {
            fetches.fetch_add(1, Ordering::Relaxed);
            tokio::time::sleep(Duration::from_secs(1)).await;
            result
        };
        cache.get_or_fetch(&query(), fetch).await
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_served_is_not_fetched_again_for_a_while() {
        let (cache, fetches) = (DiscoveryCache::default(), AtomicUsize::new(0));
        for _ in 0..3 {
            assert_eq!(fetched(&cache, &fetches, GroupServed::Served).await, GroupServed::Served);
        }
        assert_eq!(fetches.load(Ordering::Relaxed), 1);
        tokio::time::advance(TTL).await;
        assert_eq!(fetched(&cache, &fetches, GroupServed::Absent).await, GroupServed::Absent);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_not_served_is_fetched_again_at_once() {
        let (cache, fetches) = (DiscoveryCache::default(), AtomicUsize::new(0));
        assert_eq!(fetched(&cache, &fetches, GroupServed::Absent).await, GroupServed::Absent);
        assert_eq!(fetched(&cache, &fetches, GroupServed::Served).await, GroupServed::Served);
    }

    #[tokio::test(start_paused = true)]
    async fn concurrent_callers_fetch_at_most_twice() {
        let (cache, fetches) = (DiscoveryCache::default(), AtomicUsize::new(0));
        let unreadable = || GroupServed::Unreadable("down".into());
        let crowd = (0..50).map(|_| fetched(&cache, &fetches, unreadable()));
        let results = futures_util::future::join_all(crowd).await;
        assert!(results.iter().all(|result| *result == unreadable()));
        assert!(fetches.load(Ordering::Relaxed) <= 2);
    }

    #[test]
    fn a_resource_is_served_where_the_version_lists_it() {
        let (group, version, plural) = ("zoo.org".into(), "v1".into(), "otters".into());
        let query = Query::Resource { group, version, plural };
        assert_eq!(query.path(), "/apis/zoo.org/v1");
        let list = |name| {
            let resource =
                serde_json::json!({"name": name, "kind": "X", "namespaced": true, "singularName": "", "verbs": []});
            serde_json::json!({"groupVersion": "zoo.org/v1", "resources": [resource]}).to_string()
        };
        assert!(query.is_served_in(&list("otters")) && !query.is_served_in(&list("otters/status")));
    }
}
