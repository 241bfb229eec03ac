//! Watches that restart with backoff.

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

/// The timeout after which a watch restarts, so that a dead connection is noticed.
pub(crate) const WATCH_SECONDS: u32 = 30;

/// The events of a watch, restarted with backoff after errors. `report` is called when errors last, and when they end.
pub(crate) fn with_backoff<K>(
    events: impl Stream<Item = watcher::Result<Event<K>>>,
    report: impl Fn(Option<String>),
) -> impl Stream<Item = Event<K>> {
    stream::unfold((Box::pin(events), Backoff::new(), report), async |(mut events, mut backoff, report)| {
        loop {
            match events.next().await? {
                // A list begins: that is no success yet.
                Ok(Event::Init) => return Some((Event::Init, (events, backoff, report))),
                Ok(event) => {
                    if backoff.reset() == ErrorStreak::Long {
                        report(None);
                    }
                    return Some((event, (events, backoff, report)));
                }
                Err(why) => {
                    let why = watch_reason(&why);
                    debug!("a watch was interrupted: {why}");
                    let wait = backoff.fail();
                    if backoff.streak() == ErrorStreak::Long {
                        report(Some(why));
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

/// Notifies on every change of one Secret, including its deletion. Only metadata is watched.
pub(crate) async fn notify_on_change(api: Api<PartialObjectMeta<Secret>>, name: String, wakeup: Vec<Arc<Notify>>) {
    let config = Config::default().timeout(WATCH_SECONDS).fields(&format!("metadata.name={name}"));
    // The Secret is also read periodically, and that read reports errors.
    let events = with_backoff(watcher::watcher(api, config), |_| {});
    pin_mut!(events);
    while let Some(event) = events.next().await {
        if !matches!(event, Event::Init) {
            wakeup.iter().map(AsRef::as_ref).for_each(Notify::notify_one);
        }
    }
}
