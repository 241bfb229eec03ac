//! Watches that go on for ever.

use std::sync::Arc;

use futures_util::{Stream, StreamExt, pin_mut, stream};
use k8s_openapi::api::core::v1::Secret;
use kube::Api;
use kube::core::PartialObjectMeta;
use kube::runtime::watcher::{self, Config, Event};
use tokio::sync::Notify;
use tracing::debug;

use crate::patience::Backoff;

/// After this time a watch is taken up anew: one whose connection has died without a sound is noticed then.
pub(crate) const WATCH_SECONDS: u32 = 30;

/// The events of a watch. After a fault it is taken up again, ever more seldom while faults go on.
pub(crate) fn lasting<K>(events: impl Stream<Item = watcher::Result<Event<K>>>) -> impl Stream<Item = Event<K>> {
    stream::unfold((Box::pin(events), Backoff::new()), async |(mut events, mut backoff)| {
        loop {
            match events.next().await? {
                Ok(event) => {
                    backoff.reset();
                    return Some((event, (events, backoff)));
                }
                Err(why) => {
                    debug!("a watch was interrupted: {why}");
                    tokio::time::sleep(backoff.fail()).await;
                }
            }
        }
    })
}

/// Notifies whenever there is news of one Secret, which may be that it is gone. Its content is not asked for.
pub(crate) async fn tell_of(api: Api<PartialObjectMeta<Secret>>, name: String, news: Vec<Arc<Notify>>) {
    let config = Config::default().timeout(WATCH_SECONDS).fields(&format!("metadata.name={name}"));
    let events = lasting(watcher::watcher(api, config));
    pin_mut!(events);
    while let Some(event) = events.next().await {
        if !matches!(event, Event::Init) {
            news.iter().map(AsRef::as_ref).for_each(Notify::notify_one);
        }
    }
}
