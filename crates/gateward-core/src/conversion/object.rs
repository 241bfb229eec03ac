//! One object from one version to another, with no more of its annotations than can be trusted.
//!
//! A user who may write an object writes its annotations. So a result that they had a part in is held against the schema of
//! its version. Where it breaks that, the object is converted without what conversion itself preserved, and then without any.

use std::collections::BTreeSet;

use crate::conversion::attempt::{Attempt, attempt, finish};
use crate::conversion::route::Route;
use crate::conversion::source::Source;
use crate::conversion::stash::note_damage_of;
use crate::conversion::{ConversionError, Strictness};
use crate::json::decode::{self, DECODE_LIMIT, DecodeError};
use crate::json::shallow::shallow;
use crate::rule::field::{FieldPath, Segment};
use crate::rule::issue::Issues;
use crate::rule::resource::Resource;
use crate::wire::envelope::Metadata;

/// The annotations of an object in which a conversion on this route keeps something.
pub(crate) fn kept_in<'r, A, B>(metadata: &Metadata<'_>, route: &'r impl Route<A, B>) -> Vec<&'r str> {
    let keys = std::iter::once(route.keys().preserved()).chain(route.annotations().iter().copied());
    keys.filter(|key| metadata.annotations.contains_key(*key)).collect()
}

/// Converts one object.
pub(crate) fn convert<A: Resource, B: Resource>(
    source: &Source<'_>,
    route: &impl Route<A, B>,
    issues: &mut Issues,
) -> Result<Attempt, ConversionError> {
    // The type says more exactly what is wrong.
    let named = |odd| {
        let mut errors = decode::object::<A>(source.json, DECODE_LIMIT).err().into_iter().flatten();
        let of_metadata =
            |error: &DecodeError| error.path.segments().first().and_then(Segment::name) == Some("metadata");
        errors.find(of_metadata).map_or(odd, Into::into)
    };
    let metadata = source.read_metadata().map_err(named)?;
    let kept = kept_in(&metadata, route);
    if kept.is_empty() {
        return finish(source, metadata, None, route, issues);
    }
    let ours = [route.keys().preserved()];
    let mut tries: Vec<&[&str]> = vec![&[]];
    tries.extend((kept.len() > 1 && kept.contains(&ours[0])).then_some(ours.as_slice()));
    for dropped in tries {
        let reduced = (!dropped.is_empty()).then(|| source.without(dropped)).transpose()?;
        let tried = reduced.as_deref().map(Source::read).transpose()?;
        let (tried, mut notes) = (tried.as_ref().unwrap_or(source), Issues::new());
        let read: Vec<&str> = kept.iter().copied().filter(|key| !dropped.contains(key)).collect();
        if let Ok(converted) = attempt(tried, route, &mut notes)
            && is_schema_valid::<A, B>(&converted, tried, &read, route)
        {
            issues.extend(notes);
            note_damage(dropped, issues);
            return Ok(Attempt { reduced, ..converted });
        }
    }
    let text = source.without(&kept)?;
    let converted = attempt(&Source::read(&text)?, route, issues)?;
    note_damage(&kept, issues);
    Ok(Attempt { reduced: Some(text), ..converted })
}

fn note_damage(keys: &[&str], issues: &mut Issues) {
    for key in keys {
        note_damage_of(key, issues);
    }
}

/// Whether the result breaks its schema nowhere but where it also does without the annotations. Of a source that breaks
/// its own schema nothing is demanded: the API server takes no such object.
fn is_schema_valid<A: Resource, B: Resource>(
    converted: &Attempt,
    source: &Source<'_>,
    kept: &[&str],
    route: &impl Route<A, B>,
) -> bool {
    let Some(schemas) = route.schemas() else { return true };
    let is_ours = kept.contains(&route.keys().preserved());
    let strictness = if is_ours { Strictness::Whole } else { Strictness::Values };
    let violations =
        |version: &str, json: &str| shallow(json, 1).map(|object| schemas.violations(version, &object, strictness));
    let Some(found) = violations(&B::version(), &converted.json) else { return false };
    if found.is_empty() || violations(&A::version(), source.json).is_some_and(|own| !own.is_empty()) {
        return true;
    }
    let plain = source.without(kept).ok().and_then(|text| {
        let plain = attempt(&Source::read(&text).ok()?, route, &mut Issues::new()).ok()?;
        violations(&B::version(), &plain.json)
    });
    let plain: BTreeSet<FieldPath> = plain.unwrap_or_default().into_iter().collect();
    found.iter().all(|path| plain.contains(path))
}

impl From<DecodeError> for ConversionError {
    fn from(error: DecodeError) -> Self {
        Self { path: error.path, message: error.message }
    }
}
