//! One object from one version to another, with no more of its annotations than can be trusted.
//!
//! A user who may write an object writes its annotations. So a result that they had a part in is held against the schema of
//! its version. Where it breaks that, the object is converted without what conversion itself preserved, and then without any.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use crate::conversion::attempt::{Attempt, attempt, finish};
use crate::conversion::route::Route;
use crate::conversion::source::{Source, for_schema};
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
    let (mut metadata, plain) = (Some(metadata), OnceCell::new());
    for dropped in tries {
        let reduced = (!dropped.is_empty()).then(|| source.without(dropped)).transpose()?;
        let tried = reduced.as_deref().map(Source::read).transpose()?;
        let mut notes = Issues::new();
        let is_ours = dropped.is_empty() && kept.contains(&ours[0]);
        let strictness = if is_ours { Strictness::Whole } else { Strictness::Values };
        let plain = || plain.get_or_init(|| without(&kept, source, route)).as_ref().ok().map(|(plain, _)| plain);
        let converted = match (&tried, metadata.take()) {
            (None, Some(metadata)) => finish(source, metadata, None, route, &mut notes),
            _ => attempt(tried.as_ref().unwrap_or(source), route, &mut notes),
        };
        if let Ok(converted) = converted
            && is_schema_valid::<A, B>(&converted, source, strictness, route, plain)
        {
            issues.extend(notes);
            note_damage(dropped, issues);
            return Ok(Attempt { reduced, ..converted });
        }
    }
    let (converted, notes) = plain.into_inner().unwrap_or_else(|| without(&kept, source, route))?;
    issues.extend(notes);
    note_damage(&kept, issues);
    Ok(converted)
}

fn note_damage(keys: &[&str], issues: &mut Issues) {
    for key in keys {
        note_damage_of(key, issues);
    }
}

/// Converts an object without these annotations.
fn without<A: Resource, B: Resource>(
    annotations: &[&str],
    source: &Source<'_>,
    route: &impl Route<A, B>,
) -> Result<(Attempt, Issues), ConversionError> {
    let (text, mut notes) = (source.without(annotations)?, Issues::new());
    let converted = attempt(&Source::read(&text)?, route, &mut notes)?;
    Ok((Attempt { reduced: Some(text), ..converted }, notes))
}

/// Whether the result breaks its schema nowhere but where it also does without the annotations, `plain`. Of a source that
/// breaks its own schema nothing is demanded: the API server takes no such object.
fn is_schema_valid<'p, A: Resource, B: Resource>(
    converted: &Attempt,
    source: &Source<'_>,
    strictness: Strictness,
    route: &impl Route<A, B>,
    plain: impl FnOnce() -> Option<&'p Attempt>,
) -> bool {
    let Some(schemas) = route.schemas() else { return true };
    let violations = |version: &str, json: &str| {
        let object = shallow(&for_schema(json)?, 1)?;
        Some(schemas.violations(version, &object, strictness))
    };
    let of_result = |result: &Attempt| violations(&B::version(), &result.json);
    let Some(found) = of_result(converted) else { return false };
    if found.is_empty() || violations(&A::version(), source.json).is_some_and(|own| !own.is_empty()) {
        return true;
    }
    let plain: BTreeSet<FieldPath> = plain().and_then(of_result).unwrap_or_default().into_iter().collect();
    found.iter().all(|path| plain.contains(path))
}

impl From<DecodeError> for ConversionError {
    fn from(error: DecodeError) -> Self {
        Self { path: error.path, message: error.message }
    }
}
