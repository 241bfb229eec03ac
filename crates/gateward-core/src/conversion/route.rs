//! One way of a conversion, with the operator's part of it.

use crate::conversion::keys::ConversionKeys;
use crate::conversion::provenance::Direction;
use crate::conversion::{ConversionError, RoundTrip, StructuralSchemas};
use crate::rule::issue::Issues;

/// How typed objects go from `A` to `B`.
pub(crate) trait Route<A, B> {
    /// Converts an object.
    fn convert(&self, object: &A, issues: &mut Issues) -> Result<(B, RoundTrip), ConversionError>;

    /// Converts an object in the other direction.
    fn convert_back(&self, object: &B, issues: &mut Issues) -> Result<A, ConversionError>;

    /// The way that nodes have taken.
    fn direction(&self, from: &A, to: &B) -> Direction;

    /// The annotations of the operator's conversion.
    fn annotations(&self) -> &'static [&'static str];

    /// The keys under which conversion itself writes.
    fn keys(&self) -> &ConversionKeys;

    /// The schemas of the kind, if they were declared.
    fn schemas(&self) -> Option<&dyn StructuralSchemas>;
}
