//! How commands that ask a cluster print.

use clap::ValueEnum;

/// Whether a person or a program reads it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    #[default]
    Text,
    Json,
}
