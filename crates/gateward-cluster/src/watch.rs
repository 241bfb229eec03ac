//! Watches that restart with backoff.

use std::fmt::Debug;
use std::sync::Arc;

use futures_util::{Stream, StreamExt, pin_mut, stream};
use k8s_openapi::api::core::v1::Secret;
use kube::core::PartialObjectMeta;
use kube::runtime::watcher::{self, Config, Event};
use kube::{Api, Resource};
use serde::de::DeserializeOwned;
use tokio::sync::Notify;
use tracing::debug;

use crate::failure::reason;
use crate::request::{Backoff, ErrorStreak};

/// The timeout after which a watch restarts, so that a dead connection is noticed.
const WATCH_SECONDS: u32 = 30;

/// How many objects one page of a list has. All of a page are in memory at a time, and etcd stores 1.5 MiB of each; a list of
/// many pages may take longer than etcd keeps what it began with.
const PAGE: u32 = 100;

/// The events of what is listed and then watched. `report` is called when errors last, and when they end.
pub(crate) fn watch_with_backoff<K>(
    api: Api<K>,
    config: Config,
    report: impl Fn(Option<String>),
) -> impl Stream<Item = Event<K>>
where
    K: Resource + Clone + DeserializeOwned + Debug + Send + 'static,
{
    let config = config.timeout(WATCH_SECONDS).page_size(PAGE);
    with_backoff(move || watcher::watcher(api.clone(), config.clone()), report)
}

/// The events of a watch, restarted with backoff after errors.
///
/// A watch that kube resumes after errors brings nothing until an object changes. Once they have lasted, it starts anew with
/// a list, whose end says that they are over.
fn with_backoff<K, S: Stream<Item = watcher::Result<Event<K>>>>(
    start: impl Fn() -> S,
    report: impl Fn(Option<String>),
) -> impl Stream<Item = Event<K>> {
    let events = Box::pin(start());
    stream::unfold((events, Backoff::new(), start, report), async |(mut events, mut backoff, start, report)| {
        loop {
            match events.next().await? {
                // A list that has begun is no success yet: its next page may fail.
                Ok(event @ (Event::Init | Event::InitApply(_))) => {
                    return Some((event, (events, backoff, start, report)));
                }
                Ok(event) => {
                    if backoff.reset() == ErrorStreak::Long {
                        report(None);
                    }
                    return Some((event, (events, backoff, start, report)));
                }
                Err(why) => {
                    let why = watch_reason(&why);
                    debug!("a watch was interrupted: {why}");
                    let wait = backoff.fail();
                    let lasts = backoff.streak() == ErrorStreak::Long;
                    if lasts {
                        report(Some(why));
                    }
                    tokio::time::sleep(wait).await;
                    if lasts {
                        events.set(start());
                    }
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
pub(crate) async fn notify_on_change(api: Api<PartialObjectMeta<Secret>>, name: &str, wakeup: &[Arc<Notify>]) {
    let config = Config::default().fields(&format!("metadata.name={name}"));
    // The Secret is also read periodically, and that read reports errors.
    let events = watch_with_backoff(api, config, |_| {});
    pin_mut!(events);
    while let Some(event) = events.next().await {
        if !matches!(event, Event::Init) {
            wakeup.iter().map(AsRef::as_ref).for_each(Notify::notify_one);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::time::Duration;

    use super::*;

    /// As kube's watches are: one that resumes after errors brings nothing while nothing changes.
    #[tokio::test(start_paused = true)]
    async fn a_watch_whose_errors_have_lasted_lists_anew_and_says_that_they_are_over() {
        let (starts, reports) = (Cell::new(0), RefCell::new(Vec::new()));
        let start = || {
            starts.set(starts.get() + 1);
            let events: Vec<watcher::Result<Event<()>>> = match starts.get() {
                1 => (0..4).map(|_| Err(watcher::Error::NoResourceVersion)).collect(),
                _ => vec![Ok(Event::Init), Ok(Event::InitDone)],
            };
            stream::iter(events).chain(stream::pending())
        };
        let report = |why: Option<String>| reports.borrow_mut().push(why.is_some());
        let events: Vec<_> = with_backoff(start, report).take(2).collect().await;
        assert!(matches!(events[..], [Event::Init, Event::InitDone]), "{events:?}");
        assert_eq!((starts.get(), reports.into_inner()), (2, vec![true, false]));
    }

    #[tokio::test(start_paused = true)]
    async fn a_watch_that_failed_for_a_moment_resumes() {
        let starts = Cell::new(0);
        let start = || {
            starts.set(starts.get() + 1);
            let error = || Err(watcher::Error::NoResourceVersion);
            stream::iter([error(), error(), error(), Ok(Event::Apply(()))]).chain(stream::pending())
        };
        let report = |why| panic!("{why:?} lasts for a moment");
        let events: Vec<_> = with_backoff(start, report).take(1).collect().await;
        assert!(matches!(events[..], [Event::Apply(())]), "{events:?}");
        assert_eq!(starts.get(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_list_whose_second_page_fails_is_read_again_after_longer_and_longer_waits() {
        let (starts, reports) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()));
        let start = || {
            let list = |_| [Ok(Event::Init), Ok(Event::InitApply(())), Err(watcher::Error::NoResourceVersion)];
            stream::iter((0..10).flat_map(list)).chain(stream::pending())
        };
        let report = |why: Option<String>| reports.borrow_mut().push(why.is_some());
        let events = with_backoff(start, report);
        pin_mut!(events);
        for _ in 0..8 {
            assert!(matches!(events.next().await, Some(Event::Init)));
            starts.borrow_mut().push(tokio::time::Instant::now());
            assert!(matches!(events.next().await, Some(Event::InitApply(()))));
        }
        let waits: Vec<_> = starts.into_inner().windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(waits[4] >= Duration::from_secs(4), "{waits:?}");
        assert!(reports.borrow().iter().all(|fails| *fails) && !reports.borrow().is_empty(), "{reports:?}");
    }
}
