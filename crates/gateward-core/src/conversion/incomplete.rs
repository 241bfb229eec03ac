//! Views of an object that say less than what is stored.
//!
//! A read never fails: what the other version has no room for is left out of the view, and the view is marked. A marked
//! view must not be written back as if it were the object.

use crate::conversion::ANNOTATION_LIMIT;
use crate::conversion::keys::ConversionKeys;
use crate::rule::field::FieldPath;
use crate::wire::envelope::Metadata;

/// How many fields are named.
const MAX_NAMED: usize = 16;

/// How long the names may be together, in bytes.
const MAX_BYTES: usize = 2048;

/// Takes the mark of an earlier conversion away.
pub(crate) fn unmark(metadata: &mut Metadata<'_>, keys: &ConversionKeys) {
    if metadata.labels.contains_key(keys.incomplete()) {
        metadata.labels.remove(keys.incomplete());
    }
    if metadata.annotations.contains_key(keys.incomplete_fields()) {
        metadata.annotations.remove(keys.incomplete_fields());
    }
}

/// Marks a view, unless it lacks nothing.
pub(crate) fn mark(metadata: &mut Metadata<'_>, keys: &ConversionKeys, left_out: &[FieldPath]) {
    if left_out.is_empty() {
        return;
    }
    metadata.labels.insert(keys.incomplete().to_owned().into(), "true".into());
    let named = named(left_out);
    if metadata.annotation_bytes() + keys.incomplete_fields().len() + named.len() <= ANNOTATION_LIMIT {
        metadata.annotations.insert(keys.incomplete_fields().to_owned().into(), named.into());
    }
}

fn named(left_out: &[FieldPath]) -> String {
    let mut named = String::new();
    for path in left_out.iter().take(MAX_NAMED).map(ToString::to_string) {
        if named.len() + path.len() + 2 > MAX_BYTES {
            break;
        }
        named.push_str(if named.is_empty() { "" } else { ", " });
        named.push_str(&path);
    }
    named
}
