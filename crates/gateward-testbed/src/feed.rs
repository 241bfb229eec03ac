//! The objects of a collection as they come and go.

use std::time::Duration;

use anyhow::{Context, bail};
use bytes::BytesMut;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde_json::Value;

use crate::client::Client;

/// How soon the server is asked again after it gave no answer.
const PAUSE: Duration = Duration::from_millis(100);

/// What became known of a collection.
#[derive(Debug)]
pub(crate) enum Event {
    /// All that is there; what isn't among it is gone.
    Listed(Vec<Value>),
    /// An object is there, in this state.
    Applied(Value),
    /// An object is gone; this was its last state.
    Deleted(Value),
}

/// Lists a collection, watches it, and begins anew when the watch ends, for ever.
pub(crate) struct Feed {
    client: Client,
    collection: &'static str,
    watch: Option<Watch>,
}

/// An answer whose lines are events.
struct Watch {
    body: Incoming,
    read: BytesMut,
}

impl Feed {
    pub(crate) fn of(client: &Client, collection: &'static str) -> Self {
        Self { client: client.clone(), collection, watch: None }
    }

    /// The next event. A server that doesn't answer is waited for.
    pub(crate) async fn next(&mut self) -> Event {
        loop {
            let Some(watch) = &mut self.watch else {
                match self.list().await {
                    Ok(objects) => return Event::Listed(objects),
                    Err(_) => tokio::time::sleep(PAUSE).await,
                }
                continue;
            };
            match watch.next().await {
                Ok(Some(event)) => return event,
                Ok(None) => {}
                Err(_) => self.watch = None,
            }
        }
    }

    async fn list(&mut self) -> anyhow::Result<Vec<Value>> {
        let mut list = self.client.get(self.collection).await?.granted()?;
        let version = list["metadata"]["resourceVersion"].as_str().unwrap_or_default();
        let path = format!("{}?watch=true&resourceVersion={version}", self.collection);
        let answer = self.client.stream(&path).await?;
        if !answer.status().is_success() {
            bail!("{path}: {}", answer.status());
        }
        self.watch = Some(Watch { body: answer.into_body(), read: BytesMut::new() });
        Ok(list["items"].as_array_mut().map(std::mem::take).unwrap_or_default())
    }
}

impl Watch {
    /// One event; none where a line tells of nothing. An error ends the watch.
    async fn next(&mut self) -> anyhow::Result<Option<Event>> {
        let mut event: Value = serde_json::from_slice(&self.line().await?)?;
        let object = event["object"].take();
        match event["type"].as_str() {
            Some("ADDED" | "MODIFIED") => Ok(Some(Event::Applied(object))),
            Some("DELETED") => Ok(Some(Event::Deleted(object))),
            Some("BOOKMARK") => Ok(None),
            _ => bail!("{object}"),
        }
    }

    async fn line(&mut self) -> anyhow::Result<BytesMut> {
        loop {
            if let Some(end) = self.read.iter().position(|byte| *byte == b'\n') {
                return Ok(self.read.split_to(end + 1));
            }
            let frame = self.body.frame().await.context("the watch has ended")??;
            if let Some(data) = frame.data_ref() {
                self.read.extend_from_slice(data);
            }
        }
    }
}
