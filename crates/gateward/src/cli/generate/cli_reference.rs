//! `generate cli-reference`.

use clap::Command;

/// The help of the program and of each of its commands, as people see it.
pub(super) fn document(whole: Command) -> String {
    let mut whole = whole.term_width(100);
    whole.build();
    let name = whole.get_name().to_owned();
    let intro =
        format!("# Command line\n\nWritten by `{name} generate cli-reference`; a test fails when it is stale.\n");
    let sections = sections(&mut whole, &name);
    intro + &sections
}

fn sections(command: &mut Command, name: &str) -> String {
    let help = command.render_long_help().to_string();
    let trimmed: String = help.lines().map(|line| line.trim_end().to_owned() + "\n").collect();
    let mut text = format!("\n## `{name}`\n\n```text\n{}\n```\n", trimmed.trim_end());
    for below in command.get_subcommands_mut().filter(|below| below.get_name() != "help") {
        let name = format!("{name} {}", below.get_name());
        text.push_str(&sections(below, &name));
    }
    text
}
