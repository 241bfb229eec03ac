//! Watches that go on for ever.

use std::sync::Arc;

use futures_util::{Stream, StreamExt, pin_mut, stream};
use k8s_openapi::api::core::v1::Secret;
use kube::Api;
use kube::core::PartialObjectMeta;
use kube::runtime::watcher::{self, Config, Event};
use tokio::sync::Notify;
use tracing::debug;

use crate::failure::reason;
use crate::request::{Backoff, ErrorStreak};

/// After this time a watch is taken up anew: one whose connection has died without a sound is noticed then.
pub(crate) const WATCH_SECONDS: u32 = 30;

/// The events of a watch. After a fault it is taken up again, ever more seldom while faults go on; one that lasts is told.
pub(crate) fn with_backoff<K>(
    events: impl Stream<Item = watcher::Result<Event<K>>>,
    tell: impl Fn(Option<String>),
) -> impl Stream<Item = Event<K>> {
    stream::unfold((Box::pin(events), Backoff::new(), tell), async |(mut events, mut backoff, tell)| {
        loop {
            match events.next().await? {
                // This only says that it is about to begin.
                Ok(Event::Init) => return Some((Event::Init, (events, backoff, tell))),
                Ok(event) => {
                    if backoff.reset() == ErrorStreak::Long {
                        tell(None);
                    }
                    return Some((event, (events, backoff, tell)));
                }
                Err(why) => {
                    let why = watch_reason(&why);
                    debug!("a watch was interrupted: {why}");
                    let wait = backoff.fail();
                    if backoff.streak() == ErrorStreak::Long {
                        tell(Some(why));
                    }
                    tokio::time::sleep(wait).await;
                }
            }
        }
    })
}

fn watch_reason(why: &watcher::Error) -> String {
    use watcher::Error;
    match why {
        Error::InitialListFailed(why) | Error::WatchStartFailed(why) | Error::WatchFailed(why) => reason(why),
        Error::WatchError(status) => status.message.clone(),
        other @ Error::NoResourceVersion => other.to_string(),
    }
}

/// Notifies whenever there is news of one Secret, which may be that it is gone. Its content is not asked for.
pub(crate) async fn notify_on_change(api: Api<PartialObjectMeta<Secret>>, name: String, wakeup: Vec<Arc<Notify>>) {
    let config = Config::default().timeout(WATCH_SECONDS).fields(&format!("metadata.name={name}"));
    // The Secret is read every now and then all the same, and whoever reads it tells.
    let events = with_backoff(watcher::watcher(api, config), |_| {});
    pin_mut!(events);
    while let Some(event) = events.next().await {
        if !matches!(event, Event::Init) {
            wakeup.iter().map(AsRef::as_ref).for_each(Notify::notify_one);
        }
    }
}
