//! `serve --config FILE`: the configuration is read as a whole before anything starts.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches};

use super::ServeArguments;
use crate::cli::document::Written;
use crate::config::{Config, ConfigError, ConfigSource, Flag, Flags, PodEnvironment, Problem};
use crate::exit::Exit;
use crate::operator::Operator;
use crate::runtime::{InCluster, ListenerSettings, Plan, Signals};

/// Where kubelet writes the namespace of a Pod.
const NAMESPACE_FILE: &str = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

/// The options that this operator has and others don't.
pub(super) fn arguments<P: Operator>(operator: &P) -> impl Iterator<Item = Arg> + use<P> {
    operator.flags().iter().map(argument)
}

fn argument(flag: &'static Flag) -> Arg {
    let argument =
        Arg::new(flag.name).long(flag.name).value_name(flag.value_name).help(flag.help).conflicts_with("local");
    if flag.values.is_empty() { argument } else { argument.value_parser(PossibleValuesParser::new(flag.values)) }
}

pub(super) async fn run<P: Operator>(
    operator: P,
    file: &Path,
    matches: &ArgMatches,
    arguments: &ServeArguments,
) -> anyhow::Result<Exit> {
    let written = Written::read(file)?;
    let flags = given_flags(&operator, matches);
    let operator = Arc::new(operator);
    let (plan, config) = read(&operator, &written, flags).map_err(|error| all_of(&error, &written))?;
    let (zap_filter, zap_format) = (arguments.zap.filter(), arguments.zap.format());
    arguments.log.install(zap_filter.unwrap_or(&config.log.filter), zap_format.unwrap_or(config.log.format))?;
    for warning in written.warnings().into_iter().chain(config.warnings.iter().map(|it| written.describe(it))) {
        tracing::warn!(target: "configuration", "{warning}");
    }
    let signals = Signals::new().context("signals can't be waited for")?;
    let settings = ListenerSettings::new(operator.as_ref(), config.listeners);
    InCluster::start(plan, settings, None).await?.run(signals).await?;
    Ok(Exit::Success)
}

fn given_flags<P: Operator>(operator: &P, matches: &ArgMatches) -> Flags {
    let given = operator.flags().iter().filter_map(|flag| Some((flag.name, matches.get_one::<String>(flag.name)?)));
    given.map(|(name, value)| (name, value.clone())).collect()
}

/// The whole configuration, or everything that is wrong with it.
fn read<P: Operator>(operator: &Arc<P>, written: &Written, flags: Flags) -> Result<(Plan<P>, Config), ConfigError> {
    let variable = |name: &str| std::env::var(name).ok();
    let (pod_environment, mut problems) =
        match PodEnvironment::read(variable, std::fs::read_to_string(NAMESPACE_FILE).ok()) {
            Ok(pod_environment) => (pod_environment, Vec::new()),
            // What else is wrong is reported too.
            Err(problems) => (PodEnvironment::nowhere(), problems),
        };
    let given = ConfigSource { document: written.value().clone(), pod_environment, flags };
    let config = operator.config(&given);
    let plan = config.and_then(|config| Ok((Plan::new(Arc::clone(operator), given, &config)?, config)));
    match plan {
        Ok(plan) if problems.is_empty() => Ok(plan),
        Ok(_) => Err(ConfigError(problems)),
        Err(error) => {
            problems.extend(error.0);
            Err(ConfigError(problems))
        }
    }
}

fn all_of(ConfigError(problems): &ConfigError, written: &Written) -> anyhow::Error {
    let lines: Vec<String> =
        problems.iter().map(|problem: &Problem| format!("\n  {}", written.describe(problem))).collect();
    anyhow!("the server can't be set up:{}", lines.concat())
}
