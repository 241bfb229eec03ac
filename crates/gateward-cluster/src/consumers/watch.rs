//! Hears of every change of those who carry bundles.

use std::fmt;

use futures_util::{StreamExt, pin_mut};
use kube::runtime::watcher::{self, Config, Event};

use super::ConsumerStore;
use super::object::{ConsumerKind, ConsumerObject};
use crate::news::{WATCH_SECONDS, lasting};

/// What a watch tells.
#[derive(Debug)]
pub(crate) enum Heard {
    /// An object is there, or has changed.
    Object(ConsumerKind, Box<ConsumerObject>),
    /// An object is gone.
    Gone(ConsumerKind, String),
    /// All that there is has been told, by name.
    All(Scope, Vec<String>),
    /// Why nothing was heard for some time; `None` once something is heard again.
    Trouble(Scope, Option<String>),
}

/// What one watch looks at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Scope {
    pub(crate) kind: ConsumerKind,
    /// One object, or all of the kind.
    pub(crate) name: Option<String>,
}

impl ConsumerStore {
    /// The watches that together see everything that may concern us. One of all CRDs would not be allowed.
    pub(crate) fn scopes(&self) -> Vec<Scope> {
        let all = [ConsumerKind::Validating, ConsumerKind::Mutating].map(|kind| Scope { kind, name: None });
        let crds = self.rules().crds.iter();
        let crds = crds.map(|name| Scope { kind: ConsumerKind::Crd, name: Some(name.clone()) });
        all.into_iter().chain(crds).collect()
    }

    /// Tells `hear` of everything, for as long as it is polled.
    pub(crate) async fn watch(&self, scope: Scope, hear: impl Fn(Heard)) {
        let config = Config::default().timeout(WATCH_SECONDS);
        let config = match &scope.name {
            Some(name) => config.fields(&format!("metadata.name={name}")),
            None => config,
        };
        let trouble = |why| hear(Heard::Trouble(scope.clone(), why));
        let events = lasting(watcher::watcher(self.api(scope.kind), config), trouble);
        pin_mut!(events);
        let mut listed = Vec::new();
        while let Some(event) = events.next().await {
            match event {
                Event::Init => listed.clear(),
                Event::InitApply(object) => {
                    listed.push(object.name().to_owned());
                    hear(Heard::Object(scope.kind, Box::new(object)));
                }
                Event::InitDone => hear(Heard::All(scope.clone(), std::mem::take(&mut listed))),
                Event::Apply(object) => hear(Heard::Object(scope.kind, Box::new(object))),
                Event::Delete(object) => hear(Heard::Gone(scope.kind, object.name().to_owned())),
            }
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{} {name}", self.kind),
            None => write!(f, "{}s", self.kind),
        }
    }
}

impl Scope {
    /// Whether an object of this name is looked at.
    pub(crate) fn covers(&self, name: &str) -> bool {
        self.name.as_ref().is_none_or(|its| its == name)
    }
}
