//! Watches injection targets.

use std::fmt;

use futures_util::Stream;
use kube::runtime::watcher::{Config, Event};

use super::TargetStore;
use super::object::{InjectableKind, InjectableObject};
use crate::watch::watch_with_backoff;

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

    /// The events of one watch.
    pub(crate) fn events(
        &self,
        scope: &WatchScope,
        report: impl Fn(Option<String>),
    ) -> impl Stream<Item = Event<InjectableObject>> {
        let config = Config::default();
        let config = match &scope.name {
            Some(name) => config.fields(&format!("metadata.name={name}")),
            None => config,
        };
        watch_with_backoff(self.api(scope.kind), config, report)
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
