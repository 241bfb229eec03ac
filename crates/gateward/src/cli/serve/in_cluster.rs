//! `serve --config FILE`: the configuration is read as a whole before anything starts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches};
use gateward_server::{CertResolver, Limits, Metrics, Readiness};

use super::arguments::ServeArguments;
use super::given;
use crate::cli::document::Written;
use crate::config::{Config, ConfigError, ConfigSource, Flag, Flags, PodEnvironment, Problem};
use crate::exit::Exit;
use crate::operator::Operator;
use crate::runtime::{App, InCluster, ListenerSettings, Signals};

/// A server that can be set up, by who provides its certificate.
enum Prepared<P> {
    /// Its own controller does, or follows who does.
    Controlled(Box<App<P>>),
    /// The provider that mounts this directory.
    Given(PathBuf, Box<ConfigSource>),
}

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
    let read = read(&operator, &written, flags, arguments.certificate_dir.as_deref());
    let (prepared, config) = read.map_err(|error| all_of(&error, &written))?;
    let (zap_filter, zap_format) = (arguments.zap.filter(), arguments.zap.format());
    arguments.log.install(zap_filter.unwrap_or(&config.log.filter), zap_format.unwrap_or(config.log.format))?;
    for warning in written.warnings().into_iter().chain(config.warnings.iter().map(|it| written.describe(it))) {
        tracing::warn!(target: "configuration", "{warning}");
    }
    let signals = Signals::new().context("signals can't be waited for")?;
    let settings = ListenerSettings {
        listeners: config.listeners,
        limits: Limits::default(),
        metrics: Metrics::new(operator.names().metric_prefixes()),
        readiness: Readiness::new(),
        certificate: CertResolver::empty(),
    };
    match prepared {
        Prepared::Controlled(plan) => drop(InCluster::start(*plan, settings, None).await?.run(signals).await?),
        Prepared::Given(directory, source) => given::run(operator, *source, directory, settings, signals).await?,
    }
    Ok(Exit::Success)
}

fn given_flags<P: Operator>(operator: &P, matches: &ArgMatches) -> Flags {
    let given = operator.flags().iter().filter_map(|flag| Some((flag.name, matches.get_one::<String>(flag.name)?)));
    given.map(|(name, value)| (name, value.clone())).collect()
}

/// The whole configuration, or everything that is wrong with it.
fn read<P: Operator>(
    operator: &Arc<P>,
    written: &Written,
    flags: Flags,
    directory: Option<&Path>,
) -> Result<(Prepared<P>, Config), ConfigError> {
    let variable = |name: &str| std::env::var(name).ok();
    let (pod_environment, mut problems) =
        match PodEnvironment::read(variable, std::fs::read_to_string(NAMESPACE_FILE).ok()) {
            Ok(pod_environment) => (pod_environment, Vec::new()),
            // What else is wrong is reported too.
            Err(problems) => (PodEnvironment::nowhere(), problems),
        };
    let source = ConfigSource { document: written.value().clone(), pod_environment, flags };
    let config = operator.config(&source);
    let prepared = config.and_then(|config| match directory {
        Some(directory) => {
            given::check(&config).map(|()| (Prepared::Given(directory.to_owned(), Box::new(source)), config))
        }
        None => Ok((Prepared::Controlled(Box::new(App::new(Arc::clone(operator), source, &config)?)), config)),
    });
    match prepared {
        Ok(prepared) if problems.is_empty() => Ok(prepared),
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
