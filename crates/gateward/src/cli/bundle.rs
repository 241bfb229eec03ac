//! `bundle`: what the Operator Lifecycle Manager would say about a bundle, offline.

use std::fmt::Write as _;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::{Args, Command, Subcommand, ValueEnum};
use gateward_lint::bundle::{self, BundleError, BundleFile, BundleReport, BundleRule, MOST_BYTES, MOST_FILES, Suite};
use gateward_lint::diagnostic::Colour;
use serde_json::{Value, json};

use crate::cli::bounded;
use crate::exit::Exit;
use crate::operator::Operator;

/// The folders that OLM reads.
const FOLDERS: [&str; 2] = ["manifests", "metadata"];

/// Arguments of `bundle`.
#[derive(Debug, Args)]
pub(crate) struct BundleArguments {
    #[command(subcommand)]
    what: BundleCommand,
}

#[derive(Debug, Subcommand)]
enum BundleCommand {
    /// Say what OLM, its validators and the API server would say about a bundle, offline
    ///
    /// Each finding says who refuses the bundle, and in which words; no program does where it would only show on a
    /// cluster. Rules of the optional validators are judged where --suite asks for them. No cluster is needed.
    #[command(
        after_help = "Exit codes: 0 no error, 1 errors, 2 usage or internal error.\n\nExamples:\n  {command} bundle \
                            lint bundle/\n  {command} bundle lint bundle/ --suite operatorframework --output json"
    )]
    Lint(LintArguments),
    /// Print the rules: what each demands, and who refuses a bundle that breaks it
    #[command(after_help = "Examples:\n  {command} bundle rules\n  {command} bundle rules OLM-CONV-01")]
    Rules(RuleArguments),
}

#[derive(Debug, Args)]
struct LintArguments {
    /// Folder of the bundle, with manifests/ and metadata/ in it
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Rules of optional validators to judge by, too; may be given several times
    #[arg(long, value_name = "SUITE", value_enum, value_delimiter = ',')]
    suite: Vec<Chosen>,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    output: LintOutput,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum LintOutput {
    #[default]
    Human,
    Json,
}

#[derive(Debug, Args)]
struct RuleArguments {
    /// Show this rule alone
    #[arg(value_name = "ID")]
    id: Option<String>,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    output: RuleOutput,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum RuleOutput {
    #[default]
    Human,
    Json,
    Markdown,
}

/// Suites by the names that operator-sdk gives their validators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Chosen {
    /// What operatorhub.io asks of a CSV
    #[value(name = "operatorhub")]
    OperatorHub,
    /// The capability level
    Capabilities,
    /// The categories
    Categories,
    /// Requests, descriptions, channels, rights and names
    GoodPractices,
    /// API versions that Kubernetes has removed
    AlphaDeprecatedApis,
    /// Budgets, priority classes and roles, as `opm` judges them
    Objects,
    /// All of the above but `objects`: operator-sdk's `suite=operatorframework`
    #[value(name = "operatorframework")]
    OperatorFramework,
    /// All
    All,
}

impl Chosen {
    fn suites(self) -> &'static [Suite] {
        match self {
            Self::OperatorHub => &[Suite::OperatorHub],
            Self::Capabilities => &[Suite::Capabilities],
            Self::Categories => &[Suite::Categories],
            Self::GoodPractices => &[Suite::GoodPractices],
            Self::AlphaDeprecatedApis => &[Suite::DeprecatedApis],
            Self::Objects => &[Suite::Objects],
            Self::OperatorFramework => &Suite::OPERATOR_FRAMEWORK,
            Self::All => &Suite::ALL,
        }
    }
}

pub(crate) fn command() -> Command {
    BundleArguments::augment_args(Command::new("bundle"))
        .about("Say what the Operator Lifecycle Manager would say about a bundle")
        .subcommand_required(true)
        .arg_required_else_help(true)
}

pub(crate) fn run<P: Operator>(operator: &P, arguments: &BundleArguments) -> anyhow::Result<Exit> {
    match &arguments.what {
        BundleCommand::Lint(arguments) => lint(operator.names().command, arguments),
        BundleCommand::Rules(arguments) => rules(arguments),
    }
}

fn lint(command: &str, arguments: &LintArguments) -> anyhow::Result<Exit> {
    let files = read(&arguments.folder)?;
    let suites: Vec<Suite> = arguments.suite.iter().flat_map(|chosen| chosen.suites()).copied().collect();
    let shown = arguments.folder.display().to_string();
    let report = bundle::lint(&files, &suites).with_context(|| shown.clone())?;
    let page = |rule| bundle::rule(rule).map(|rule| format!("{command} bundle rules {}", rule.id));
    let report = report.in_folder(&shown, page);
    print(&report, arguments.output)?;
    Ok(if report.has_errors() { Exit::Findings } else { Exit::Success })
}

fn print(report: &BundleReport, output: LintOutput) -> std::io::Result<()> {
    let printed = match output {
        LintOutput::Json => std::io::stdout().lock().write_all(report.json().as_bytes()),
        LintOutput::Human => {
            let colour = if std::io::stdout().is_terminal() { Colour::Always } else { Colour::Never };
            anstream::stdout().write_all(report.human(colour).as_bytes())
        }
    };
    match printed {
        // `… | head`: who reads has seen enough; the exit code still tells the whole.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        printed => printed,
    }
}

/// The files of a bundle that OLM reads, by their paths below its folder.
fn read(folder: &Path) -> anyhow::Result<Vec<BundleFile>> {
    let manifests = folder.join("manifests");
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    drop(entries);
    if !manifests.is_dir() {
        bail!("{} has no folder manifests/; a bundle has manifests/ and metadata/", folder.display());
    }
    let mut files = Vec::new();
    let mut left = MOST_BYTES;
    let is_folder = |path: &PathBuf| std::fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
    for path in FOLDERS.iter().map(|name| folder.join(name)).filter(is_folder) {
        for path in listed(&path)? {
            let bytes = bounded::read(&path, left as u64)?;
            left = left.saturating_sub(bytes.len());
            let below = path.strip_prefix(folder).unwrap_or(&path);
            let steps: Vec<_> = below.iter().map(|step| step.to_string_lossy()).collect();
            files.push(BundleFile { path: steps.join("/"), bytes });
        }
    }
    Ok(files)
}

/// The files of a folder and of those below it, by name. Links are not followed: a bundle that somebody else made could
/// show what else is on this machine.
fn listed(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        let cannot = || format!("cannot read {}", folder.display());
        for entry in std::fs::read_dir(&folder).with_context(cannot)? {
            let entry = entry.with_context(cannot)?;
            seen += 1;
            if seen > MOST_FILES {
                return Err(BundleError::TooManyFiles.into());
            }
            let (path, kind) = (entry.path(), entry.file_type().with_context(cannot)?);
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() {
                files.push(path);
            } else {
                bail!("cannot read {}: it is no regular file; a bundle has no links", path.display());
            }
        }
    }
    files.sort();
    Ok(files)
}

fn rules(arguments: &RuleArguments) -> anyhow::Result<Exit> {
    let chosen: Vec<&BundleRule> = match &arguments.id {
        None => bundle::rules(),
        Some(id) => match bundle::rule(id) {
            Some(rule) => vec![rule],
            None => bail!("there is no rule {id}; `bundle rules` without an id lists all"),
        },
    };
    let text = match (chosen.as_slice(), &arguments.id, arguments.output) {
        (_, _, RuleOutput::Json) => chosen.iter().map(|rule| format!("{}\n", line(rule))).collect(),
        (_, _, RuleOutput::Markdown) => markdown(&chosen),
        ([rule], Some(_), RuleOutput::Human) => page(rule),
        (_, _, RuleOutput::Human) => table(&chosen),
    };
    anstream::stdout().write_all(text.as_bytes())?;
    Ok(Exit::Success)
}

fn line(rule: &BundleRule) -> Value {
    let refused_by: Vec<Value> = rule
        .refused_by
        .iter()
        .map(|refusal| json!({"judge": refusal.judge.as_str(), "stage": refusal.stage.as_str(), "says": refusal.says}))
        .collect();
    json!({
        "id": rule.id,
        "summary": rule.summary,
        "severity": rule.severity.as_str(),
        "suite": rule.suite.map(Suite::as_str),
        "help": rule.help,
        "refusedBy": refused_by,
    })
}

fn table(rules: &[&BundleRule]) -> String {
    let width = rules.iter().map(|rule| rule.id.len()).max().unwrap_or_default();
    rules.iter().fold(String::new(), |mut text, rule| {
        let _ = writeln!(text, "{:width$}  {}", rule.id, rule.summary);
        text
    })
}

fn page(rule: &BundleRule) -> String {
    let mut text = format!("{}: {}\n\n", rule.id, rule.summary);
    let _ = writeln!(text, "severity:   {}", rule.severity.as_str());
    if let Some(suite) = rule.suite {
        let _ = writeln!(text, "suite:      {}", suite.as_str());
    }
    let _ = writeln!(text, "refused by: {}", judges(rule));
    if !rule.help.is_empty() {
        let _ = writeln!(text, "help:       {}", rule.help);
    }
    for refusal in rule.refused_by.iter().filter(|refusal| !refusal.says.is_empty()) {
        let _ = writeln!(text, "\n{} prints:\n  {}", refusal.judge.as_str(), refusal.says);
    }
    text
}

fn judges(rule: &BundleRule) -> String {
    let shown: Vec<String> = rule
        .refused_by
        .iter()
        .map(|refusal| format!("{} ({})", refusal.judge.as_str(), refusal.stage.as_str()))
        .collect();
    if shown.is_empty() { "no program".to_owned() } else { shown.join(", ") }
}

fn markdown(rules: &[&BundleRule]) -> String {
    let mut text = String::from(
        "# Rules on bundles\n\nWritten by `bundle rules --output markdown`; a test fails when this page is stale. Who refuses \
         is the most that a rule has: a finding names those who refuse this bundle.\n\n\
         | rule | a bundle keeps it if | severity | suite | refused by |\n|---|---|---|---|---|\n",
    );
    for rule in rules {
        let suite = rule.suite.map_or("–", Suite::as_str);
        let _ = writeln!(
            text,
            "| {} | {} | {} | {suite} | {} |",
            rule.id,
            rule.summary,
            rule.severity.as_str(),
            judges(rule)
        );
    }
    text
}
