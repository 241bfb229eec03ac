//! `check`: manifests, offline.

use std::ffi::OsStr;
use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use anyhow::Context as _;
use clap::{Args, Command, ValueEnum};
use gateward_core::UserInfo;
use gateward_lint::diagnostic::Colour;

use crate::check::{Checker, Defaults, Report};
use crate::cli::facts::{FactsOption, Without};
use crate::exit::Exit;
use crate::product::Product;

/// Arguments of `check`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
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
    facts: FactsOption,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Output {
    #[default]
    Human,
    Json,
}

pub(crate) fn command() -> Command {
    Arguments::augment_args(Command::new("check"))
        .about("Say what the API server and the webhooks would say about manifests, offline")
        .long_about(
            "Say what the API server and the webhooks would say about manifests, offline.\n\nEach object gets the \
             defaults of its schema and of the webhooks, and is judged by both. CEL rules of the schema are not \
             evaluated; a note says so. Objects of other kinds are counted and skipped.",
        )
        .after_help(
            "Exit codes: 0 no error, 1 errors, 2 usage or internal error.\n\nExamples:\n  gateward check deploy/\n  \
             kustomize build . | gateward check -\n  gateward check --old live.yaml --output json graph.yaml",
        )
}

pub(crate) async fn run<P: Product>(product: &P, arguments: &Arguments) -> anyhow::Result<Exit> {
    let facts = arguments.facts.read(product, Without::Unknown)?;
    let mut checker = Checker::new(product.registry(), &product.crds(), facts, SystemTime::now())?;
    if let Some(path) = &arguments.old {
        let stored = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        checker = checker.stored(&stored);
    }
    if let Some(username) = arguments.user.clone() {
        checker = checker.user(&UserInfo { username, ..UserInfo::default() });
    }
    if arguments.no_defaults {
        checker = checker.defaults(Defaults::Skipped);
    }
    let mut report = Report::new();
    let mut progress = Progress::new();
    for path in arguments.files.iter().map(|path| found(path)).collect::<anyhow::Result<Vec<_>>>()?.concat() {
        progress.tick(&path);
        let text = read(&path)?;
        checker.check(&path.display().to_string(), &text, &mut report).await;
    }
    progress.clear();
    print(&report, arguments.output)?;
    Ok(if report.has_errors() { Exit::Findings } else { Exit::Fine })
}

fn print(report: &Report, output: Output) -> std::io::Result<()> {
    match output {
        Output::Json => std::io::stdout().lock().write_all(report.json().as_bytes()),
        Output::Human => {
            let colour = if std::io::stdout().is_terminal() { Colour::Always } else { Colour::Never };
            anstream::stdout().write_all(report.human(colour).as_bytes())
        }
    }
}

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// A file itself, or the manifests in a folder and the folders below, in the order of their names. Links to folders
/// are not followed: they may lead in circles.
fn found(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if is_stdin(path) || !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut manifests = Vec::new();
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
        for entry in entries {
            let entry = entry.with_context(|| folder.display().to_string())?;
            let file_type = entry.file_type().with_context(|| entry.path().display().to_string())?;
            if file_type.is_dir() {
                folders.push(entry.path());
            } else if is_manifest(&entry.path()) {
                manifests.push(entry.path());
            }
        }
    }
    manifests.sort();
    Ok(manifests)
}

fn is_manifest(path: &Path) -> bool {
    let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    ["yaml", "yml", "json"].iter().any(|known| extension.eq_ignore_ascii_case(known))
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    if is_stdin(path) {
        let mut text = Vec::new();
        std::io::stdin().lock().read_to_end(&mut text).context("cannot read standard input")?;
        return Ok(text);
    }
    std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

/// One line on a terminal that says where a check stands, once it takes longer than a second.
struct Progress {
    started: Instant,
    files: usize,
    shown: bool,
}

impl Progress {
    fn new() -> Self {
        Self { started: Instant::now(), files: 0, shown: false }
    }

    fn tick(&mut self, path: &Path) {
        self.files += 1;
        if self.started.elapsed().as_secs() >= 1 && std::io::stderr().is_terminal() {
            self.shown = true;
            // Progress is a courtesy; a terminal that can't show it is no error.
            let _ = write!(std::io::stderr(), "\r\x1b[Kchecking file {}: {}", self.files, path.display());
        }
    }

    fn clear(&self) {
        if self.shown {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
