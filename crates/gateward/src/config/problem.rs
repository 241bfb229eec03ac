//! Errors of the configuration.

use std::fmt;

use gateward_certs::DerivedNameError;
use gateward_core::FieldPath;

/// Where a problem is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProblemSource {
    /// A key of the configuration file.
    Key(FieldPath),
    /// A variable of the environment.
    Variable(&'static str),
    /// An option of the command line, without its dashes.
    Flag(&'static str),
    /// None of these.
    Other,
}

/// One thing that is wrong, or that should be known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where it is.
    pub source: ProblemSource,
    /// What is wrong and what would be right.
    pub text: String,
}

impl Problem {
    /// About a key of the configuration file.
    pub fn of_key(key: FieldPath, text: impl Into<String>) -> Self {
        Self { source: ProblemSource::Key(key), text: text.into() }
    }

    /// About an option of the command line.
    pub fn of_flag(flag: &'static str, text: impl Into<String>) -> Self {
        Self { source: ProblemSource::Flag(flag), text: text.into() }
    }

    /// About a variable of the environment.
    pub fn of_variable(variable: &'static str, text: impl Into<String>) -> Self {
        Self { source: ProblemSource::Variable(variable), text: text.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            ProblemSource::Key(key) => write!(f, "{key}: ")?,
            ProblemSource::Variable(name) => write!(f, "the environment variable {name}: ")?,
            ProblemSource::Flag(name) => write!(f, "--{name}: ")?,
            ProblemSource::Other => {}
        }
        f.write_str(&self.text)
    }
}

/// Everything that is wrong, at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError(pub Vec<Problem>);

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problems: Vec<String> = self.0.iter().map(Problem::to_string).collect();
        f.write_str(&problems.join("\n"))
    }
}

impl std::error::Error for ConfigError {}

impl From<DerivedNameError> for ConfigError {
    fn from(error: DerivedNameError) -> Self {
        Self(vec![Problem { source: ProblemSource::Other, text: error.to_string() }])
    }
}
