//! Watches injection targets.

use std::fmt;

use futures_util::{StreamExt, pin_mut};
use kube::runtime::watcher::{self, Config, Event};

use super::TargetStore;
use super::object::{InjectableKind, InjectableObject};
use crate::watch::{WATCH_SECONDS, with_backoff};

/// An event of a watch.
#[derive(Debug)]
pub(crate) enum WatchEvent {
    /// An object is there, or has changed.
    Applied(InjectableKind, Box<InjectableObject>),
    /// An object is gone.
    Deleted(InjectableKind, String),
    /// The watch has listed everything, by name.
    Listed(WatchScope, Vec<String>),
    /// Why the watch keeps failing; `None` once it works again.
    Failing(WatchScope, Option<String>),
}

/// What one watch covers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WatchScope {
    pub(crate) kind: InjectableKind,
    /// One object, or all of the kind.
    pub(crate) name: Option<String>,
}

impl TargetStore {
    /// The watches that together cover all injection targets. RBAC doesn't allow a watch of all CRDs.
    pub(crate) fn scopes(&self) -> Vec<WatchScope> {
        let all = [InjectableKind::Validating, InjectableKind::Mutating].map(|kind| WatchScope { kind, name: None });
        let crds = self.rules().crds.iter();
        let crds = crds.map(|name| WatchScope { kind: InjectableKind::Crd, name: Some(name.clone()) });
        all.into_iter().chain(crds).collect()
    }

    /// Calls `handle` with every event, for as long as it is polled.
    pub(crate) async fn watch(&self, scope: WatchScope, injection_watch: impl Fn(WatchEvent)) {
        let config = Config::default().timeout(WATCH_SECONDS);
        let config = match &scope.name {
            Some(name) => config.fields(&format!("metadata.name={name}")),
            None => config,
        };
        let streak = |why| injection_watch(WatchEvent::Failing(scope.clone(), why));
        let events = with_backoff(watcher::watcher(self.api(scope.kind), config), streak);
        pin_mut!(events);
        let mut listed = Vec::new();
        while let Some(event) = events.next().await {
            match event {
                Event::Init => listed.clear(),
                Event::InitApply(object) => {
                    listed.push(object.name().to_owned());
                    injection_watch(WatchEvent::Applied(scope.kind, Box::new(object)));
                }
                Event::InitDone => injection_watch(WatchEvent::Listed(scope.clone(), std::mem::take(&mut listed))),
                Event::Apply(object) => injection_watch(WatchEvent::Applied(scope.kind, Box::new(object))),
                Event::Delete(object) => injection_watch(WatchEvent::Deleted(scope.kind, object.name().to_owned())),
            }
        }
    }
}

impl fmt::Display for WatchScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{} {name}", self.kind),
            None => write!(f, "{}s", self.kind),
        }
    }
}

impl WatchScope {
    /// Whether it covers an object of this name.
    pub(crate) fn covers(&self, name: &str) -> bool {
        self.name.as_ref().is_none_or(|its| its == name)
    }
}
