//! Reports in the readiness body, which never change readiness.

use std::collections::BTreeMap;

use gateward_core::terminal;

/// How many lines of one report are shown, and how many characters of each: names in them may come from the cluster.
const MOST_LINES: usize = 20;
const LONGEST_LINE: usize = 400;

/// A line of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReportLine {
    /// Shown by `/readyz?verbose`, and while the pod is not ready.
    Note(String),
    /// Needs attention: always shown.
    Warning(String),
}

/// The lines of all reports, by name.
#[derive(Debug, Default)]
pub(super) struct Reports(BTreeMap<&'static str, Vec<ReportLine>>);

impl Reports {
    pub(super) fn set(&mut self, name: &'static str, lines: Vec<ReportLine>) {
        if lines.is_empty() {
            self.0.remove(name);
        } else {
            self.0.insert(name, lines);
        }
    }

    /// Whether any line is a warning.
    pub(super) fn has_warning(&self) -> bool {
        self.0.values().flatten().any(|line| matches!(line, ReportLine::Warning(_)))
    }

    /// The lines in the readiness body.
    pub(super) fn shown(&self) -> String {
        self.0.iter().map(|(name, lines)| shown(name, lines)).collect()
    }
}

fn shown(name: &str, lines: &[ReportLine]) -> String {
    let mut shown: Vec<String> = lines.iter().take(MOST_LINES).map(|line| line.shown(name)).collect();
    if lines.len() > MOST_LINES {
        shown.push(format!("[i]{name}: and {} more\n", lines.len() - MOST_LINES));
    }
    shown.concat()
}

impl ReportLine {
    fn shown(&self, name: &str) -> String {
        match self {
            Self::Note(text) => format!("[i]{name}: {}\n", one_line(text)),
            Self::Warning(text) => format!("[!]{name}: {}\n", one_line(text)),
        }
    }
}

/// A text without what a terminal obeys, such as line breaks, so that it can't forge another line.
pub(super) fn one_line(text: &str) -> String {
    text.chars().take(LONGEST_LINE).map(|c| if terminal::is_obeyed(c) { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_cannot_forge_another() {
        let line = ReportLine::Warning("no configuration\n[+]listener ok\u{202e}".into());
        assert_eq!(line.shown("injection"), "[!]injection: no configuration [+]listener ok \n");
    }

    #[test]
    fn a_long_report_is_truncated() {
        let mut reports = Reports::default();
        reports.set("conflicts", vec![ReportLine::Note("x".repeat(1_000)); 30]);
        let shown = reports.shown();
        assert_eq!(shown.lines().count(), 21);
        assert!(shown.lines().all(|line| line.len() < 420));
        assert!(shown.ends_with("[i]conflicts: and 10 more\n"));
    }

    #[test]
    fn a_report_replaces_the_one_before_it() {
        let mut reports = Reports::default();
        reports.set("rotation", vec![ReportLine::Note("publish".into())]);
        reports.set("rotation", vec![ReportLine::Note("switch".into())]);
        assert_eq!(reports.shown(), "[i]rotation: switch\n");
        reports.set("rotation", vec![]);
        assert_eq!(reports.shown(), "");
    }
}
