//! The volumes of a running Pod, kept like what they show.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use serde_json::json;
use tokio::sync::broadcast::{self, error::RecvError};
use tokio::time::Instant;

use super::entry::Entry;
use super::environment::Source;
use super::fields::{list, text};
use super::sources::{SourceChange, fetch};
use super::volumes::{self, Folder, Part, Token};

/// How late changes of `ConfigMaps` and Secrets come to a Pod. kubelet takes up to a minute and a half.
const DELAY: Duration = Duration::from_secs(1);

/// The volumes of a Pod.
pub(crate) struct Projection<'p> {
    pod: &'p Entry,
    ip: Ipv4Addr,
    volumes: Vec<(Folder, Vec<Part>)>,
    /// The tokens, and when they are asked for anew.
    tokens: BTreeMap<Token, (String, Instant)>,
    changes: broadcast::Receiver<SourceChange>,
}

impl<'p> Projection<'p> {
    /// Makes the folders of the volumes.
    pub(crate) fn new(pod: &'p Entry, ip: Ipv4Addr) -> anyhow::Result<Self> {
        let mut volumes = Vec::new();
        for volume in list(&pod.object(), "/spec/volumes") {
            let parts = volumes::parts(volume).map_err(anyhow::Error::msg)?;
            let folder = pod.folder().join(text(volume, "/name"));
            if parts.is_empty() {
                std::fs::create_dir_all(folder)?;
            } else {
                volumes.push((Folder::make(folder)?, parts));
            }
        }
        Ok(Self { pod, ip, volumes, tokens: BTreeMap::new(), changes: pod.node.changes.subscribe() })
    }

    /// Writes what the volumes have to show now.
    pub(crate) async fn project(&mut self) -> anyhow::Result<()> {
        let object = self.pod.object();
        self.renew_tokens().await?;
        let tokens = self.tokens.iter().map(|(asked, (token, _))| (asked.clone(), token.clone())).collect();
        let sources = fetch(&self.pod.node.client, &self.pod.namespace, self.sources()).await?;
        let files = |parts: &Vec<Part>| volumes::files(parts, &object, self.ip, &sources, &tokens);
        let all: Result<Vec<_>, _> = self.volumes.iter().map(|(_, parts)| files(parts)).collect();
        // Where a source is missing nothing is written, and all is made anew.
        for ((folder, _), files) in self.volumes.iter_mut().zip(all.map_err(anyhow::Error::msg)?) {
            folder.write(&files)?;
        }
        Ok(())
    }

    /// Follows the changes, each after a [`DELAY`].
    pub(crate) async fn follow(&mut self) -> Infallible {
        let mut due: Option<Instant> = None;
        loop {
            let renewal = self.tokens.values().map(|(_, renewal)| *renewal).min();
            tokio::select! {
                change = self.changes.recv() => if self.concerns(change) {
                    due = due.or(Some(Instant::now() + DELAY));
                },
                () = until(due.or(renewal)) => {
                    due = None;
                    if let Err(error) = self.project().await {
                        self.pod.node.journal(&format!("{}: volumes: {error:#}", self.pod.path()));
                        // Kept as they are, and tried again.
                        due = Some(Instant::now() + Duration::from_secs(1));
                    }
                }
            }
        }
    }

    fn concerns(&self, change: Result<SourceChange, RecvError>) -> bool {
        match change {
            Ok(SourceChange::One(namespace, source)) => {
                namespace == self.pod.namespace && self.sources().contains(&source)
            }
            Ok(SourceChange::Any) | Err(_) => !self.sources().is_empty(),
        }
    }

    fn sources(&self) -> BTreeSet<Source> {
        self.volumes.iter().flat_map(|(_, parts)| volumes::sources(parts)).collect()
    }

    async fn renew_tokens(&mut self) -> anyhow::Result<()> {
        let parts = self.volumes.iter().flat_map(|(_, parts)| parts);
        let wanted = parts.filter_map(|part| if let Part::Token { token, .. } = part { Some(token) } else { None });
        for token in wanted {
            if self.tokens.get(token).is_none_or(|(_, renewal)| *renewal <= Instant::now()) {
                let renewal = Instant::now() + Duration::from_secs(token.seconds) * 4 / 5;
                self.tokens.insert(token.clone(), (request(self.pod, token).await?, renewal));
            }
        }
        Ok(())
    }
}

/// Asks the API server for a token that is good as long as the Pod is there.
async fn request(pod: &Entry, token: &Token) -> anyhow::Result<String> {
    let account = text(&pod.object(), "/spec/serviceAccountName").to_owned();
    let path = format!("/api/v1/namespaces/{}/serviceaccounts/{account}/token", pod.namespace);
    let audiences: Vec<&str> =
        Some(token.audience.as_str()).filter(|audience| !audience.is_empty()).into_iter().collect();
    let bound = json!({"apiVersion": "v1", "kind": "Pod", "name": pod.name, "uid": pod.uid});
    let asked = json!({
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {"audiences": audiences, "expirationSeconds": token.seconds, "boundObjectRef": bound},
    });
    let answer = pod.node.client.post(&path, &asked).await?.granted()?;
    answer["status"]["token"].as_str().map(str::to_owned).context("an answer without a token")
}

async fn until(instant: Option<Instant>) {
    match instant {
        Some(instant) => tokio::time::sleep_until(instant).await,
        None => std::future::pending().await,
    }
}

/// Removes what a Pod had on disk.
pub(crate) fn remove(folder: &Path) {
    // It may never have had anything.
    let _ = std::fs::remove_dir_all(folder);
}
