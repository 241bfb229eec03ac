//! `serve --config FILE`: what was told, read as a whole, before anything is begun.

use std::path::Path;

use anyhow::{Context as _, anyhow};
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches};

use super::Arguments;
use crate::cli::document::Written;
use crate::cli::logging::LogFormat;
use crate::cluster::{Plan, serve};
use crate::exit::Exit;
use crate::product::Product;
use crate::settings::{Flag, Flags, Given, LogLines, Problem, Settings, SettingsError, Surroundings};
use crate::signals::Signals;

/// Where kubelet writes the namespace of a Pod.
const NAMESPACE: &str = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

/// The options that this product has and others don't.
pub(super) fn arguments<P: Product>(product: &P) -> impl Iterator<Item = Arg> + use<P> {
    product.flags().iter().map(argument)
}

fn argument(flag: &'static Flag) -> Arg {
    let argument =
        Arg::new(flag.name).long(flag.name).value_name(flag.value_name).help(flag.help).conflicts_with("local");
    if flag.values.is_empty() { argument } else { argument.value_parser(PossibleValuesParser::new(flag.values)) }
}

pub(super) async fn run<P: Product>(
    product: P,
    file: &Path,
    matches: &ArgMatches,
    arguments: &Arguments,
) -> anyhow::Result<Exit> {
    let written = Written::read(file)?;
    let flags = given_flags(&product, matches);
    let plan = read(product, &written, flags).map_err(|error| all_of(&error, &written))?;
    let (plan, settings) = plan;
    let format = match settings.log.format {
        LogLines::Json => LogFormat::Json,
        LogLines::Text => LogFormat::Text,
    };
    let (zap_filter, zap_format) = (arguments.zap.filter(), arguments.zap.format());
    arguments.log.install(zap_filter.unwrap_or(&settings.log.filter), zap_format.unwrap_or(format))?;
    for warning in written.warnings().into_iter().chain(settings.warnings.iter().map(|it| written.told(it))) {
        tracing::warn!(target: "configuration", "{warning}");
    }
    serve(plan, Signals::new().context("signals can't be waited for")?).await
}

fn given_flags<P: Product>(product: &P, matches: &ArgMatches) -> Flags {
    let given = product.flags().iter().filter_map(|flag| Some((flag.name, matches.get_one::<String>(flag.name)?)));
    given.map(|(name, value)| (name, value.clone())).collect()
}

/// Everything that is told, or everything that is wrong with it.
fn read<P: Product>(product: P, written: &Written, flags: Flags) -> Result<(Plan<P>, Settings), SettingsError> {
    let variable = |name: &str| std::env::var(name).ok();
    let (surroundings, mut problems) = match Surroundings::read(variable, std::fs::read_to_string(NAMESPACE).ok()) {
        Ok(surroundings) => (surroundings, Vec::new()),
        // What else is wrong is to be told too.
        Err(problems) => (Surroundings::nowhere(), problems),
    };
    let given = Given { document: written.value().clone(), surroundings, flags };
    let settings = product.settings(&given);
    let plan = settings.and_then(|settings| Ok((Plan::new(product, given, settings.clone())?, settings)));
    match plan {
        Ok(plan) if problems.is_empty() => Ok(plan),
        Ok(_) => Err(SettingsError(problems)),
        Err(error) => {
            problems.extend(error.0);
            Err(SettingsError(problems))
        }
    }
}

fn all_of(SettingsError(problems): &SettingsError, written: &Written) -> anyhow::Error {
    let told: Vec<String> = problems.iter().map(|problem: &Problem| format!("\n  {}", written.told(problem))).collect();
    anyhow!("the server can't be set up:{}", told.concat())
}
