//! What is checked, and how it ended.

use std::fmt;

use serde::Serialize;

/// What is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum PreflightCheck {
    /// No value is given that was removed.
    RemovedValues,
    /// No value is given that the chart doesn't have.
    UnknownValues,
    /// The API server reaches the Pods.
    Reachability,
    /// The certificates of the chosen mode are there.
    Certificates,
    /// No other webhooks judge or default the same kinds.
    ConflictingConfigurations,
    /// The Pods have the rights that they need.
    Rbac,
}

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum PreflightState {
    /// It holds.
    Ok,
    /// It doesn't hold.
    Failed,
    /// Nothing speaks against it, but it can't be shown before the upgrade, or with these rights.
    NotProvableYet,
}

/// The result of a check, in one sentence for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PreflightResult {
    /// What was checked.
    pub check: PreflightCheck,
    /// How it ended.
    pub state: PreflightState,
    /// What was seen, and what to do about it.
    pub text: String,
}

impl PreflightCheck {
    /// It holds.
    pub fn ok(self, text: impl Into<String>) -> PreflightResult {
        self.ends(PreflightState::Ok, text)
    }

    /// It doesn't hold.
    pub fn failed(self, text: impl Into<String>) -> PreflightResult {
        self.ends(PreflightState::Failed, text)
    }

    /// It can't be shown yet.
    pub fn not_provable_yet(self, text: impl Into<String>) -> PreflightResult {
        self.ends(PreflightState::NotProvableYet, text)
    }

    fn ends(self, state: PreflightState, text: impl Into<String>) -> PreflightResult {
        PreflightResult { check: self, state, text: text.into() }
    }
}

impl fmt::Display for PreflightResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.state {
            PreflightState::Ok => "ok",
            PreflightState::Failed => "failed",
            PreflightState::NotProvableYet => "not provable yet",
        };
        write!(f, "{state:<16}  {}: {}", self.check, self.text)
    }
}

impl fmt::Display for PreflightCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RemovedValues => "removed values",
            Self::UnknownValues => "unknown values",
            Self::Reachability => "reachability",
            Self::Certificates => "certificates",
            Self::ConflictingConfigurations => "conflicting configurations",
            Self::Rbac => "RBAC",
        })
    }
}
