//! `generate webhooks`.

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use gateward_core::Review;
use gateward_core::manifest::{self, FailurePolicy, Installation};

use crate::cli::generate::arguments::{ManifestArguments, ServiceArguments};
use crate::cli::generate::manifest::Manifest;
use crate::operator::Operator;

#[derive(Debug, Args)]
pub(super) struct WebhookArguments {
    #[command(flatten)]
    service: ServiceArguments,
    /// What happens when the webhook doesn't answer
    #[arg(long, value_enum, value_name = "POLICY", default_value = "fail", ignore_case = true)]
    failure_policy: Policy,
    /// How long the API server waits
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u8).range(1..=30))]
    timeout_seconds: u8,
    #[command(flatten)]
    pub(super) manifests: ManifestArguments,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Policy {
    Fail,
    Ignore,
}

pub(super) fn manifests<P: Operator>(operator: &P, arguments: &WebhookArguments) -> anyhow::Result<Vec<Manifest>> {
    let mut installation = arguments.service.installation(operator);
    installation.failure_policy = match arguments.failure_policy {
        Policy::Fail => FailurePolicy::Fail,
        Policy::Ignore => FailurePolicy::Ignore,
    };
    installation.timeout_seconds = arguments.timeout_seconds;
    configurations(operator, &installation)
}

/// The configurations of an installation; one without webhooks is left out.
pub(super) fn configurations<P: Operator>(operator: &P, installation: &Installation) -> anyhow::Result<Vec<Manifest>> {
    [Review::Validate, Review::Mutate]
        .into_iter()
        .filter_map(|review| manifest::webhook_configuration(operator.webhooks(), review, installation))
        .map(|configuration| Ok(Manifest::of(&serde_json::to_value(configuration)?)))
        .collect::<anyhow::Result<_>>()
        .context("a webhook configuration")
}
