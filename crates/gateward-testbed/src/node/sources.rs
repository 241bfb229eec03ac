//! The `ConfigMaps` and Secrets that Pods read, and the watches of their changes.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context;
use base64::Engine;
use serde_json::Value;
use tokio::sync::broadcast;

use super::environment::{Source, Sources};
use super::fields::{pairs, text};
use crate::client::Client;
use crate::feed::{Event, Feed};

/// Which sources have changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SourceChange {
    /// This one, in this namespace.
    One(String, Source),
    /// Perhaps all: the watch was interrupted.
    Any,
}

/// Reads sources. Those that don't exist are left out.
pub(crate) async fn fetch(client: &Client, namespace: &str, wanted: BTreeSet<Source>) -> anyhow::Result<Sources> {
    let mut sources = Sources::new();
    for source in wanted {
        let answer = client.get(&source.place(namespace)).await?;
        if answer.status == http::StatusCode::NOT_FOUND {
            continue;
        }
        let content = content(&answer.granted()?).with_context(|| format!("{source:?}"))?;
        sources.insert(source, content);
    }
    Ok(sources)
}

/// What a `ConfigMap` or a Secret says; the latter in base64.
fn content(object: &Value) -> anyhow::Result<BTreeMap<String, Vec<u8>>> {
    let decoded = |value: &str| base64::engine::general_purpose::STANDARD.decode(value);
    let encoded = if object["kind"] == "Secret" { "/data" } else { "/binaryData" };
    let mut content = BTreeMap::new();
    for (key, value) in pairs(object, encoded) {
        content.insert(key.to_owned(), decoded(value)?);
    }
    if object["kind"] == "ConfigMap" {
        content.extend(pairs(object, "/data").map(|(key, value)| (key.to_owned(), value.as_bytes().to_vec())));
    }
    Ok(content)
}

/// Watches a collection of sources and sends each change.
pub(crate) async fn watch(
    client: Client,
    collection: &'static str,
    source: fn(String) -> Source,
    changes: broadcast::Sender<SourceChange>,
) {
    let mut feed = Feed::of(&client, collection);
    loop {
        let change = match feed.next().await {
            Event::Listed(_) => SourceChange::Any,
            Event::Applied(object) | Event::Deleted(object) => {
                let name = text(&object, "/metadata/name").to_owned();
                SourceChange::One(text(&object, "/metadata/namespace").into(), source(name))
            }
        };
        // There may be no Pod that receives it.
        let _ = changes.send(change);
    }
}
