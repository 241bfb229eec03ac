//! The manifests of a bundle, sorted by what OLM does with them.

use std::fmt;

use serde_json::Value;

use crate::csv::{Csv, CsvError};

/// The manifests of a bundle.
#[derive(Debug, Clone, PartialEq)]
pub struct Bundle {
    /// The CSV.
    pub csv: Csv,
    /// The CRDs.
    pub crds: Vec<Value>,
    /// What OLM creates as it is, in the namespace of the installation.
    pub others: Vec<Value>,
}

/// Manifests that are no bundle.
#[derive(Debug)]
pub enum BundleError {
    /// There is not exactly one CSV, but so many.
    Csvs(usize),
    /// The CSV can't be read.
    Csv(CsvError),
}

impl fmt::Display for BundleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Csvs(number) => write!(f, "a bundle has one ClusterServiceVersion, not {number}"),
            Self::Csv(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for BundleError {}

impl Bundle {
    /// Sorts the documents of the folder `manifests`.
    pub fn of(documents: Vec<Value>) -> Result<Self, BundleError> {
        let (csvs, documents): (Vec<_>, Vec<_>) =
            documents.into_iter().partition(|document| document["kind"] == "ClusterServiceVersion");
        let [csv] = &csvs[..] else { return Err(BundleError::Csvs(csvs.len())) };
        let (crds, others) = documents.into_iter().partition(|document| document["kind"] == "CustomResourceDefinition");
        Ok(Self { csv: Csv::read(csv).map_err(BundleError::Csv)?, crds, others })
    }
}
