//! The CustomResourceDefinitions of a release: installed and upgraded, never downgraded.

mod apply;
mod decision;
mod definition;

pub use apply::{Applied, ApplyEvent, ConversionTrust, CrdApply, CrdApplyError, CrdOutcome, Injected, SecretName};
pub use decision::LeftAlone;
pub use definition::converted_by;
pub(crate) use definition::{Definition, Strategy, api, service_name};
pub use semver::Version;
