//! Objects without the annotations of conversion, and what they lack then.

use gateward_core::{ConversionError, Declaration, FieldPath, GroupVersionKind, Ordered};
use gateward_lint::schema::{Schema, SchemaDifference};

use super::annotations::{Bare, Lost};
use super::{Converter, unreadable};

impl Converter<'_> {
    /// The object of version `own` without its annotations, and what they bring back in version `of`; `None` where it has
    /// none.
    pub(super) fn bare(
        self,
        declared: &Declaration,
        object: &str,
        own: &GroupVersionKind,
        of: &str,
    ) -> Result<Option<Bare>, ConversionError> {
        let (bare, HadAny::Yes) = without_annotations(object, declared)? else { return Ok(None) };
        let of = GroupVersionKind { version: of.to_owned(), ..own.clone() };
        let with = self.webhooks.convert(object, &of.api_version())?.json;
        let without = self.webhooks.convert(&bare.to_string(), &of.api_version())?.json;
        let differences = self.differences(declared, &of, &with, &without)?;
        let lost = (!differences.is_empty()).then(|| Lost { of: of.version, fields: fields(&differences) });
        Ok(Some(Bare { object: bare, lost }))
    }

    /// Where `after` doesn't mean what `before` does, both objects of this kind and version; the annotations of
    /// conversion apart.
    pub(super) fn differences(
        self,
        declared: &Declaration,
        gvk: &GroupVersionKind,
        before: &str,
        after: &str,
    ) -> Result<Vec<SchemaDifference>, ConversionError> {
        let read = |object: &str| {
            let (bare, _) = without_annotations(object, declared)?;
            serde_json::to_value(&bare).map_err(|error| unreadable(&error))
        };
        let (before, after) = (read(before)?, read(after)?);
        Ok(match self.schemas.of(gvk)? {
            Some(version) => version.schema.differences(&before, &after),
            None => Schema::anything().differences(&before, &after),
        })
    }
}

/// The fields that are gone or changed; where there are none, those that appear.
fn fields(differences: &[SchemaDifference]) -> Vec<FieldPath> {
    let are_gone = differences.iter().any(|difference| difference.before.is_some());
    let named = differences.iter().filter(|difference| difference.before.is_some() == are_gone);
    named.map(|difference| difference.path.clone()).collect()
}

/// Whether an object had an annotation of conversion.
enum HadAny {
    Yes,
    No,
}

/// Metadata that were left empty go too.
fn without_annotations(object: &str, declared: &Declaration) -> Result<(Ordered, HadAny), ConversionError> {
    let mut object: Ordered = serde_json::from_str(object).map_err(|error| unreadable(&error))?;
    let Some(metadata) = object.member_mut("metadata") else { return Ok((object, HadAny::No)) };
    let Some(annotations) = metadata.member_mut("annotations") else { return Ok((object, HadAny::No)) };
    let removed = declared.conversion_annotations().filter_map(|key| annotations.remove(key)).count();
    if removed == 0 {
        return Ok((object, HadAny::No));
    }
    if annotations.is_empty() {
        metadata.remove("annotations");
    }
    Ok((object, HadAny::Yes))
}
