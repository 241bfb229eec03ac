//! Carries a step out, under its guards.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use gateward_certs::CaBundle;
use gateward_certs::rotation::{CaBundleWrite, Change, SecretChange, restored_ca_bundle};
use k8s_openapi::api::core::v1::Secret;
use tracing::info;

use super::look::Look;
use super::means::Means;
use crate::consumers::{Entry, Sighting, Stanza};
use crate::patience::RequestError;
use crate::secrets::{Which, authority};

/// What became of a write.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
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

impl Means {
    /// Writes what was decided on a look.
    pub(super) async fn carry_out(&self, look: &Look, change: Change) -> Outcome {
        match change {
            Change::CaSecret(change) => self.write_secret(Which::Ca, look.authority.as_ref(), change).await,
            Change::ServingSecret(change) => self.write_secret(Which::Leaf, look.leaf.as_ref(), change).await,
            Change::CaBundles(writes) => self.write_bundles(&look.consumers, &writes).await,
        }
    }

    async fn write_secret(&self, which: Which, before: Option<&Secret>, change: SecretChange) -> Outcome {
        if self.tenure.remaining().is_none() {
            return Outcome::LeaseLost;
        }
        let written = self.secrets.write(which, before, change).await;
        written.map_or_else(|why| Outcome::of(&why, RequestError::is_stale), |_| Outcome::Done)
    }

    /// Each object is written by itself: where one fails, the others are written all the same.
    async fn write_bundles(&self, seen: &[Sighting], writes: &[CaBundleWrite]) -> Outcome {
        let outcomes = join_all(seen.iter().map(async |sighting| {
            let bundle = |entry: &Entry| writes.iter().find(|write| write.target == entry.consumer.id);
            let bundles = sighting.entries.iter().filter_map(|entry| Some((entry, &bundle(entry)?.bundle)));
            let bundles: Vec<_> = bundles.collect();
            if bundles.is_empty() { Outcome::Done } else { self.write_bundles_of(sighting, &bundles).await }
        }));
        outcomes.await.into_iter().fold(Outcome::Done, Outcome::or)
    }

    /// Writes the conversion stanzas that somebody has changed or removed, once there is a CA that they can name. They
    /// come before the bundles of webhook configurations: no object is admitted that couldn't be converted.
    /// Gives nothing where there is nothing to do.
    pub(super) async fn restore_stanzas(&self, look: &Look) -> Option<Outcome> {
        let bundle = restored_ca_bundle(&[], &authority(look.authority.as_ref()?))?;
        let changed: Vec<_> = look.consumers.iter().filter(|sighting| sighting.stanza == Stanza::Restored).collect();
        if changed.is_empty() {
            return None;
        }
        let outcomes = join_all(changed.into_iter().map(async |sighting| {
            let outcome = self.restore_stanza_of(sighting, &bundle).await;
            if outcome == Outcome::Done {
                info!("restored spec.conversion of {}", sighting.object());
            }
            outcome
        }));
        Some(outcomes.await.into_iter().fold(Outcome::Done, Outcome::or))
    }

    pub(super) async fn restore_stanza_of(&self, seen: &Sighting, bundle: &CaBundle) -> Outcome {
        self.guarded(seen, self.consumers.restore_stanza(seen, bundle)).await
    }

    pub(super) async fn write_bundles_of(&self, seen: &Sighting, bundles: &[(&Entry, &CaBundle)]) -> Outcome {
        self.guarded(seen, self.consumers.write(seen, bundles)).await
    }

    /// Writes an object as long as this replica may, and nobody undoes it again and again.
    async fn guarded(&self, seen: &Sighting, write: impl Future<Output = Result<(), RequestError>>) -> Outcome {
        if self.tenure.remaining().is_none() {
            return Outcome::LeaseLost;
        }
        if let Err(wait) = self.fights.may_write(&seen.object(), Instant::now()) {
            return Outcome::Deferred(wait);
        }
        write.await.map_or_else(|why| Outcome::of(&why, RequestError::is_stale_patch), |()| Outcome::Done)
    }
}

impl Outcome {
    fn of(why: &RequestError, is_stale: impl Fn(&RequestError) -> bool) -> Self {
        if is_stale(why) { Self::Stale(why.to_string()) } else { Self::Failed(why.to_string()) }
    }

    /// The first that is not well.
    fn or(self, other: Self) -> Self {
        if self == Self::Done { other } else { self }
    }
}
