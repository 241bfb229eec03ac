//! `rules`: the catalogue.

use std::fmt::Write as _;
use std::io::Write as _;

use anyhow::bail;
use clap::{Args, Command, ValueEnum};
use gateward_core::Rule;
use gateward_lint::schema::nearest_name;
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::operator::Operator;

/// Arguments of `rules`.
#[derive(Debug, Args)]
pub(crate) struct RulesArguments {
    /// Show this rule alone, with its examples
    #[arg(value_name = "ID")]
    id: Option<String>,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    output: Output,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum Output {
    #[default]
    Human,
    Json,
    Markdown,
}

pub(crate) fn command() -> Command {
    RulesArguments::augment_args(Command::new("rules"))
        .about("Print the rules: what each demands, of which kinds, with examples")
        .after_help(
            "Examples:\n  {command} rules\n  {command} rules {rule}\n  {command} rules --output json | jq -r .id",
        )
}

fn unknown<P: Operator>(id: &str, operator: &P) -> String {
    let all = operator.webhooks().rules();
    let meant = nearest_name(&id.to_uppercase(), all.iter().map(|rule| rule.id));
    let meant = meant.map(|rule| format!("did you mean {rule}? ")).unwrap_or_default();
    format!("there is no rule {id}; {meant}`rules` without an id lists all")
}

pub(crate) fn run<P: Operator>(operator: &P, arguments: &RulesArguments) -> anyhow::Result<Exit> {
    let all = operator.webhooks().rules();
    let chosen: Vec<&Rule> = match &arguments.id {
        None => all,
        Some(id) => all.into_iter().filter(|rule| rule.id.eq_ignore_ascii_case(id)).collect(),
    };
    let text = match (chosen.as_slice(), &arguments.id, arguments.output) {
        ([], Some(id), _) => bail!("{}", unknown(id, operator)),
        (_, _, Output::Json) => chosen.iter().fold(String::new(), |text, rule| text + &line(rule)),
        (_, _, Output::Markdown) => markdown(&chosen, operator.names().command),
        ([rule], Some(_), Output::Human) => page(rule),
        (_, _, Output::Human) => table(&chosen),
    };
    anstream::stdout().write_all(text.as_bytes())?;
    Ok(Exit::Success)
}

fn operations(rule: &Rule) -> String {
    rule.operations.iter().map(|operation| operation.as_str()).collect::<Vec<_>>().join(", ")
}

fn line(rule: &Rule) -> String {
    let value: Value = json!({
        "id": rule.id,
        "summary": rule.summary,
        "kinds": rule.kinds,
        "versions": rule.versions,
        "operations": rule.operations,
        "section": rule.section(),
        "bad": rule.bad,
        "good": rule.good,
    });
    format!("{value}\n")
}

fn table(rules: &[&Rule]) -> String {
    let width = rules.iter().map(|rule| rule.id.len()).max().unwrap_or_default();
    rules.iter().fold(String::new(), |mut text, rule| {
        let _ = writeln!(text, "{:width$}  {}", rule.id, rule.summary);
        text
    })
}

fn page(rule: &Rule) -> String {
    let mut text = format!("{}: {}\n\n", rule.id, rule.summary);
    let listed = |names: &[&str]| if names.is_empty() { "all".to_owned() } else { names.join(", ") };
    let _ = writeln!(text, "kinds:      {}", listed(rule.kinds));
    let _ = writeln!(text, "versions:   {}", listed(rule.versions));
    let _ = writeln!(text, "operations: {}", operations(rule));
    if let Some(section) = rule.section() {
        let _ = writeln!(text, "rule book:  {section}");
    }
    for (title, example) in [("breaks it", rule.bad), ("keeps it", rule.good)] {
        if !example.is_empty() {
            let _ = write!(text, "\n# {title}\n{example}");
        }
    }
    text
}

/// The whole catalogue as a document, which names the command that prints it.
fn markdown(rules: &[&Rule], command: &str) -> String {
    let mut text = format!(
        "# Rules\n\nEvery finding names a rule of this list. Written by `{command} rules --output markdown`, and not to be \
         edited. Examples hold the object, and the old object, the facts of the cluster and the user where they matter.\n",
    );
    for rule in rules {
        let _ = write!(text, "\n## {}\n\n{}.\n", rule.id, capitalised(rule.summary));
        if !rule.kinds.is_empty() {
            let (kinds, versions) = (rule.kinds.join(", "), rule.versions.join(", "));
            let _ = write!(text, "\n{kinds} in {versions}, on {}.\n", operations(rule));
        }
        if let Some(section) = rule.section() {
            // The document stands in the folder of the documentation itself.
            let _ = write!(text, "\n[In the rule book]({}).\n", section.trim_start_matches("docs/"));
        }
        for (title, example) in [("Breaks it", rule.bad), ("Keeps it", rule.good)] {
            if !example.is_empty() {
                let _ = write!(text, "\n{title}:\n\n```yaml\n{}\n```\n", example.trim_end());
            }
        }
    }
    text
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().collect::<String>() + chars.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_names_the_command_that_prints_it() {
        let text = markdown(&[&gateward_core::DECODE], "otter-operator");
        assert!(text.contains("Written by `otter-operator rules --output markdown`"), "{text}");
        assert!(!text.contains("gateward"), "{text}");
    }
}
