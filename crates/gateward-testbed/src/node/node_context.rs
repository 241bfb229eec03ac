//! What all Pods of the node share.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::SystemTime;

use tokio::sync::broadcast;

use super::network::Network;
use super::root::Image;
use super::sources::SourceChange;
use super::status::timestamp;
use crate::client::Client;

/// The node's client, files and network.
pub(crate) struct NodeContext {
    pub(crate) client: Client,
    pub(crate) folder: PathBuf,
    pub(crate) network: Network,
    pub(crate) image: Image,
    /// The program that answers `kubectl port-forward`.
    pub(crate) port_forward: PathBuf,
    pub(crate) changes: broadcast::Sender<SourceChange>,
    pub(crate) log: Mutex<File>,
}

impl NodeContext {
    /// Logs for people what went wrong.
    pub(crate) fn journal(&self, line: &str) {
        // Losing a line is better than losing a Pod.
        let _ = writeln!(self.log.lock().unwrap(), "{} {line}", timestamp(SystemTime::now()));
    }
}
