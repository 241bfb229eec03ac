//! An object in another version, and again in its own.

use gateward_core::{ConversionError, Declaration, GroupVersionKind};
use gateward_lint::schema::SchemaDifference;

use super::Converter;

impl Converter<'_> {
    /// Takes an object to version `via` and back.
    pub(super) fn there_and_back(
        self,
        declared: &Declaration,
        object: &str,
        gvk: &GroupVersionKind,
        via: &str,
    ) -> Result<Vec<SchemaDifference>, ConversionError> {
        let there = GroupVersionKind { version: via.to_owned(), ..gvk.clone() }.api_version();
        let converted = self.webhooks.convert(object, &there)?;
        if !converted.left_out.is_empty() {
            return Err(self.left_out(&converted, object, gvk));
        }
        let back = self.webhooks.convert(&converted.json, &gvk.api_version())?.json;
        self.differences(declared, gvk, object, &back)
    }
}
