//! Where the nodes of a converted document stood before.

use std::collections::HashMap;

use gateward_core::{FieldPath, Origins, Segment};

/// Where in its document an object stands, and where its nodes stood before.
pub(super) type ConvertedObject = (FieldPath, Origins);

/// The path of a node before, by its path now.
pub(super) type Origin<'a> = Box<dyn Fn(&FieldPath) -> Option<FieldPath> + 'a>;

/// In an object that was converted by its own origins, elsewhere in the document at the same place.
pub(super) fn origin(objects: &[ConvertedObject]) -> Origin<'_> {
    // One object is the document, or several are items of the list that it is.
    let length = objects.first().map_or(0, |(at, _)| at.segments().len());
    let lookups: HashMap<&[Segment], _> =
        objects.iter().map(|(at, origins)| (at.segments(), origins.lookup())).collect();
    Box::new(move |path| {
        let object = path.segments().split_at_checked(length);
        // A conversion may make the name in a spec from that in the metadata, which stay where they are.
        let is_converted = |(at, rest): &(&[Segment], &[Segment])| {
            lookups.contains_key(at) && rest.first().and_then(Segment::name) != Some("metadata")
        };
        let Some((at, rest)) = object.filter(is_converted) else { return Some(path.clone()) };
        let before = lookups.get(at)?(&FieldPath::root().join(rest))?;
        Some(FieldPath::root().join(at).join(before.segments()))
    })
}
