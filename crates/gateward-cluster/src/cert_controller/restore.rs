//! Restores `caBundle`s and conversion stanzas as soon as a watch sees them changed, while the reconciler may be
//! waiting.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use gateward_certs::rotation::restored_ca_bundle;
use gateward_certs::{CaBundle, Provision};
use tokio::sync::{mpsc, watch};
use tracing::{debug, warn};

use super::apply::WriteOutcome;
use super::leader::LeaderContext;
use super::status_store::StatusTopic;
use crate::injection::{ConversionAction, TargetEntry, TargetObject};
use crate::lease::LOG_TARGET;
use crate::request::RequestError;

/// An object that a watch has seen changed.
#[derive(Debug)]
pub(super) struct Changed {
    pub(super) object: TargetObject,
    /// The field managers that may have changed it.
    pub(super) by: String,
}

/// Checks every changed object until `stop`. Objects are written concurrently: an API server may take seconds for one.
pub(super) async fn restore_changed(
    context: &LeaderContext,
    changes: &mut mpsc::UnboundedReceiver<Changed>,
    mut stop: watch::Receiver<bool>,
) {
    let mut waiting = BTreeMap::new();
    let (mut busy, mut running) = (BTreeSet::new(), FuturesUnordered::new());
    loop {
        tokio::select! {
            _ = stop.wait_for(|stop| *stop) => break,
            changed = changes.recv() => match changed {
                // Only the latest state of each object counts.
                Some(changed) => drop(waiting.insert(changed.object.display_name(), changed)),
                None => break,
            },
            Some(object) = running.next() => {
                busy.remove(&object);
                context.wakeup.notify_one();
            }
        }
        let begun = waiting.extract_if(.., |object, _| !busy.contains(object));
        for (object, changed) in begun.collect::<Vec<_>>() {
            busy.insert(object.clone());
            running.push(restore_object(context, object, changed));
        }
    }
    // Writes under way are completed.
    while running.next().await.is_some() {}
}

async fn restore_object(context: &LeaderContext, object: String, changed: Changed) -> String {
    if let Err(why) = restore(context, &changed).await {
        debug!("{object} could not be checked: {why}");
    }
    object
}

async fn restore(context: &LeaderContext, changed: &Changed) -> Result<(), RequestError> {
    let gone = changed.object.conversion == ConversionAction::Restore;
    let lacks = |trusted: &CaBundle| gone || !missing(context, &changed.object, trusted).is_empty();
    // The remembered CAs save most reads; if they are outdated, the reconciler's next snapshot sees the rest.
    let remembered = Some(context.remembered()).filter(|trusted| !trusted.is_empty());
    if context.leadership.remaining().is_none() || !remembered.as_ref().is_some_and(lacks) {
        return Ok(());
    }
    let trusted = context.read_trusted().await?;
    if gone && !trusted.is_empty() {
        let outcome = context.restore_stanza_of(&changed.object, &trusted).await;
        report_outcome(context, changed, outcome);
        return Ok(());
    }
    let bundles = missing(context, &changed.object, &trusted);
    if bundles.is_empty() {
        return Ok(());
    }
    let writes: Vec<_> = bundles.iter().map(|(entry, bundle)| (*entry, bundle)).collect();
    let outcome = context.write_bundles_of(&changed.object, &writes).await;
    report_outcome(context, changed, outcome);
    Ok(())
}

/// The entries whose `caBundle` lacks a CA, each with the bundle to write, where the leader provides it. Where the user
/// does, it is the reconciler that has CRDs follow the configurations.
fn missing<'a>(
    context: &LeaderContext,
    seen: &'a TargetObject,
    trusted: &CaBundle,
) -> Vec<(&'a TargetEntry, CaBundle)> {
    if context.provision != Provision::Automatic {
        return Vec::new();
    }
    let restored = |entry: &'a TargetEntry| Some((entry, restored_ca_bundle(&entry.target.bundle, trusted)?));
    seen.entries.iter().filter_map(restored).collect()
}

fn report_outcome(context: &LeaderContext, changed: &Changed, outcome: WriteOutcome) {
    let object = changed.object.display_name();
    let by = &changed.by;
    let what = if changed.object.conversion == ConversionAction::Restore { "spec.conversion" } else { "the caBundle" };
    match outcome {
        WriteOutcome::Done => {
            match changed.object.conversion {
                ConversionAction::Restore => {
                    warn!(target: LOG_TARGET, "restored spec.conversion of {object} (last changed by {by})");
                }
                ConversionAction::Keep | ConversionAction::TakeOver => {
                    warn!(target: LOG_TARGET, "restored caBundle of {object}: expected CA was missing (last changed by {by})");
                }
            }
            context.status.update(|facts| facts.status.restored_bundles += 1);
        }
        WriteOutcome::Deferred(wait) => {
            let fight = format!(
                "someone keeps changing {what} of {object} (this time {by}), so it is restored every {} s only; \
                 leave that field out of whatever writes there",
                wait.as_secs().max(1)
            );
            context.status.warn(StatusTopic::WriteConflict, Some(fight));
        }
        other => debug!("{object} is not restored: {other:?}"),
    }
}
