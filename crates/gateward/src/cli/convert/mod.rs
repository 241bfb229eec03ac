//! `convert`: manifests in another version.

pub(crate) mod converter;
mod found;
mod rewritten;

use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use anyhow::bail;
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Command};
use gateward_core::terminal;

use crate::check::Schemas;
use crate::cli::convert::converter::{Annotations, Converter, Target};
use crate::cli::convert::found::{Found, Output, Passing};
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_version_is_held_against_those_that_there_are() {
        let of = |versions: &[&str]| {
            let versions: Vec<String> = versions.iter().map(ToString::to_string).collect();
            unknown_version(&Target::from("v9"), &versions)
        };
        assert_eq!(of(&[]), "no kind is converted to v9: none has a conversion");
        assert_eq!(of(&["zoo.org/v1", "zoo.org/v2"]), "no kind is converted to v9; there are zoo.org/v1, zoo.org/v2");
    }
}
