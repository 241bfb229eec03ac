//! A file that holds one object, in YAML or JSON.

use std::path::{Path, PathBuf};

use anyhow::bail;
use gateward_lint::diagnostic::Severity;
use gateward_lint::yaml::{self, Document, SyntaxFinding};
use serde_json::Value;

use crate::cli::bounded;
use crate::config::{Problem, ProblemSource};

/// The object, and where in the file each part of it stands.
pub(crate) struct Written {
    path: PathBuf,
    document: Document,
    findings: Vec<SyntaxFinding>,
}

impl Written {
    /// Reads a file. What kubectl would read in another way than its author thinks is a warning.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        Self::parse(path, &bounded::read(path, bounded::SETTINGS)?)
    }

    /// Reads what is in a file, or is named as if it were in one.
    pub(crate) fn parse(path: &Path, bytes: &[u8]) -> anyhow::Result<Self> {
        let source = yaml::read(bytes);
        if let Some(fault) = source.findings.iter().find(|finding| finding.kind.severity() == Severity::Error) {
            bail!("{}", place(path, fault));
        }
        let mut documents = source.documents.into_iter();
        let (Some(document), None) = (documents.next(), documents.next()) else {
            bail!("{}: it has to hold one document, no more and no less", path.display());
        };
        Ok(Self { path: path.to_owned(), document, findings: source.findings })
    }

    /// The object.
    pub(crate) fn value(&self) -> &Value {
        &self.document.value
    }

    /// What its author should know of how it is written.
    pub(crate) fn warnings(&self) -> Vec<String> {
        self.findings.iter().map(|finding| place(&self.path, finding)).collect()
    }

    /// A problem, with where in the file it stands.
    pub(crate) fn describe(&self, problem: &Problem) -> String {
        let ProblemSource::Key(key) = &problem.source else { return problem.to_string() };
        match self.document.span_of(key) {
            Some(place) => {
                let span = place.underline;
                format!("{}:{}:{}: {problem}", self.path.display(), span.line(), span.column())
            }
            None => format!("{}: {problem}", self.path.display()),
        }
    }
}

fn place(path: &Path, finding: &SyntaxFinding) -> String {
    format!("{}:{}:{}: {}", path.display(), finding.span.line(), finding.span.column(), finding.message)
}
