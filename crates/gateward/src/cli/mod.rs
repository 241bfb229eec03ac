//! The command line of every operator.

mod bounded;
mod bundle;
mod certs;
mod check;
mod completions;
pub(crate) mod convert;
mod crd_stanzas;
mod crds;
mod dev;
mod doctor;
mod document;
mod facts;
mod generate;
mod help;
mod known_cluster;
mod known_values;
mod log_stream;
mod logging;
mod manifests;
mod output;
mod planned;
pub(crate) mod process;
mod review;
mod rules;
mod scan;
mod serve;
mod uninstall;
mod values;
mod webhook_values;
mod whole_file;

use std::ffi::OsString;
use std::future::Future;
use std::io::Write;
use std::pin::Pin;

use clap::{ArgMatches, Command, FromArgMatches};
use gateward_core::terminal;

use crate::exit::Exit;
use crate::operator::Operator;

/// A command beside the usual ones.
pub trait Extension<P: Operator> {
    /// Its name, arguments and help.
    fn command(&self) -> Command;

    /// Does its work.
    fn run<'a>(
        &'a self,
        operator: P,
        matches: &'a ArgMatches,
    ) -> Pin<Box<dyn Future<Output = anyhow::Result<Exit>> + 'a>>;
}

/// Runs the command line `arguments`, the program's name first.
pub(crate) async fn run<P: Operator>(operator: P, extensions: &[&dyn Extension<P>], arguments: Vec<OsString>) -> Exit {
    let matches = match command(&operator, extensions).try_get_matches_from(arguments) {
        Ok(matches) => matches,
        Err(error) => return usage(&error),
    };
    let (name, matches) = matches.subcommand().unwrap_or(("", &matches));
    match dispatch(operator, extensions, name, matches).await {
        Ok(exit) => exit,
        Err(error) => trouble(&error),
    }
}

async fn dispatch<P: Operator>(
    operator: P,
    extensions: &[&dyn Extension<P>],
    name: &str,
    matches: &ArgMatches,
) -> anyhow::Result<Exit> {
    operator.webhooks().check()?;
    match name {
        "serve" => serve::run(operator, matches).await,
        "dev" => dev::run(operator, arguments(matches)?).await,
        "bundle" => bundle::run(&operator, &arguments(matches)?),
        "check" => check::run(&operator, &arguments(matches)?).await,
        "convert" => convert::run(&operator, &arguments(matches)?),
        "scan" => scan::run(&operator, &arguments(matches)?).await,
        "review" => review::run(&operator, &arguments(matches)?).await,
        "certs" => certs::run(&operator, arguments(matches)?).await,
        "crds" => crds::run(&operator, arguments(matches)?).await,
        "doctor" => doctor::run(&operator, &arguments(matches)?).await,
        "generate" => generate::run(&operator, command(&operator, extensions), &arguments(matches)?),
        "uninstall" => uninstall::run(&operator, &arguments(matches)?).await,
        "rules" => rules::run(&operator, &arguments(matches)?),
        "completions" => completions::run(command(&operator, extensions), &arguments(matches)?),
        // clap lets no other name pass.
        _ => match extensions.iter().find(|extension| extension.command().get_name() == name) {
            Some(extension) => extension.run(operator, matches).await,
            None => Ok(Exit::Error),
        },
    }
}

fn arguments<A: FromArgMatches>(matches: &ArgMatches) -> anyhow::Result<A> {
    Ok(A::from_arg_matches(matches)?)
}

/// The whole command line.
pub(crate) fn command<P: Operator>(operator: &P, extensions: &[&dyn Extension<P>]) -> Command {
    let names = operator.names();
    let command = Command::new(names.command)
        .about(names.about)
        .version(names.version)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .after_help("Exit codes: 0 fine, 1 findings, 2 usage or internal error.")
        .subcommands(extensions.iter().map(|extension| extension.command()))
        .subcommand(serve::command(operator))
        .subcommand(dev::command())
        .subcommand(check::command())
        .subcommand(scan::command())
        .subcommand(convert::command())
        .subcommand(review::command())
        .subcommand(certs::command())
        .subcommand(crds::command())
        .subcommand(doctor::command())
        .subcommand(generate::command())
        .subcommand(bundle::command())
        .subcommand(rules::command())
        .subcommand(uninstall::command())
        .subcommand(completions::command());
    help::in_words_of(operator, command)
}

/// Help and version are no trouble; the rest is.
fn usage(error: &clap::Error) -> Exit {
    // A terminal that went away while help was printed needs no error.
    let _ = error.print();
    if error.use_stderr() { Exit::Error } else { Exit::Success }
}

pub(crate) fn trouble(error: &anyhow::Error) -> Exit {
    if is_closed_pipe(error) {
        return Exit::Success;
    }
    let mut stderr = anstream::stderr();
    let _ = writeln!(stderr, "error: {}", terminal::lines(&format!("{error:#}")));
    Exit::Error
}

/// `gateward … | head` closes the pipe; that is how people read.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe)
}
