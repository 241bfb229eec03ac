//! Hub and spokes: how an object of one version is read as another.
//!
//! Follows <https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/>.

pub(crate) mod attempt;
pub(crate) mod carry;
mod deep;
mod difference;
pub mod equivalence;
mod incomplete;
pub(crate) mod keys;
pub(crate) mod object;
pub mod origins;
mod preserved;
mod preserved_field;
pub mod provenance;
pub mod raw_parts;
mod readable;
mod restore;
pub(crate) mod route;
mod schema;
mod serialized;
pub(crate) mod source;
pub mod stash;
mod step;
mod tree;
pub(crate) mod unknown;

pub use crate::conversion::keys::ConversionKeys;
use crate::conversion::provenance::Provenance;
pub use crate::conversion::schema::{Strictness, StructuralSchemas};
use crate::rule::field::FieldPath;
use crate::rule::issue::Issues;
pub use crate::wire::envelope::ANNOTATION_LIMIT;

/// Reads a spoke's object as the hub's version, and the hub's as the spoke's.
///
/// The conversion is a unit struct of the operator's own, because neither type may be its own. What the way there and
/// back would change is kept in an annotation without its doing, as are fields that the types don't know; a
/// [`Stash`](stash::Stash) of its own it needs only where somebody else reads it.
/// Of the metadata only labels and annotations are taken from the result.
///
/// ```
/// use gateward_core::{ConversionError, Convert, Issues, Provenance};
///
/// struct Split { first: String, last: String }
/// struct Whole { name: String }
///
/// struct Names;
///
/// impl Convert<Whole, Split> for Names {
///     fn to_hub(&self, whole: &Whole, _: &mut Provenance, _: &mut Issues) -> Result<Split, ConversionError> {
///         let (first, last) = whole.name.split_once(' ').unwrap_or((&whole.name, ""));
///         Ok(Split { first: first.into(), last: last.into() })
///     }
///
///     fn from_hub(&self, split: &Split, _: &mut Issues) -> Result<Whole, ConversionError> {
///         Ok(Whole { name: format!("{} {}", split.first, split.last).trim_end().into() })
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` doesn't convert `{Spoke}` to `{Hub}`",
    label = "no conversion between these versions",
    note = "implement `Convert<{Spoke}, {Hub}> for {Self}`"
)]
// `from_hub` is Kubernetes' own word (controller-runtime's `ConvertFrom`), and a conversion is no constructor.
#[allow(clippy::wrong_self_convention)]
pub trait Convert<Spoke, Hub>: Send + Sync + 'static {
    /// Reads `spoke` as the hub's version and records in `provenance` where each node came from. What was dropped,
    /// such as an annotation that can't be read, is noted in `issues`, with paths of the spoke.
    fn to_hub(&self, spoke: &Spoke, provenance: &mut Provenance, issues: &mut Issues) -> Result<Hub, ConversionError>;

    /// Reads `hub` as the spoke's version. Paths in `issues` are those of the hub.
    ///
    /// What a note by the rule [`INCOMPLETE`](crate::rule::INCOMPLETE) names is left out of the result, which is marked.
    fn from_hub(&self, hub: &Hub, issues: &mut Issues) -> Result<Spoke, ConversionError>;

    /// The same as [`to_hub`](Self::to_hub) without a provenance, and whether the way back is known to lead home. What it
    /// would change is found and kept for every conversion; one that returns it saves the time.
    ///
    /// Where this is written, `to_hub` may leave out what the conversion keeps in annotations: it is called for ways back
    /// and for provenances, which are not asked for annotations.
    fn to_hub_with_round_trip(&self, spoke: &Spoke, issues: &mut Issues) -> Result<(Hub, RoundTrip), ConversionError> {
        Ok((self.to_hub(spoke, &mut Provenance::silent(), issues)?, RoundTrip::Untried))
    }

    /// The same as [`from_hub`](Self::from_hub), and whether the way back is known to lead home. Where this is written,
    /// `from_hub` may leave out what the conversion keeps in annotations.
    fn from_hub_with_round_trip(&self, hub: &Hub, issues: &mut Issues) -> Result<(Spoke, RoundTrip), ConversionError> {
        Ok((self.from_hub(hub, issues)?, RoundTrip::Untried))
    }

    /// The annotations in which this conversion keeps what a version can't say. They come from the user who writes the object:
    /// a result that they had a part in is held against the schema of its version, and where it breaks that, the object
    /// is converted without them.
    fn annotations(&self) -> &'static [&'static str] {
        &[]
    }
}

/// What is known of the way back from a converted object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoundTrip {
    /// It leads to the same object.
    Lossless,
    /// It has to be tried.
    Untried,
}

impl RoundTrip {
    /// That of both parts of an object.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        if self == Self::Lossless { other } else { self }
    }
}

/// An object that can't be read as the other version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", if path.is_root() { String::new() } else { format!("{path}: ") })]
pub struct ConversionError {
    /// The field that stands in the way, in the version of the source.
    pub path: FieldPath,
    /// Why, and what would do.
    pub message: String,
}

/// An object in another version.
#[derive(Debug, Clone)]
pub struct Converted {
    /// The object.
    pub json: String,
    /// What was left out of it, by paths of the source; such an object is marked with the label [`ConversionKeys::incomplete`].
    pub left_out: Vec<FieldPath>,
    /// What had to be given up, and fields that no version knows; with paths of the source. Never an error.
    pub issues: Issues,
}
