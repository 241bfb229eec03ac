//! A Pod of the node, as the parts of the driver share it.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;

use super::container::Inside;
use super::fields::{seconds, text};
use super::node_context::NodeContext;
use super::status::{ContainerStatus, State};

/// A Pod that is bound to the node.
pub(crate) struct Entry {
    pub(crate) node: Arc<NodeContext>,
    pub(crate) seen: watch::Sender<Seen>,
    pub(crate) state: watch::Sender<State>,
    /// The containers that run, by their names.
    pub(crate) running: Mutex<BTreeMap<String, Inside>>,
    /// Where and who it is, which never changes.
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) uid: String,
}

/// A Pod as the API server last sent it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Seen {
    There(Arc<Value>),
    /// The API server has deleted it: this is its last state.
    Gone(Arc<Value>),
}

/// A container's place in its Pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Among the init containers.
    First(usize),
    /// Among the containers.
    Main(usize),
}

impl Entry {
    pub(crate) fn new(node: Arc<NodeContext>, object: Value) -> Self {
        Self {
            node,
            namespace: text(&object, "/metadata/namespace").into(),
            name: text(&object, "/metadata/name").into(),
            uid: text(&object, "/metadata/uid").into(),
            state: watch::Sender::new(State::of(&object)),
            running: Mutex::default(),
            seen: watch::Sender::new(Seen::There(Arc::new(object))),
        }
    }

    /// Where the Pod is, for the API server.
    pub(crate) fn path(&self) -> String {
        format!("/api/v1/namespaces/{}/pods/{}", self.namespace, self.name)
    }

    /// The Pod as it was last seen.
    pub(crate) fn object(&self) -> Arc<Value> {
        match &*self.seen.borrow() {
            Seen::There(pod) | Seen::Gone(pod) => Arc::clone(pod),
        }
    }

    /// The API server knows no such Pod any more.
    pub(crate) fn lose(&self) {
        let last = self.object();
        self.seen.send_replace(Seen::Gone(last));
    }

    pub(crate) fn is_gone(&self) -> bool {
        matches!(&*self.seen.borrow(), Seen::Gone(_))
    }

    /// A folder of the Pod's own.
    pub(crate) fn folder(&self) -> PathBuf {
        self.node.folder.join("pods").join(&self.uid)
    }

    /// The file that takes what a container writes.
    pub(crate) fn log_file(&self, container: &str) -> PathBuf {
        self.node.folder.join(format!("{}-{}-{container}.log", self.namespace, self.name))
    }

    /// That file, to be written on at its end.
    pub(crate) fn open_log(&self, container: &str) -> std::io::Result<File> {
        OpenOptions::new().create(true).append(true).open(self.log_file(container))
    }

    /// Waits until the Pod has to end.
    pub(crate) async fn stopping(&self) {
        let mut seen = self.seen.subscribe();
        // The sender lives as long as we do.
        let _ = seen.wait_for(|seen| grace(seen).is_some()).await;
    }

    /// Whether the Pod has to end, and if so how much time it has for that.
    pub(crate) fn grace(&self) -> Option<Duration> {
        grace(&self.seen.borrow())
    }

    /// Changes what is known of a container.
    pub(crate) fn note(&self, place: Place, change: impl FnOnce(&mut ContainerStatus)) {
        self.state.send_modify(|state| {
            let container = match place {
                Place::First(index) => state.first.get_mut(index),
                Place::Main(index) => state.main.get_mut(index),
            };
            container.map(change);
        });
    }
}

/// What a Pod that has to end gets of time; nothing when it is gone.
fn grace(seen: &Seen) -> Option<Duration> {
    let Seen::There(pod) = seen else { return Some(Duration::ZERO) };
    pod.pointer("/metadata/deletionTimestamp")?;
    Some(seconds(pod, "/metadata/deletionGracePeriodSeconds").unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_pod_has_to_end_once_it_is_deleted() {
        let there = |metadata: Value| Seen::There(Arc::new(json!({"metadata": metadata})));
        assert_eq!(grace(&there(json!({"name": "otter"}))), None);
        let deleted = json!({"deletionTimestamp": "2030-01-01T00:00:00Z", "deletionGracePeriodSeconds": 7});
        assert_eq!(grace(&there(deleted)), Some(Duration::from_secs(7)));
        assert_eq!(grace(&Seen::Gone(Arc::default())), Some(Duration::ZERO));
    }
}
