//! `completions`: for the user's shell.

use std::io::Write;

use clap::{Args, Command};
use clap_complete::Shell;

use crate::exit::Exit;

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArguments {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn command() -> Command {
    CompletionsArguments::augment_args(Command::new("completions"))
        .about("Print completions for a shell")
        .after_help("Example:\n  source <({command} completions bash)")
}

pub(crate) fn run(mut whole: Command, arguments: &CompletionsArguments) -> anyhow::Result<Exit> {
    let name = whole.get_name().to_owned();
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut whole, name, &mut text);
    std::io::stdout().write_all(&text)?;
    Ok(Exit::Success)
}
