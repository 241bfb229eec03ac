//! The CustomResourceDefinitions of a release: installed and upgraded, never downgraded.

mod apply;
mod decision;
mod definition;

pub use apply::{Applied, ApplyError, CrdApply, Outcome, Told};
pub use decision::LeftAlone;
pub(crate) use definition::{Definition, Strategy, api};
pub use semver::Version;
