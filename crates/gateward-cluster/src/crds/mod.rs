//! The CustomResourceDefinitions of a release: installed and upgraded, never downgraded.

mod apply;
mod decision;
mod definition;

pub use apply::{Applied, ApplyEvent, CaSecretName, CrdApply, CrdApplyError, CrdOutcome};
pub use decision::LeftAlone;
pub(crate) use definition::{CONVERTED_BY, Definition, Strategy, api, service_name};
pub use semver::Version;
