//! Applies the writes of a step, each guarded by a resourceVersion and the lease.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use gateward_certs::CaBundle;
use gateward_certs::rotation::{CaBundleWrite, Change, SecretChange};
use json_patch::Patch;
use k8s_openapi::api::core::v1::Secret;
use tracing::info;

use super::leader::LeaderContext;
use super::snapshot::Snapshot;
use crate::injection::{ConversionReadiness, TargetEntry, TargetObject};
use crate::lease::LOG_TARGET;
use crate::namespace_lease::OwnConfiguration;
use crate::request::RequestError;
use crate::secrets::ManagedSecret;

/// The outcome of a write.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum WriteOutcome {
    /// It is done.
    Done,
    /// An object has changed meanwhile: the next snapshot decides.
    Stale(String),
    /// Another client keeps undoing the write, so it is rate-limited for this time.
    Deferred(Duration),
    /// Another replica may be the leader by now.
    LeaseLost,
    /// It failed, or there was no answer.
    Failed(String),
}

impl LeaderContext {
    /// Applies the change that was decided on a snapshot.
    pub(super) async fn apply(&self, snapshot: &Snapshot, change: Change) -> WriteOutcome {
        match change {
            Change::CaSecret(change) => self.write_secret(ManagedSecret::Ca, snapshot.state.as_ref(), change).await,
            Change::ServingSecret(change) => {
                self.write_secret(ManagedSecret::Serving, snapshot.serving.as_ref(), change).await
            }
            Change::CaBundles(writes) => self.write_bundles(&snapshot.targets, &writes).await,
        }
    }

    /// Writes the Secret with the bundle.
    pub(super) async fn write_bundle_secret(&self, snapshot: &Snapshot, change: SecretChange) -> WriteOutcome {
        self.write_secret(ManagedSecret::Bundle, snapshot.state.as_ref(), change).await
    }

    async fn write_secret(&self, which: ManagedSecret, before: Option<&Secret>, change: SecretChange) -> WriteOutcome {
        if self.leadership.remaining().is_none() {
            return WriteOutcome::LeaseLost;
        }
        let written = self.secrets.write(which, before, change).await;
        written.map_or_else(|why| WriteOutcome::of(&why, RequestError::is_stale), |_| WriteOutcome::Done)
    }

    /// Writes each object by itself, so that a failure of one affects no other.
    async fn write_bundles(&self, seen: &[TargetObject], writes: &[CaBundleWrite]) -> WriteOutcome {
        let outcomes = join_all(seen.iter().map(async |object| {
            let bundle = |entry: &TargetEntry| writes.iter().find(|write| write.target == entry.target.id);
            let bundles = object.entries.iter().filter_map(|entry| Some((entry, &bundle(entry)?.bundle)));
            let bundles: Vec<_> = bundles.collect();
            if bundles.is_empty() { WriteOutcome::Done } else { self.write_bundles_of(object, &bundles).await }
        }));
        outcomes.await.into_iter().fold(WriteOutcome::Done, WriteOutcome::or)
    }

    /// Restores conversion stanzas that were changed or removed, once there is a CA. They come before the `caBundle`s
    /// of webhook configurations: no object is allowed that can't be converted. A stanza that another Service serves is
    /// taken over once `ours` can. Returns `None` if no stanza is to be written.
    pub(super) async fn restore_stanzas(&self, snapshot: &Snapshot, ours: ConversionReadiness) -> Option<WriteOutcome> {
        let bundle = Some(snapshot.trusted(&self.provision)).filter(|bundle| !bundle.is_empty())?;
        let changed: Vec<_> = snapshot.targets.iter().filter(|object| object.conversion.is_due(ours)).collect();
        if changed.is_empty() {
            return None;
        }
        let outcomes = join_all(changed.into_iter().map(async |object| {
            let outcome = self.restore_stanza_of(object, &bundle).await;
            if outcome == WriteOutcome::Done {
                info!(target: LOG_TARGET, "restored spec.conversion of {}", object.display_name());
            }
            outcome
        }));
        Some(outcomes.await.into_iter().fold(WriteOutcome::Done, WriteOutcome::or))
    }

    pub(super) async fn restore_stanza_of(&self, seen: &TargetObject, bundle: &CaBundle) -> WriteOutcome {
        self.guarded(&seen.display_name(), self.targets.restore_stanza(seen, bundle)).await
    }

    pub(super) async fn write_bundles_of(
        &self,
        seen: &TargetObject,
        bundles: &[(&TargetEntry, &CaBundle)],
    ) -> WriteOutcome {
        self.guarded(&seen.display_name(), self.targets.write(seen, bundles)).await
    }

    /// Has our own webhooks leave claimed namespaces out.
    pub(super) async fn write_selectors(&self, own: &OwnConfiguration, patch: Patch) -> WriteOutcome {
        self.guarded(&own.name, self.targets.patch_selectors(own, patch)).await
    }

    /// Writes an object if this replica is the leader and the rate limit allows it.
    async fn guarded(&self, object: &str, write: impl Future<Output = Result<(), RequestError>>) -> WriteOutcome {
        if self.leadership.remaining().is_none() {
            return WriteOutcome::LeaseLost;
        }
        if let Err(wait) = self.rate_limiter.may_write(object, Instant::now()) {
            return WriteOutcome::Deferred(wait);
        }
        write.await.map_or_else(|why| WriteOutcome::of(&why, RequestError::is_stale_patch), |()| WriteOutcome::Done)
    }
}

impl WriteOutcome {
    fn of(why: &RequestError, is_stale: impl Fn(&RequestError) -> bool) -> Self {
        if is_stale(why) { Self::Stale(why.to_string()) } else { Self::Failed(why.to_string()) }
    }

    /// The first outcome that is not [`Done`](Self::Done).
    pub(super) fn or(self, other: Self) -> Self {
        if self == Self::Done { other } else { self }
    }
}
