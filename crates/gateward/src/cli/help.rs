//! Help texts in the operator's own words.

use clap::Command;
use clap::builder::{Resettable, StyledStr};
use gateward_core::Declaration;

use crate::operator::Operator;

/// What an operator's users read.
struct Words {
    /// What stands for `{name}` in a help text.
    words: [(&'static str, String); 9],
    /// The variable that `--log-level` has beside it.
    log_variable: &'static str,
}

/// Puts the operator's words into the help of a command and of those below it.
pub(super) fn in_words_of<P: Operator>(operator: &P, command: Command) -> Command {
    let names = operator.names();
    let release = names.release_or_usual(None, None);
    let declarations = || operator.webhooks().declarations();
    let converted = declarations().find(|declared| declared.converts());
    let rule = declarations().flat_map(|declared| &declared.rules).next().map_or("DECODE", |rule| rule.id);
    let plural = converted
        .or_else(|| declarations().find(|declared| !declared.is_of_any_kind()))
        .map_or_else(String::new, |of| of.plural.to_string());
    let words = [
        ("{command}", names.command.to_owned()),
        ("{service}", operator.installation(&release).service),
        ("{release}", release.name),
        ("{namespace}", release.namespace),
        ("{rule}", rule.to_owned()),
        ("{plural}", plural),
        ("{hub}", converted.map_or("v1", hub).to_owned()),
        ("{spoke}", converted.map_or("v1beta1", spoke).to_owned()),
        ("{facts}", names.facts_example.map_or_else(String::new, |facts| format!(", such as `{facts}`"))),
    ];
    worded(command, &Words { words, log_variable: names.log_variable })
}

fn hub(declared: &Declaration) -> &str {
    &declared.hub.version
}

fn spoke(declared: &Declaration) -> &str {
    declared.versions.iter().find(|version| **version != declared.hub.version).map_or("v1beta1", |version| version)
}

fn worded(command: Command, words: &Words) -> Command {
    let put = |text: Option<&StyledStr>| match text {
        Some(text) => Resettable::Value(put(text, words)),
        None => Resettable::Reset,
    };
    let (about, long_about) = (put(command.get_about()), put(command.get_long_about()));
    let (after_help, after_long_help) = (put(command.get_after_help()), put(command.get_after_long_help()));
    command
        .about(about)
        .long_about(long_about)
        .after_help(after_help)
        .after_long_help(after_long_help)
        .mut_args(|argument| {
            let (help, long_help) = (put(argument.get_help()), put(argument.get_long_help()));
            let argument = argument.help(help).long_help(long_help);
            if argument.get_id() == "log_level" { argument.env(words.log_variable) } else { argument }
        })
        .mut_subcommands(|below| worded(below, words))
}

fn put(text: &StyledStr, words: &Words) -> StyledStr {
    words.words.iter().fold(text.to_string(), |text, (name, word)| text.replace(name, word)).into()
}

#[cfg(test)]
mod tests {
    use gateward_core::{Request, Webhook, Webhooks};

    use super::*;
    use crate::cli::convert::converter::tests::v1::Otter;
    use crate::operator::Names;

    fn helps(mut command: Command, found: &mut Vec<String>) {
        found.push(command.render_long_help().to_string());
        for below in command.get_subcommands() {
            helps(below.clone(), found);
        }
    }

    #[test]
    fn the_help_of_an_operator_speaks_of_that_operator() {
        let names = Names { namespace: "zoo", ..Names::new("river-guard", "4.2.0") };
        let webhooks = Webhooks::new().register(Webhook::<Otter>::new().validator(|_: &Otter, _: &Request| ()));
        let command = crate::cli::command(&names.of(webhooks), &[]);
        assert_eq!(command.render_version(), "river-guard 4.2.0\n");
        let mut texts = Vec::new();
        helps(command, &mut texts);
        assert!(texts.len() > 12, "{}", texts.len());
        for text in &texts {
            // A log filter names the module, in every operator.
            let lower = text.to_lowercase().replace("gateward_server=debug", "");
            for foreign in ["gateward", "dynamo", "dgd", "grove", "{"] {
                assert!(!lower.contains(foreign), "{foreign} in\n{text}");
            }
        }
        let certs = texts.iter().find(|text| text.contains("certs rotate")).unwrap();
        assert!(certs.contains("river-guard certs rotate --release river-guard --namespace zoo --wait"), "{certs}");
    }
}
