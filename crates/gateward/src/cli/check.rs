//! `check`: manifests, offline.

use std::collections::HashMap;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::PathBuf;
use std::time::SystemTime;

use anyhow::Context as _;
use clap::{Args, Command, ValueEnum};
use gateward_core::{UserInfo, terminal};
use gateward_lint::diagnostic::Colour;

use crate::check::{Checker, Counts, Defaults, Report, Schemas};
use crate::cli::convert::converter;
use crate::cli::facts::Without;
use crate::cli::known_cluster::{ClusterOptions, KnownCluster};
use crate::cli::manifests::{self, Manifests, Progress};
use crate::exit::Exit;
use crate::operator::Operator;

/// Arguments of `check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// Manifests: files, folders (*.yaml, *.yml and *.json in them), or - for standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// The stored objects; an object of the same kind, namespace and name is checked as their update
    #[arg(long, value_name = "FILE")]
    old: Option<PathBuf>,
    /// Who asks: a user, or `system:serviceaccount:<namespace>:<name>`
    #[arg(long = "as", value_name = "USER")]
    user: Option<String>,
    /// Judge the objects as they are written, without defaults
    #[arg(long)]
    no_defaults: bool,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    output: Output,
    #[command(flatten)]
    cluster: ClusterOptions,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Output {
    #[default]
    Human,
    Json,
}

pub(crate) fn command() -> Command {
    CheckArguments::augment_args(Command::new("check"))
        .about("Say what the API server and the webhooks would say about manifests, offline")
        .long_about(
            "Say what the API server and the webhooks would say about manifests, offline.\n\nEach object gets the \
             defaults of its schema and of the webhooks, and is judged by both. CEL rules of the schema are not \
             evaluated; a note says so. Objects of other kinds are counted and skipped. With --kubeconfig rules look \
             things up in a cluster, as they do in the server; nothing is written there.",
        )
        .after_help(
            "Exit codes: 0 no error, 1 errors, 2 usage or internal error, or standard input has no \
             manifest.\n\nExamples:\n  {command} check deploy/\n  kustomize build . | {command} check -\n  {command} check \
             --old live.yaml --output json manifest.yaml",
        )
}

pub(crate) async fn run<P: Operator>(operator: &P, arguments: &CheckArguments) -> anyhow::Result<Exit> {
    let schemas = Schemas::read(&operator.crds())?;
    let checker = arguments.checker(operator, &schemas).await?;
    let mut manifests = Manifests::of(&arguments.files);
    let mut report = Report::new();
    let mut progress = Progress::new();
    let mut beside = read_for_stores(operator, &checker, &manifests.files).await;
    let mut empty = Vec::new();
    for path in &manifests.files {
        progress.tick(path);
        match beside.remove(path).unwrap_or_else(|| manifests::read(path)) {
            Ok(text) => {
                let before = looked_at(&report);
                checker.check(&path.display().to_string(), &text, &mut report).await?;
                // A list may be empty; that is rare enough to read it twice.
                if looked_at(&report) == before && manifests::is_empty(&converter::read(path, &text)) {
                    empty.push(path.clone());
                }
            }
            Err(trouble) => manifests.troubles.push(trouble),
        }
    }
    progress.clear();
    manifests.note_empty(&empty);
    manifests.warn_of_empty();
    print(&report, arguments.output)?;
    Ok(ending(&report, &manifests.troubles))
}

/// How many objects of all kinds.
fn looked_at(report: &Report) -> usize {
    let Counts { objects, skipped, .. } = report.counts();
    objects + skipped
}

/// Fills the stores of rules across objects, and hands out the texts that were read for that: where no rule has one, none.
async fn read_for_stores<P: Operator>(
    operator: &P,
    checker: &Checker<'_>,
    files: &[PathBuf],
) -> HashMap<PathBuf, anyhow::Result<Vec<u8>>> {
    if operator.webhooks().stores().is_empty() {
        return HashMap::new();
    }
    let texts: Vec<(String, anyhow::Result<Vec<u8>>)> =
        files.iter().map(|path| (path.display().to_string(), manifests::read(path))).collect();
    let readable = texts.iter().filter_map(|(name, text)| Some((name.as_str(), text.as_deref().ok()?)));
    checker.fill_stores(readable).await;
    files.iter().cloned().zip(texts.into_iter().map(|(_, text)| text)).collect()
}

impl CheckArguments {
    async fn checker<'p, P: Operator>(&self, operator: &'p P, schemas: &'p Schemas) -> anyhow::Result<Checker<'p>> {
        let KnownCluster { facts, reader, .. } = self.cluster.read(operator, Without::Unknown).await?;
        let mut checker = Checker::new(operator.webhooks(), schemas, facts, SystemTime::now());
        if let Some(reader) = reader {
            checker = checker.cluster(reader);
        }
        if let Some(path) = &self.old {
            let stored = manifests::read(path)?;
            checker = checker.stored(&stored).with_context(|| format!("{}", path.display()))?;
        }
        if let Some(username) = self.user.clone() {
            checker = checker.user(&UserInfo { username, ..UserInfo::default() });
        }
        let defaults = if self.no_defaults { Defaults::Skipped } else { Defaults::Applied };
        Ok(checker.defaults(defaults).command(operator.names().command))
    }
}

fn print(report: &Report, output: Output) -> std::io::Result<()> {
    match output {
        Output::Json => readable(std::io::stdout().lock().write_all(report.json().as_bytes())),
        Output::Human => for_people(&report.human(terminal_colour())),
    }
}

/// Colours, where somebody sees them.
pub(super) fn terminal_colour() -> Colour {
    if std::io::stdout().is_terminal() { Colour::Always } else { Colour::Never }
}

/// Prints a text that may have colours.
pub(super) fn for_people(text: &str) -> std::io::Result<()> {
    readable(anstream::stdout().write_all(text.as_bytes()))
}

/// `gateward check … | head`: who reads has seen enough; the exit code still tells the whole.
pub(super) fn readable(printed: std::io::Result<()>) -> std::io::Result<()> {
    match printed {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        printed => printed,
    }
}

/// What could not be looked at outweighs what was found: the verdict is not whole.
pub(super) fn ending(report: &Report, troubles: &[anyhow::Error]) -> Exit {
    for trouble in troubles {
        // A standard error that is closed leaves the exit code to tell.
        let _ = writeln!(anstream::stderr(), "error: {}", terminal::line(&format!("{trouble:#}")));
    }
    match (troubles, report.has_errors()) {
        ([_, ..], _) => Exit::Error,
        ([], true) => Exit::Findings,
        ([], false) => Exit::Success,
    }
}
