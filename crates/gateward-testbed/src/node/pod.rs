//! A Pod, for tests.

use std::net::Ipv4Addr;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::entry::Entry;
use super::fields::{list, pairs, text};
use super::gate::Delays;
use super::process::Signal;

/// A Pod of the node.
#[derive(Clone)]
pub struct Pod {
    pub(crate) entry: Arc<Entry>,
    pub(crate) delays: Delays,
}

impl Pod {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.entry.name
    }

    /// Its namespace.
    pub fn namespace(&self) -> &str {
        &self.entry.namespace
    }

    /// The Pod as the API server last sent it.
    pub fn object(&self) -> Arc<Value> {
        self.entry.object()
    }

    /// Its address, once it has one.
    pub fn ip(&self) -> Option<Ipv4Addr> {
        self.entry.state.borrow().ip
    }

    /// Whether all its containers say that they are ready. The API server hears of it a moment later.
    pub fn is_ready(&self) -> bool {
        self.entry.state.borrow().is_ready()
    }

    /// Whether it has to end, or has ended.
    pub fn is_ending(&self) -> bool {
        self.entry.grace().is_some()
    }

    /// How often its containers were started again.
    pub fn restarts(&self) -> u32 {
        self.entry.state.borrow().main.iter().map(|container| container.restarts).sum()
    }

    /// What its containers have written, over all their lives, init containers first.
    pub fn log(&self) -> String {
        let pod = self.object();
        let containers = list(&pod, "/spec/initContainers").iter().chain(list(&pod, "/spec/containers"));
        containers.map(|container| self.log_of(text(container, "/name"))).collect()
    }

    /// What one container has written.
    pub fn log_of(&self, container: &str) -> String {
        let log = std::fs::read(self.entry.log_file(container)).unwrap_or_default();
        String::from_utf8_lossy(&log).into_owned()
    }

    /// Ends the processes of all its containers, as a crash does. They are started again.
    pub fn kill(&self) {
        self.signal(Signal::Kill);
    }

    /// Sends a signal to all its containers.
    pub fn signal(&self, signal: Signal) {
        self.entry.running.lock().unwrap().values().for_each(|inside| inside.running.signal(signal));
    }

    /// Ends its processes and has it forgotten at once, without a warning, as when its machine fails.
    pub async fn remove(&self) -> anyhow::Result<()> {
        self.kill();
        let options = json!({"gracePeriodSeconds": 0, "preconditions": {"uid": self.entry.uid}});
        self.entry.node.client.delete_with(&self.entry.path(), &options).await?.granted().map(drop)
    }

    /// Delays what watches deliver to it, from now on and also in watches that have begun, instead of the delay that
    /// the node has for all Pods. It must have its address.
    pub fn delay_watches(&self, delay: Duration) {
        assert!(self.ip().is_some(), "{} has no address yet", self.name());
        self.delays.set(self.ip(), delay);
    }

    /// A command that runs beside the processes of a running container.
    pub fn command(&self, container: &str, words: &[&str]) -> Option<Command> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        Some(self.entry.running.lock().unwrap().get(container)?.command(&words))
    }

    /// Whether it carries all the labels of a selector such as `app=otter,tier=front`.
    pub(crate) fn is_selected(&self, selector: &str) -> bool {
        let pod = self.object();
        let mut wanted = selector.split(',').filter_map(|label| label.split_once('='));
        wanted.all(|wanted| pairs(&pod, "/metadata/labels").any(|label| label == wanted))
    }
}
