//! Restores bundles as soon as someone takes something from them, whatever the writer is waiting for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use gateward_certs::CaBundle;
use gateward_certs::rotation::{CaSecret, restored_ca_bundle};
use tokio::sync::{mpsc, watch};
use tracing::{debug, warn};

use super::act::Outcome;
use super::board::Topic;
use super::means::Means;
use crate::consumers::{Entry, Sighting, Stanza};
use crate::patience::RequestError;
use crate::secrets::{Which, authority};

/// An object as a watch has told of it.
#[derive(Debug)]
pub(super) struct Changed {
    pub(super) sighting: Sighting,
    /// Who may have changed it.
    pub(super) by: String,
}

/// Looks at every object that has changed, for as long as this replica is not about to stop. An API server may take
/// seconds for one object; the others don't wait for it.
pub(super) async fn repair(
    means: Arc<Means>,
    mut changes: mpsc::UnboundedReceiver<Changed>,
    mut stop: watch::Receiver<bool>,
) {
    let mut waiting = BTreeMap::new();
    let (mut busy, mut running) = (BTreeSet::new(), FuturesUnordered::new());
    loop {
        tokio::select! {
            _ = stop.wait_for(|stop| *stop) => break,
            changed = changes.recv() => match changed {
                // Only the last state of each object counts.
                Some(changed) => drop(waiting.insert(changed.sighting.object(), changed)),
                None => break,
            },
            Some(object) = running.next() => {
                busy.remove(&object);
                means.news.notify_one();
            }
        }
        let begun = waiting.extract_if(.., |object, _| !busy.contains(object));
        for (object, changed) in begun.collect::<Vec<_>>() {
            busy.insert(object.clone());
            running.push(look_after(&means, object, changed));
        }
    }
    // What is being written is written to its end.
    while running.next().await.is_some() {}
}

async fn look_after(means: &Means, object: String, changed: Changed) -> String {
    if let Err(why) = mend(means, &changed).await {
        debug!("{object} could not be looked after: {why}");
    }
    object
}

async fn mend(means: &Means, changed: &Changed) -> Result<(), RequestError> {
    let gone = changed.sighting.stanza == Stanza::Restored;
    let lacks = |authority: &CaSecret| gone || !lacking(&changed.sighting, authority).is_empty();
    // What this replica has seen itself saves most readings; where it is old, the writer's next look sees the rest.
    let suspicious = means.tenure.remaining().is_some() && means.remembered_authority().as_ref().is_some_and(lacks);
    if !suspicious {
        return Ok(());
    }
    let Some(secret) = means.secrets.read(Which::Ca).await? else { return Ok(()) };
    let authority = authority(&secret);
    if gone && let Some(bundle) = restored_ca_bundle(&[], &authority) {
        let outcome = means.restore_stanza_of(&changed.sighting, &bundle).await;
        tell(means, changed, outcome);
        return Ok(());
    }
    let bundles = lacking(&changed.sighting, &authority);
    if bundles.is_empty() {
        return Ok(());
    }
    let writes: Vec<_> = bundles.iter().map(|(entry, bundle)| (*entry, bundle)).collect();
    let outcome = means.write_bundles_of(&changed.sighting, &writes).await;
    tell(means, changed, outcome);
    Ok(())
}

/// The entries that lack something, and what they are to carry.
fn lacking<'a>(seen: &'a Sighting, authority: &CaSecret) -> Vec<(&'a Entry, CaBundle)> {
    let restored_ca_bundle = |entry: &'a Entry| Some((entry, restored_ca_bundle(&entry.consumer.bundle, authority)?));
    seen.entries.iter().filter_map(restored_ca_bundle).collect()
}

fn tell(means: &Means, changed: &Changed, outcome: Outcome) {
    let object = changed.sighting.object();
    let by = &changed.by;
    let what = if changed.sighting.stanza == Stanza::Restored { "spec.conversion" } else { "the caBundle" };
    match outcome {
        Outcome::Done => {
            warn!("{what} of {object} lacked what it has to carry, and is restored; changed by {by}");
            means.board.note(|facts| facts.repairs += 1);
        }
        Outcome::Deferred(wait) => {
            let fight = format!(
                "someone keeps changing {what} of {object} (this time {by}), so it is restored every {} s only; \
                 leave that field out of whatever writes there",
                wait.as_secs().max(1)
            );
            means.board.warn(Topic::Fight, Some(fight));
        }
        other => debug!("{object} is not restored: {other:?}"),
    }
}
