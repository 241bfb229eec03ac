//! Watches that go on for ever.

use std::sync::Arc;

use futures_util::{Stream, StreamExt, pin_mut, stream};
use k8s_openapi::api::core::v1::Secret;
use kube::Api;
use kube::core::PartialObjectMeta;
use kube::runtime::watcher::{self, Config, Event};
use tokio::sync::Notify;
use tracing::debug;

use crate::failure::told;
use crate::patience::{Backoff, Trouble};

/// After this time a watch is taken up anew: one whose connection has died without a sound is noticed then.
pub(crate) const WATCH_SECONDS: u32 = 30;

/// The events of a watch. After a fault it is taken up again, ever more seldom while faults go on; one that lasts is told.
pub(crate) fn lasting<K>(
    events: impl Stream<Item = watcher::Result<Event<K>>>,
    tell: impl Fn(Option<String>),
) -> impl Stream<Item = Event<K>> {
    stream::unfold((Box::pin(events), Backoff::new(), tell), async |(mut events, mut backoff, tell)| {
        loop {
            match events.next().await? {
                // This only says that it is about to begin.
                Ok(Event::Init) => return Some((Event::Init, (events, backoff, tell))),
                Ok(event) => {
                    if backoff.reset() == Trouble::Lasting {
                        tell(None);
                    }
                    return Some((event, (events, backoff, tell)));
                }
                Err(why) => {
                    let why = reason(&why);
                    debug!("a watch was interrupted: {why}");
                    let wait = backoff.fail();
                    if backoff.trouble() == Trouble::Lasting {
                        tell(Some(why));
                    }
                    tokio::time::sleep(wait).await;
                }
            }
        }
    })
}

fn reason(why: &watcher::Error) -> String {
    use watcher::Error;
    match why {
        Error::InitialListFailed(why) | Error::WatchStartFailed(why) | Error::WatchFailed(why) => told(why),
        Error::WatchError(status) => status.message.clone(),
        other @ Error::NoResourceVersion => other.to_string(),
    }
}

/// Notifies whenever there is news of one Secret, which may be that it is gone. Its content is not asked for.
pub(crate) async fn tell_of(api: Api<PartialObjectMeta<Secret>>, name: String, news: Vec<Arc<Notify>>) {
    let config = Config::default().timeout(WATCH_SECONDS).fields(&format!("metadata.name={name}"));
    // The Secret is read every now and then all the same, and whoever reads it tells.
    let events = lasting(watcher::watcher(api, config), |_| {});
    pin_mut!(events);
    while let Some(event) = events.next().await {
        if !matches!(event, Event::Init) {
            news.iter().map(AsRef::as_ref).for_each(Notify::notify_one);
        }
    }
}
