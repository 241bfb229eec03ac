//! `convert`: manifests in another version.

pub(crate) mod converter;
mod rewritten;

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Command, ValueEnum};
use gateward_core::{Severity, terminal};
use gateward_lint::yaml::{Comment, Source};

use crate::check::Schemas;
use crate::check::report::counted;
use crate::cli::convert::converter::{Annotations, Converter, Outcome, Target};
use crate::cli::manifests::{self, Manifests};
use crate::exit::Exit;
use crate::operator::Operator;

/// Arguments of `convert`.
#[allow(clippy::struct_excessive_bools, reason = "each is a flag that the user may give")]
#[derive(Debug, Args)]
pub(crate) struct ConvertArguments {
    /// Manifests: files, folders (*.yaml, *.yml and *.json in them), or - for standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Print the objects in this version: v1beta1, or with the group, which leaves other groups alone
    #[arg(long, value_name = "VERSION", required_unless_present = "round_trip", conflicts_with = "round_trip",
        value_parser = NonEmptyStringValueParser::new())]
    to: Option<String>,
    /// Leave out the annotations in which conversion keeps what the version lacks, and say what is lost with them
    #[arg(long, conflicts_with = "round_trip")]
    clean: bool,
    /// List every field that would mean something else after the way to each other version and back
    #[arg(long)]
    round_trip: bool,
    /// Write each file whose objects change in its place, instead of printing
    #[arg(long, conflicts_with_all = ["round_trip", "output"])]
    write: bool,
    /// List the files that --write would change, and end with 1 if there are any
    #[arg(long, conflicts_with_all = ["round_trip", "output", "write"])]
    check: bool,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    output: Output,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Output {
    /// YAML; changes as lines for people
    #[default]
    #[value(aliases = ["yaml", "human"])]
    Text,
    /// One object a line
    Json,
}

pub(crate) fn command() -> Command {
    ConvertArguments::augment_args(Command::new("convert"))
        .about("Print manifests in another version, or what a round trip would change")
        .long_about(
            "Print manifests in another version, with the conversion that the server answers with, or say what would \
             change on the way to each other version and back.\n\nWhat needs no change stays byte for byte: objects of \
             other kinds, which a note on standard error names, and those that have the version. In the others members, \
             components, block scalars, quotes and comments stay where the other version has a place for them. What it \
             can't say is kept in annotations, where something would be lost without them; --clean leaves them out and \
             says what is lost. A warning names each comment that has no place in the other version. Where an object can't \
             be converted, nothing is printed; --write leaves its file as it is.",
        )
        .after_help(
            "Exit codes: 0 all is converted, and nothing changes; 1 an object can't be converted, a field changes, or with \
             --check a file would; 2 usage, a file can't be read, or standard input has no manifest.\n\nExamples:\n  \
             {command} convert --to {hub} manifest.yaml\n  {command} convert --to {hub} --write deploy/\n  {command} \
             convert --to {hub} --check deploy/\n  kubectl get {plural} otter -o yaml | {command} convert --to {spoke} \
             -\n  {command} convert --round-trip --output json deploy/",
        )
}

pub(crate) fn run<P: Operator>(operator: &P, arguments: &ConvertArguments) -> anyhow::Result<Exit> {
    let schemas = Schemas::read(&operator.crds())?;
    let annotations = if arguments.clean { Annotations::LeftOut } else { Annotations::Kept };
    let converter = Converter::new(operator.webhooks(), &schemas, annotations);
    let target = arguments.to.as_deref().map(Target::from);
    if let Some(target) = target.as_ref().filter(|target| !converter.knows(target)) {
        bail!(unknown_version(target, &converter.versions()));
    }
    if arguments.write && arguments.files.iter().any(|path| path.as_os_str() == "-") {
        bail!("--write takes files and folders; standard input can't be written");
    }
    let mut found = Found::default();
    let mut manifests = Manifests::of(&arguments.files);
    for path in &manifests.files {
        match manifests::read(path) {
            Ok(text) => found.take(path, &text, |file, source| match &target {
                Some(target) => converter.convert(file, source, target),
                None => converter.round_trip(file, source),
            }),
            Err(trouble) => manifests.troubles.push(trouble),
        }
    }
    manifests.note_empty(&found.empty);
    manifests.warn_of_empty();
    found.troubles.extend(manifests.troubles.iter().map(|trouble| format!("{trouble:#}")));
    match (arguments.write, arguments.check) {
        (true, _) => rewritten::write(found),
        (_, true) => rewritten::check(&found),
        _ => print(&found, arguments.output, target.is_some()),
    }
}

fn unknown_version(target: &Target, versions: &[String]) -> String {
    match versions {
        [] => format!("no kind is converted to {target}: none has a conversion"),
        versions => format!("no kind is converted to {target}; there are {}", versions.join(", ")),
    }
}

fn print(found: &Found, output: Output, converts: bool) -> anyhow::Result<Exit> {
    found.tell(if converts { Passing::Named } else { Passing::Counted });
    let printed = if converts { found.documents(output) } else { found.changes(output) };
    let mut stdout = anstream::stdout();
    // A file that goes into another stays as it is; a terminal would obey what it holds.
    let printed = if std::io::stdout().is_terminal() { terminal::lines(&printed) } else { printed.into() };
    stdout.write_all(printed.as_bytes())?;
    Ok(found.ending())
}

/// Whether each object that passes as it is is named.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Passing {
    Named,
    Counted,
}

/// What came of all files.
#[derive(Default)]
struct Found {
    /// By the files.
    outcomes: Vec<(PathBuf, Outcome)>,
    /// Files without a document.
    empty: Vec<PathBuf>,
    /// What could not be read.
    troubles: Vec<String>,
    /// What was read, and is odd.
    oddities: Vec<String>,
}

impl Found {
    fn take(&mut self, path: &Path, text: &[u8], convert: impl Fn(&str, &Source) -> Outcome) {
        let file = path.display().to_string();
        let source = converter::read(path, text);
        if manifests::is_empty(&source) {
            self.empty.push(path.to_owned());
        }
        for finding in &source.findings {
            let line = format!("{file}:{}:{}: {}", finding.span.line(), finding.span.column(), finding.message);
            match finding.kind.severity() {
                Severity::Error => self.troubles.push(line),
                Severity::Warning | Severity::Note => self.oddities.push(line),
            }
        }
        let has_gaps = source.findings.iter().any(|finding| finding.kind.severity() == Severity::Error);
        let outcome = Outcome { has_gaps, ..convert(&file, &source) };
        let lost = if outcome.converted > 0 { source.comments_lost_in(&outcome.text) } else { Vec::new() };
        self.oddities.extend(lost.into_iter().map(|Comment { line, column, text }| {
            format!("{file}:{line}:{column}: the other version has no place for this comment: #{}", text.trim_end())
        }));
        self.outcomes.push((path.to_owned(), outcome));
    }

    fn outcomes(&self) -> impl Iterator<Item = &Outcome> {
        self.outcomes.iter().map(|(_, outcome)| outcome)
    }

    /// Says on standard error what went wrong, and what people should know.
    fn tell(&self, passing: Passing) {
        let skipped = self.outcomes().flat_map(|outcome| &outcome.skipped).filter(|_| passing == Passing::Named);
        let notes = skipped.chain(self.outcomes().flat_map(|outcome| &outcome.notes)).map(ToString::to_string);
        let errors = self.outcomes().flat_map(|outcome| &outcome.errors).map(ToString::to_string);
        let all = notes
            .map(|text| ("note", text))
            .chain(self.oddities.iter().map(|text| ("warning", text.clone())))
            .chain(errors.map(|text| ("error", text)))
            .chain(self.troubles.iter().map(|text| ("error", text.clone())));
        for (severity, text) in all {
            // A standard error that is closed leaves the exit code to tell.
            let _ = writeln!(anstream::stderr(), "{severity}: {}", terminal::line(&text));
        }
    }

    /// The converted documents, if all could be converted: who applies a part of them would not notice.
    fn documents(&self, output: Output) -> String {
        if self.ending() != Exit::Success {
            return String::new();
        }
        match output {
            Output::Text => stream(self.outcomes().map(|outcome| outcome.text.as_str())),
            Output::Json => self
                .outcomes()
                .flat_map(|outcome| &outcome.documents)
                .map(|document| terminal::json(&document.to_string()).into_owned() + "\n")
                .collect(),
        }
    }

    /// What a round trip changes; nothing where all comes back.
    fn changes(&self, output: Output) -> String {
        let changes = self.outcomes().flat_map(|outcome| &outcome.changes);
        match output {
            Output::Text => {
                let lines = changes.map(|change| terminal::line(&change.to_string()).into_owned() + "\n");
                lines.chain((self.ending() != Exit::Success).then(|| self.summary())).collect()
            }
            Output::Json => {
                changes.map(|change| terminal::json(&change.json().to_string()).into_owned() + "\n").collect()
            }
        }
    }

    fn summary(&self) -> String {
        let sum = |of: fn(&Outcome) -> usize| self.outcomes().map(of).sum::<usize>();
        let (changes, objects) = (sum(|outcome| outcome.changes.len()), sum(|outcome| outcome.objects));
        let skipped = match sum(|outcome| outcome.skipped.len()) {
            0 => String::new(),
            skipped => format!("; {skipped} of kinds that are not converted"),
        };
        let (changes, objects) = (counted(changes, "change"), counted(objects, "object"));
        format!("{changes} in {objects} of {}{skipped}\n", counted(self.outcomes.len(), "file"))
    }

    /// What could not be looked at outweighs what was found.
    fn ending(&self) -> Exit {
        let found = self.outcomes().any(|outcome| !outcome.errors.is_empty() || !outcome.changes.is_empty());
        match (self.troubles.as_slice(), found) {
            ([_, ..], _) => Exit::Error,
            ([], true) => Exit::Findings,
            ([], false) => Exit::Success,
        }
    }
}

/// Files as the documents of one text.
fn stream<'t>(texts: impl Iterator<Item = &'t str>) -> String {
    let mut stream = String::new();
    for text in texts {
        if !stream.is_empty() && !stream.ends_with('\n') {
            stream.push('\n');
        }
        if !stream.is_empty() && !text.starts_with("---") {
            stream.push_str("---\n");
        }
        stream.push_str(text);
    }
    stream
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::convert::converter::tests::{OTTER, converter, webhooks};

    /// What comes of some files: of round trips, or of a conversion to a version.
    fn found(texts: &[&str], to: Option<&str>) -> Found {
        let webhooks = webhooks();
        let (converter, mut found) = (converter(&webhooks), Found::default());
        for text in texts {
            found.take(Path::new("otters.yaml"), text.as_bytes(), |file, source| match to {
                Some(version) => converter.convert(file, source, &Target::from(version)),
                None => converter.round_trip(file, source),
            });
        }
        found
    }

    const OTHER: &str = "{kind: Pod, apiVersion: v1}";
    const BAD: &str = "{kind: Otter, apiVersion: example.org/v2, status: {friends: 13}}";

    #[test]
    fn an_unknown_version_is_held_against_those_that_there_are() {
        let of = |versions: &[&str]| {
            let versions: Vec<String> = versions.iter().map(ToString::to_string).collect();
            unknown_version(&Target::from("v9"), &versions)
        };
        assert_eq!(of(&[]), "no kind is converted to v9: none has a conversion");
        assert_eq!(of(&["zoo.org/v1", "zoo.org/v2"]), "no kind is converted to v9; there are zoo.org/v1, zoo.org/v2");
    }

    #[test]
    fn a_change_is_a_finding_and_what_can_not_be_read_outweighs_it() {
        assert_eq!(found(&[OTHER], None).ending(), Exit::Success);
        assert_eq!(found(&[OTHER, OTTER], None).ending(), Exit::Findings);
        assert_eq!(found(&[BAD], None).ending(), Exit::Findings);
        assert_eq!(found(&[OTTER, "a: ["], None).ending(), Exit::Error);
    }

    #[test]
    fn changes_are_listed_before_their_sum() {
        let text = found(&[OTTER, OTHER], None).changes(Output::Text);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 4, "{text}");
        assert_eq!(lines[3], "3 changes in 1 object of 2 files; 1 of kinds that are not converted");
    }

    #[test]
    fn a_round_trip_that_changes_nothing_is_silent_unless_an_object_can_not_be_converted() {
        assert_eq!(found(&[OTHER], None).changes(Output::Text), "");
        assert_eq!(found(&[BAD], None).changes(Output::Text), "0 changes in 1 object of 1 file\n");
    }

    #[test]
    fn documents_of_all_files_are_one_stream_and_none_is_printed_where_one_fails() {
        let printed = found(&[OTHER, OTTER], Some("v2")).documents(Output::Text);
        let otter =
            "apiVersion: example.org/v2\nkind: Otter\nmetadata: {name: otto, namespace: zoo}\nstatus:\n  grams: 8000\n";
        assert_eq!(printed, format!("{OTHER}\n---\n{otter}"));
        let lines = found(&[OTHER, OTTER], Some("v2")).documents(Output::Json);
        assert_eq!(lines.lines().count(), 2, "{lines}");
        assert_eq!(found(&[OTTER, BAD], Some("v1")).documents(Output::Text), "");
    }
}
