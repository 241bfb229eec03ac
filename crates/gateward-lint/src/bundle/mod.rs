//! Bundles of the Operator Lifecycle Manager: what its versions, its validators and the API server say about one, and
//! what none of them says until the operator fails on a cluster.
//!
//! ```
//! use gateward_lint::bundle::{self, BundleFile};
//!
//! let csv = b"apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\n".to_vec();
//! let files = [BundleFile { path: "manifests/otter.clusterserviceversion.yaml".into(), bytes: csv }];
//! let report = bundle::lint(&files, &[])?;
//! assert!(report.has_errors());
//! assert_eq!(bundle::rule("olm-layout-01").map(|rule| rule.id), Some("OLM-LAYOUT-01"));
//! # Ok::<(), bundle::BundleError>(())
//! ```

mod annotations;
mod catalogue;
mod client;
mod conversion;
mod crd_versions;
mod crds;
mod csv;
mod deployments;
mod deprecated;
mod description;
mod examples;
mod field;
mod files;
mod findings;
mod hook_names;
mod hooks;
mod install_modes;
mod layout;
mod object_meta;
mod objects;
mod operator_hub;
mod ports;
mod practices;
mod provided;
mod report;
mod rule;
mod schemas;
mod stanza;
#[cfg(test)]
mod tests;
mod webhook_rules;

use thiserror::Error;

pub use catalogue::{rule, rules};
pub use files::BundleFile;
pub use report::BundleReport;
pub use rule::{BundleRule, Judge, Refusal, Stage, Suite};

use files::Bundle;
use findings::Findings;

/// How many files a bundle may have.
pub const MOST_FILES: usize = 1000;

/// How many bytes the files of a bundle may have in all.
pub const MOST_BYTES: usize = 32 << 20;

/// A bundle that is too large to be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum BundleError {
    /// More than [`MOST_FILES`].
    #[error("the bundle has more than {MOST_FILES} files; keep manifests/ and metadata/ alone in its folder")]
    TooManyFiles,
    /// More than [`MOST_BYTES`].
    #[error("the bundle has more than {} MiB; OLM takes 1 MiB once it is packed", MOST_BYTES >> 20)]
    TooLarge,
}

/// Judges a bundle. Rules of a suite are judged only where the suite is asked for.
///
/// Never panics, whatever the bytes are; what can't be read is a finding.
pub fn lint(files: &[BundleFile], suites: &[Suite]) -> Result<BundleReport, BundleError> {
    if files.len() > MOST_FILES {
        return Err(BundleError::TooManyFiles);
    }
    if files.iter().map(|file| file.bytes.len()).sum::<usize>() > MOST_BYTES {
        return Err(BundleError::TooLarge);
    }
    let bundle = Bundle::read(files);
    let mut found = Findings::new(suites);
    catalogue::check(&bundle, &mut found);
    Ok(BundleReport::new(&bundle, found))
}
