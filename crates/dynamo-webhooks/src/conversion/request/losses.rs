//! What is lost between the versions although the operator's own annotations were written.
//!
//! A loss is found by going there and back: the place, what comes back, and what was there. It is made good as long as
//! the same thing comes back, and only where the other version can't see it, so that it never wins over a live field.

use std::slice::from_ref;

use gateward_core::Issues;
use gateward_core::conversion::ANNOTATION_LIMIT;
use gateward_core::conversion::preserved::PRESERVED;
use gateward_core::patch::same_value;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::free_form::is_nothing;

/// Whatever a pod template holds is kept by the operator's annotation; there, an empty block is as good as none.
const POD: &str = "/overrides/profilingJob/";

/// So many losses are looked at one by one where they can't be made good together.
const SINGLY: usize = 16;

/// All losses of an object. Of a status none are kept: our annotation never touches it.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Losses {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub spec: Vec<Loss>,
}

impl Losses {
    /// Reads what was kept; damage is noted.
    pub fn read(kept: Value, issues: &mut Issues) -> Self {
        serde_json::from_value(kept).unwrap_or_else(|_| {
            PRESERVED.note_damage(issues);
            Self::default()
        })
    }

    /// What is to be kept, if anything is.
    pub fn into_value(self) -> Option<Value> {
        serde_json::to_value(self).ok().filter(|losses| *losses != json!({}))
    }
}

/// A node that doesn't come back as it was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Loss {
    /// JSON pointer from the spec.
    at: String,
    /// What comes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reads: Option<Value>,
    /// What was there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    was: Option<Value>,
}

/// What is lost if `was` comes back as `reads`. Of a spec that is longer than an annotation may be nothing is kept.
pub(super) fn between<T: Serialize + PartialEq>(reads: &T, was: &T) -> Vec<Loss> {
    let mut losses = Vec::new();
    let is_small = || serde_json::to_string(was).is_ok_and(|text| text.len() <= ANNOTATION_LIMIT);
    if reads != was
        && is_small()
        && let (Ok(reads), Ok(was)) = (serde_json::to_value(reads), serde_json::to_value(was))
    {
        collect(Some(&reads), Some(&was), "", &mut losses);
    }
    losses
}

/// `live` with its losses made good, as far as they are still the same and `seen`, what the other version sees of it,
/// stays the same too.
pub(super) fn make_good<T, Seen>(live: T, losses: &[Loss], seen: impl Fn(&T) -> Seen) -> T
where
    T: Serialize + DeserializeOwned,
    Seen: PartialEq,
{
    if losses.is_empty() {
        return live;
    }
    let as_is = seen(&live);
    let unseen = |losses: &[Loss], live: &T| restored(live, losses).filter(|restored| seen(restored) == as_is);
    if let Some(restored) = unseen(losses, &live) {
        return restored;
    }
    losses.iter().take(SINGLY).fold(live, |live, loss| unseen(from_ref(loss), &live).unwrap_or(live))
}

fn restored<T: Serialize + DeserializeOwned>(live: &T, losses: &[Loss]) -> Option<T> {
    let mut tree = serde_json::to_value(live).ok()?;
    for loss in losses.iter().filter(|loss| !loss.at.is_empty()) {
        loss.make_good(&mut tree);
    }
    serde_json::from_value(tree).ok()
}

fn collect(reads: Option<&Value>, was: Option<&Value>, at: &str, losses: &mut Vec<Loss>) {
    match (reads, was) {
        (Some(Value::Object(reads)), Some(Value::Object(was))) => {
            let more = was.keys().filter(|name| !reads.contains_key(*name));
            for name in reads.keys().chain(more) {
                collect(reads.get(name), was.get(name), &format!("{at}/{}", escaped(name)), losses);
            }
        }
        (Some(Value::Array(reads)), Some(Value::Array(was))) if reads.len() == was.len() => {
            for (index, (reads, was)) in reads.iter().zip(was).enumerate() {
                collect(Some(reads), Some(was), &format!("{at}/{index}"), losses);
            }
        }
        _ if is_same(reads, was) => {}
        _ if at.starts_with(POD) && reads.is_none_or(is_nothing) && was.is_none_or(is_nothing) => {}
        _ => losses.push(Loss { at: at.to_owned(), reads: reads.cloned(), was: was.cloned() }),
    }
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Null is another way to be absent.
fn is_same(one: Option<&Value>, other: Option<&Value>) -> bool {
    same_value(one.unwrap_or(&Value::Null), other.unwrap_or(&Value::Null))
}

impl Loss {
    fn make_good(&self, tree: &mut Value) {
        if is_same(tree.pointer(&self.at), self.reads.as_ref()) {
            let _ = self.put(tree);
        }
    }

    fn put(&self, tree: &mut Value) -> Option<()> {
        let (parent, name) = self.at.rsplit_once('/')?;
        let name = name.replace("~1", "/").replace("~0", "~");
        match (tree.pointer_mut(parent)?, self.was.clone()) {
            (Value::Object(members), Some(was)) => drop(members.insert(name, was)),
            (Value::Object(members), None) => drop(members.remove(&name)),
            (Value::Array(items), Some(was)) => *items.get_mut(name.parse::<usize>().ok()?)? = was,
            _ => {}
        }
        Some(())
    }
}
