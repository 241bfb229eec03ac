//! One object from one version to another, with no more of its annotations than can be trusted.
//!
//! A user who may write an object writes its annotations. So a result that those of the operator's conversion had a part in
//! is held against the schema of its version, and where it breaks that, the object is converted without them. What core
//! itself preserved is held against the schema where it is put back, part by part.

use std::cell::OnceCell;

use crate::conversion::attempt::{Attempt, finish};
use crate::conversion::route::Route;
use crate::conversion::schema::SchemaCheck;
use crate::conversion::source::Source;
use crate::conversion::stash::note_damage_of;
use crate::conversion::{ConversionError, Strictness};
use crate::json::decode::{self, DECODE_LIMIT, DecodeError};
use crate::rule::issue::Issues;
use crate::rule::resource::Resource;
use crate::wire::envelope::Metadata;

/// Whether an annotation of the object says something to a conversion on this route.
pub(crate) fn keeps_something<A, B>(metadata: &Metadata<'_>, route: &impl Route<A, B>) -> bool {
    metadata.annotations.contains_key(route.keys().preserved()) || !of_operator(metadata, route).is_empty()
}

/// The annotations of the object that the operator's conversion reads.
fn of_operator<A, B>(metadata: &Metadata<'_>, route: &impl Route<A, B>) -> Vec<&'static str> {
    route.annotations().iter().copied().filter(|key| metadata.annotations.contains_key(*key)).collect()
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
        let of_metadata = |error: &DecodeError| error.path.top_member() == Some("metadata");
        errors.find(of_metadata).map_or(odd, Into::into)
    };
    let metadata = source.read_metadata().map_err(named)?;
    let kept = of_operator(&metadata, route);
    if kept.is_empty() {
        return finish(source, metadata, None, route, issues);
    }
    let (mut notes, plain) = (Issues::new(), OnceCell::new());
    let tried = finish(source, metadata, None, route, &mut notes);
    let check = SchemaCheck::of::<A, B>(route.schemas(), Strictness::Values, source.json);
    let of_plain = || {
        let (plain, _) = plain.get_or_init(|| without(&kept, source, route)).as_ref().ok()?;
        Some(plain.json.as_str())
    };
    if let Ok(converted) = tried
        && check.broken(&converted.json, of_plain).is_some_and(|broken| broken.is_empty())
    {
        issues.extend(notes);
        return Ok(converted);
    }
    let (converted, notes) = plain.into_inner().unwrap_or_else(|| without(&kept, source, route))?;
    issues.extend(notes);
    for key in kept {
        note_damage_of(key, issues);
    }
    Ok(converted)
}

/// Converts an object without these annotations.
fn without<A: Resource, B: Resource>(
    annotations: &[&str],
    source: &Source<'_>,
    route: &impl Route<A, B>,
) -> Result<(Attempt, Issues), ConversionError> {
    let (text, mut notes) = (source.without(annotations)?, Issues::new());
    let reduced = Source::read(&text)?;
    let converted = finish(&reduced, reduced.read_metadata()?, None, route, &mut notes)?;
    Ok((Attempt { reduced: Some(text), ..converted }, notes))
}

impl From<DecodeError> for ConversionError {
    fn from(error: DecodeError) -> Self {
        Self { path: error.path, message: error.message }
    }
}
