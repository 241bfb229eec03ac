//! Carries a step out, under its guards.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use gateward_certs::CaBundle;
use gateward_certs::rotation::{CaBundleWrite, Change, SecretChange, restored_ca_bundle};
use k8s_openapi::api::core::v1::Secret;
use tracing::info;

use super::context::ControllerContext;
use super::snapshot::Snapshot;
use crate::injection::{ConversionAction, TargetEntry, TargetObject};
use crate::request::RequestError;
use crate::secrets::{ManagedSecret, ca};

/// What became of a write.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum WriteOutcome {
    /// It is done.
    Done,
    /// An object has changed meanwhile: a new look decides.
    Stale(String),
    /// Someone undoes what is written, and it is not written again before that much time has passed.
    Deferred(Duration),
    /// Another replica may be writing by now.
    LeaseLost,
    /// It was refused, or there was no answer.
    Failed(String),
}

impl ControllerContext {
    /// Writes what was decided on a look.
    pub(super) async fn apply(&self, snapshot: &Snapshot, change: Change) -> WriteOutcome {
        match change {
            Change::CaSecret(change) => self.write_secret(ManagedSecret::Ca, snapshot.ca.as_ref(), change).await,
            Change::ServingSecret(change) => {
                self.write_secret(ManagedSecret::Serving, snapshot.serving.as_ref(), change).await
            }
            Change::CaBundles(writes) => self.write_bundles(&snapshot.targets, &writes).await,
        }
    }

    async fn write_secret(&self, which: ManagedSecret, before: Option<&Secret>, change: SecretChange) -> WriteOutcome {
        if self.leadership.remaining().is_none() {
            return WriteOutcome::LeaseLost;
        }
        let written = self.secrets.write(which, before, change).await;
        written.map_or_else(|why| WriteOutcome::of(&why, RequestError::is_stale), |_| WriteOutcome::Done)
    }

    /// Each object is written by itself: where one fails, the others are written all the same.
    async fn write_bundles(&self, seen: &[TargetObject], writes: &[CaBundleWrite]) -> WriteOutcome {
        let outcomes = join_all(seen.iter().map(async |object| {
            let bundle = |entry: &TargetEntry| writes.iter().find(|write| write.target == entry.target.id);
            let bundles = object.entries.iter().filter_map(|entry| Some((entry, &bundle(entry)?.bundle)));
            let bundles: Vec<_> = bundles.collect();
            if bundles.is_empty() { WriteOutcome::Done } else { self.write_bundles_of(object, &bundles).await }
        }));
        outcomes.await.into_iter().fold(WriteOutcome::Done, WriteOutcome::or)
    }

    /// Writes the conversion stanzas that somebody has changed or removed, once there is a CA that they can name. They
    /// come before the bundles of webhook configurations: no object is admitted that couldn't be converted.
    /// Gives nothing where there is nothing to do.
    pub(super) async fn restore_stanzas(&self, snapshot: &Snapshot) -> Option<WriteOutcome> {
        let bundle = restored_ca_bundle(&[], &ca(snapshot.ca.as_ref()?))?;
        let changed: Vec<_> =
            snapshot.targets.iter().filter(|object| object.conversion == ConversionAction::Restore).collect();
        if changed.is_empty() {
            return None;
        }
        let outcomes = join_all(changed.into_iter().map(async |object| {
            let outcome = self.restore_stanza_of(object, &bundle).await;
            if outcome == WriteOutcome::Done {
                info!("restored spec.conversion of {}", object.display_name());
            }
            outcome
        }));
        Some(outcomes.await.into_iter().fold(WriteOutcome::Done, WriteOutcome::or))
    }

    pub(super) async fn restore_stanza_of(&self, seen: &TargetObject, bundle: &CaBundle) -> WriteOutcome {
        self.guarded(seen, self.targets.restore_stanza(seen, bundle)).await
    }

    pub(super) async fn write_bundles_of(
        &self,
        seen: &TargetObject,
        bundles: &[(&TargetEntry, &CaBundle)],
    ) -> WriteOutcome {
        self.guarded(seen, self.targets.write(seen, bundles)).await
    }

    /// Writes an object as long as this replica may, and nobody undoes it again and again.
    async fn guarded(
        &self,
        seen: &TargetObject,
        write: impl Future<Output = Result<(), RequestError>>,
    ) -> WriteOutcome {
        if self.leadership.remaining().is_none() {
            return WriteOutcome::LeaseLost;
        }
        if let Err(wait) = self.rate_limiter.may_write(&seen.display_name(), Instant::now()) {
            return WriteOutcome::Deferred(wait);
        }
        write.await.map_or_else(|why| WriteOutcome::of(&why, RequestError::is_stale_patch), |()| WriteOutcome::Done)
    }
}

impl WriteOutcome {
    fn of(why: &RequestError, is_stale: impl Fn(&RequestError) -> bool) -> Self {
        if is_stale(why) { Self::Stale(why.to_string()) } else { Self::Failed(why.to_string()) }
    }

    /// The first that is not well.
    fn or(self, other: Self) -> Self {
        if self == Self::Done { other } else { self }
    }
}
