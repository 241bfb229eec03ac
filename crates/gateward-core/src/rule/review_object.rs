//! What the objects of a review can be read as.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::json::reading::Bound;
use crate::rule::resource::Resource;

/// What handlers get the objects of a review as: a [`Resource`], or [`Raw`](crate::Raw) JSON of a kind that is known at run
/// time only.
#[diagnostic::on_unimplemented(
    message = "no handler can get objects as `{Self}`",
    label = "this is neither a Kubernetes resource nor `Raw` JSON",
    note = "a plain type says which kind it is: `resource!({Self}, \"group/version\", \"Kind\", \"plural\")`",
    note = "a kind that is known at run time only is `Raw<T>`, whose view `T` has the fields that handlers read"
)]
pub trait ReviewObject: DeserializeOwned + Serialize + Send + Sync + 'static {
    /// The bounds that the schema sets to lists and maps.
    #[doc(hidden)]
    fn bounds_of_lists() -> &'static [Bound];

    /// How deeply an object may nest; `None` where the types say it.
    #[doc(hidden)]
    const MOST_DEPTH: Option<usize> = None;
}

impl<K: Resource> ReviewObject for K {
    fn bounds_of_lists() -> &'static [Bound] {
        K::bounds()
    }
}
