//! What came of the files, and how it is printed.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use gateward_core::{Severity, terminal};
use gateward_lint::yaml::{Comment, Source};

use super::converter::{self, Outcome};
use crate::check::report::counted;
use crate::cli::manifests;
use crate::exit::Exit;

/// How to print.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Output {
    /// YAML; changes as lines for people
    #[default]
    #[value(aliases = ["yaml", "human"])]
    Text,
    /// One object a line
    Json,
}

/// Whether each object that passes as it is is named.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Passing {
    Named,
    Counted,
}

/// What came of all files.
#[derive(Default)]
pub(super) struct Found {
    /// By the files.
    pub outcomes: Vec<(PathBuf, Outcome)>,
    /// Files without a document.
    pub empty: Vec<PathBuf>,
    /// What could not be read.
    pub troubles: Vec<String>,
    /// What was read, and is odd.
    pub oddities: Vec<String>,
}

impl Found {
    pub(super) fn take(&mut self, path: &Path, text: &[u8], convert: impl Fn(&str, &Source) -> Outcome) {
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

    pub(super) fn outcomes(&self) -> impl Iterator<Item = &Outcome> {
        self.outcomes.iter().map(|(_, outcome)| outcome)
    }

    /// Says on standard error what went wrong, and what people should know.
    pub(super) fn tell(&self, passing: Passing) {
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
    pub(super) fn documents(&self, output: Output) -> String {
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
    pub(super) fn changes(&self, output: Output) -> String {
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
    pub(super) fn ending(&self) -> Exit {
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
    use crate::cli::convert::converter::Target;
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
