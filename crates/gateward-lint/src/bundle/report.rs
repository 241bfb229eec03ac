//! What was found in a bundle, in the order of files and lines, and its renderings.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use gateward_core::Severity;

use super::files::Bundle;
use super::findings::Findings;
use crate::diagnostic::{Colour, Diagnostic, human, json};

/// The findings about a bundle.
#[derive(Debug, Clone, Default)]
pub struct BundleReport {
    diagnostics: Vec<Diagnostic>,
    texts: BTreeMap<String, Arc<str>>,
    is_cut: bool,
}

impl BundleReport {
    pub(super) fn new(bundle: &Bundle, found: Findings) -> Self {
        let is_cut = found.is_full();
        let mut diagnostics = found.diagnostics;
        for file in &bundle.files {
            diagnostics.extend(file.source.findings.iter().map(|finding| Diagnostic::of_syntax(&file.path, finding)));
        }
        diagnostics.sort_by(|a, b| (&a.file, a.span, a.severity, a.rule).cmp(&(&b.file, b.span, b.severity, b.rule)));
        let texts = bundle.files.iter().map(|file| (file.path.clone(), Arc::clone(&file.text))).collect();
        Self { diagnostics, texts, is_cut }
    }

    /// The findings.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The same findings, about files of this folder, each with how to learn more of its rule.
    pub fn in_folder(mut self, folder: &str, page: impl Fn(&'static str) -> Option<String>) -> Self {
        let prefix = folder.trim_end_matches('/');
        let below = |path: &str| format!("{prefix}/{path}");
        for diagnostic in &mut self.diagnostics {
            diagnostic.file = below(&diagnostic.file);
            diagnostic.docs = page(diagnostic.rule);
        }
        self.texts = self.texts.into_iter().map(|(path, text)| (below(&path), text)).collect();
        self
    }

    /// Whether someone would refuse the bundle, or it would fail on a cluster.
    pub fn has_errors(&self) -> bool {
        self.count(Severity::Error) > 0
    }

    /// The findings for people, and a line that sums up.
    pub fn human(&self, colour: Colour) -> String {
        let text = |file: &str| self.texts.get(file).map_or("", |text| &**text);
        let shown = self.diagnostics.iter().map(|found| human(found, text(&found.file), colour) + "\n");
        shown.collect::<String>() + &format!("{self}\n")
    }

    /// The findings for scripts, one a line.
    pub fn json(&self) -> String {
        self.diagnostics.iter().map(|found| json(found) + "\n").collect()
    }

    fn count(&self, severity: Severity) -> usize {
        self.diagnostics.iter().filter(|found| found.severity == severity).count()
    }
}

/// The line that sums up.
impl fmt::Display for BundleReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted =
            |count: usize, what: &str| if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") };
        let count = |severity: Severity| counted(self.count(severity), severity.as_str());
        let files = counted(self.texts.len(), "file");
        write!(f, "{}, {} in {files}", count(Severity::Error), count(Severity::Warning))?;
        if self.is_cut { f.write_str("; there are more that are not shown") } else { Ok(()) }
    }
}
