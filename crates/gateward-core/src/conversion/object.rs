//! One object from one version to another, with no more of its annotations than can be trusted.
//!
//! A user who may write an object writes its annotations. So a result that they had a part in is held against the schema of
//! its version. Where it breaks that, the object is converted without `gateward.dev/preserved`, and then without any.

use std::collections::BTreeSet;

use crate::conversion::attempt::{Attempt, attempt};
use crate::conversion::envelope::Metadata;
use crate::conversion::equivalence::shallow;
use crate::conversion::preserved::PRESERVED;
use crate::conversion::route::Route;
use crate::conversion::source::Source;
use crate::conversion::stash::Stash;
use crate::conversion::{ConversionError, Strictness};
use crate::json::decode::{self, DECODE_LIMIT, DecodeError};
use crate::rule::field::{FieldPath, Segment};
use crate::rule::issue::Issues;
use crate::rule::resource::Resource;

/// The annotations of an object in which a conversion on this route keeps something.
pub(crate) fn kept_in<A, B>(metadata: &Metadata<'_>, route: &impl Route<A, B>) -> Vec<&'static str> {
    let keys = std::iter::once(PRESERVED.annotation()).chain(route.annotations().iter().copied());
    keys.filter(|key| metadata.annotations.contains_key(*key)).collect()
}

/// A converted object, and the annotations of the source that had no part in it.
pub(crate) struct ConvertedObject {
    /// The object.
    pub converted: Attempt,
    /// The text of the source that it is of, where that is not the whole source.
    pub reduced: Option<String>,
}

/// Converts one object.
pub(crate) fn convert<A: Resource, B: Resource>(
    source: &Source<'_>,
    route: &impl Route<A, B>,
    issues: &mut Issues,
) -> Result<ConvertedObject, ConversionError> {
    // The type says more exactly what is wrong.
    let named = |odd| {
        let mut errors = decode::object::<A>(source.json, DECODE_LIMIT).err().into_iter().flatten();
        let of_metadata =
            |error: &DecodeError| error.path.segments().first().and_then(Segment::name) == Some("metadata");
        errors.find(of_metadata).map_or(odd, Into::into)
    };
    let kept = kept_in(&source.read_metadata().map_err(named)?, route);
    if kept.is_empty() {
        return Ok(ConvertedObject { converted: attempt(source, route, issues)?, reduced: None });
    }
    let has_ours = kept.contains(&PRESERVED.annotation());
    let mut notes = Issues::new();
    if let Ok(converted) = attempt(source, route, &mut notes)
        && is_schema_valid::<A, B>(&converted, source, &kept, route)
    {
        issues.extend(notes);
        return Ok(ConvertedObject { converted, reduced: None });
    }
    if has_ours && kept.len() > 1 {
        let text = source.without(&[PRESERVED.annotation()])?;
        let (reduced, mut notes) = (Source::read(&text)?, Issues::new());
        let others = kept_in(&reduced.read_metadata()?, route);
        if let Ok(converted) = attempt(&reduced, route, &mut notes)
            && is_schema_valid::<A, B>(&converted, &reduced, &others, route)
        {
            issues.extend(notes);
            PRESERVED.note_damage(issues);
            return Ok(ConvertedObject { converted, reduced: Some(text) });
        }
    }
    let text = source.without(&kept)?;
    let converted = attempt(&Source::read(&text)?, route, issues)?;
    for key in kept {
        Stash::new(key).note_damage(issues);
    }
    Ok(ConvertedObject { converted, reduced: Some(text) })
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
    let is_ours = kept.contains(&PRESERVED.annotation());
    let strictness = if is_ours { Strictness::Whole } else { Strictness::Values };
    let violations =
        |version: &str, json: &str| shallow(json, 1).map(|object| schemas.violations(version, &object, strictness));
    let Some(found) = violations(B::VERSION, &converted.json) else { return false };
    if found.is_empty() || violations(A::VERSION, source.json).is_some_and(|own| !own.is_empty()) {
        return true;
    }
    let plain = source.without(kept).ok().and_then(|text| {
        let plain = attempt(&Source::read(&text).ok()?, route, &mut Issues::new()).ok()?;
        violations(B::VERSION, &plain.json)
    });
    let plain: BTreeSet<FieldPath> = plain.unwrap_or_default().into_iter().collect();
    found.iter().all(|path| plain.contains(path))
}

impl From<DecodeError> for ConversionError {
    fn from(error: DecodeError) -> Self {
        Self { path: error.path, message: error.message }
    }
}
