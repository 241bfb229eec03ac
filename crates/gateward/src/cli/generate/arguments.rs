//! Arguments of the commands below `generate`.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use gateward_core::manifest::Installation;
use serde_json::Value;

use crate::cli::generate::folder::Treatment;
use crate::cli::generate::format::Format;
use crate::cli::known_values;
use crate::operator::{Operator, Release};

/// Where manifests go.
#[derive(Debug, Args)]
pub(crate) struct ManifestArguments {
    /// How to write
    #[arg(long, visible_alias = "output", value_enum, default_value_t)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) folder: FolderArguments,
}

/// Where files go.
#[derive(Debug, Args)]
pub(crate) struct FolderArguments {
    /// The folder to write into, where nothing is to be printed; files that a person changed are left alone
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write nothing; exit 1 when files in the folder differ from what would be written
    #[arg(long, requires = "out")]
    check: bool,
    /// Replace files that a person changed, too
    #[arg(long, requires = "out", conflicts_with = "check")]
    force: bool,
}

impl FolderArguments {
    /// The folder, for what can't be printed; `what` it is, with its article.
    pub(crate) fn required(&self, what: &str) -> anyhow::Result<&Path> {
        self.out.as_deref().with_context(|| format!("{what} is a folder of files; name it with --out"))
    }

    pub(crate) fn treatment(&self) -> Treatment {
        match self {
            Self { check: true, .. } => Treatment::Compare,
            Self { force: true, .. } => Treatment::Replace,
            _ => Treatment::Keep,
        }
    }
}

/// Where the webhooks will be.
#[derive(Debug, Args)]
pub(crate) struct ServiceArguments {
    /// Name of the Helm release, of which the names are made
    #[arg(long, value_name = "NAME")]
    release: Option<String>,
    /// Namespace of the Service
    #[arg(long, short, value_name = "NAME")]
    namespace: Option<String>,
    /// Name of the Service, where it isn't the usual one
    #[arg(long, value_name = "NAME")]
    service: Option<String>,
}

impl ServiceArguments {
    pub(crate) fn says_something(&self) -> bool {
        self.release.is_some() || self.namespace.is_some() || self.service.is_some()
    }

    pub(crate) fn installation<P: Operator>(&self, operator: &P) -> Installation {
        let release = operator.names().release_or_usual(self.release.as_deref(), self.namespace.as_deref());
        let mut installation = operator.installation(&release);
        if let Some(service) = &self.service {
            installation.service.clone_from(service);
        }
        installation
    }
}

/// Which release, and how it is set up.
#[derive(Debug, Args)]
pub(crate) struct ReleaseArguments {
    /// Name of the Helm release, of which the names are made
    #[arg(long, value_name = "NAME")]
    release: Option<String>,
    /// Namespace of the release
    #[arg(long, short, value_name = "NAME")]
    namespace: Option<String>,
    /// Values of the operator's chart, as a file or - for standard input; a later file replaces what an earlier one says
    #[arg(long, short = 'f', value_name = "FILE")]
    values: Vec<PathBuf>,
}

impl ReleaseArguments {
    pub(crate) fn release<P: Operator>(&self, operator: &P) -> Release {
        operator.names().release_or_usual(self.release.as_deref(), self.namespace.as_deref())
    }

    /// The values of all files together, every key of which the operator's chart has.
    pub(crate) fn values<P: Operator>(&self, operator: &P) -> anyhow::Result<Value> {
        known_values::read(operator, &self.values)
    }

    pub(crate) fn names_namespace(&self) -> bool {
        self.namespace.is_some()
    }
}

/// What the Pods run.
#[derive(Debug, Args)]
pub(crate) struct WorkloadArguments {
    /// The image that has the program
    #[arg(long, value_name = "IMAGE")]
    pub(crate) image: String,
    /// How many Pods there are
    #[arg(long, value_name = "NUMBER", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) replicas: u16,
}
