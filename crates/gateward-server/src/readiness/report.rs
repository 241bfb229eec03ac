//! What is said about the pod and its surroundings beside whether it is ready.

use std::collections::BTreeMap;

/// How many lines of one report are shown, and how much of each: names in them may come from the cluster.
const MOST_LINES: usize = 20;
const LONGEST_LINE: usize = 400;

/// A line of a report. It never changes whether the pod is ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// How things are: shown to those who ask for more, and while the pod is not ready.
    Note(String),
    /// What someone should do something about: shown always.
    Warning(String),
}

/// The lines of all reports, by the reports' names.
#[derive(Debug, Default)]
pub(super) struct Reports(BTreeMap<&'static str, Vec<Line>>);

impl Reports {
    pub(super) fn set(&mut self, name: &'static str, lines: Vec<Line>) {
        if lines.is_empty() {
            self.0.remove(name);
        } else {
            self.0.insert(name, lines);
        }
    }

    /// Whether there is something that someone should do something about.
    pub(super) fn warn(&self) -> bool {
        self.0.values().flatten().any(|line| matches!(line, Line::Warning(_)))
    }

    /// The lines as a page shows them.
    pub(super) fn shown(&self) -> String {
        self.0.iter().map(|(name, lines)| shown(name, lines)).collect()
    }
}

fn shown(name: &str, lines: &[Line]) -> String {
    let mut shown: Vec<String> = lines.iter().take(MOST_LINES).map(|line| line.shown(name)).collect();
    if lines.len() > MOST_LINES {
        shown.push(format!("[i]{name}: and {} more\n", lines.len() - MOST_LINES));
    }
    shown.concat()
}

impl Line {
    fn shown(&self, name: &str) -> String {
        match self {
            Self::Note(text) => format!("[i]{name}: {}\n", one_line(text)),
            Self::Warning(text) => format!("[!]{name}: {}\n", one_line(text)),
        }
    }
}

/// A text that can't look like another line.
pub(super) fn one_line(text: &str) -> String {
    text.chars().take(LONGEST_LINE).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_cannot_forge_another() {
        let line = Line::Warning("no configuration\n[+]listener ok".into());
        assert_eq!(line.shown("injection"), "[!]injection: no configuration [+]listener ok\n");
    }

    #[test]
    fn a_report_of_any_length_is_shown_in_part() {
        let mut reports = Reports::default();
        reports.set("rivals", vec![Line::Note("x".repeat(1_000)); 30]);
        let shown = reports.shown();
        assert_eq!(shown.lines().count(), 21);
        assert!(shown.lines().all(|line| line.len() < 420));
        assert!(shown.ends_with("[i]rivals: and 10 more\n"));
    }

    #[test]
    fn a_report_replaces_the_one_before_it() {
        let mut reports = Reports::default();
        reports.set("rotation", vec![Line::Note("publish".into())]);
        reports.set("rotation", vec![Line::Note("switch".into())]);
        assert_eq!(reports.shown(), "[i]rotation: switch\n");
        reports.set("rotation", vec![]);
        assert_eq!(reports.shown(), "");
    }
}
