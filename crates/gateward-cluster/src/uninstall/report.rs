//! What became of the CRDs.

use std::fmt;

use serde::Serialize;

use crate::crds::{Definition, Strategy};

/// Progress of an uninstall.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UninstallEvent {
    /// So many objects of a CRD were rewritten.
    Rewriting {
        /// The CRD.
        name: String,
        /// How many objects so far.
        objects: usize,
    },
    /// A CRD is done.
    Done(CrdReport),
}

/// What became of a CRD.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CrdReport {
    /// The CRD.
    pub name: String,
    /// How it ended.
    pub state: CrdState,
    /// What was not done, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remains: Option<String>,
    /// Its objects, as far as they had to be looked at.
    pub objects: CrdObjects,
    /// The versions in which objects may be stored now.
    pub stored_versions: Vec<String>,
    /// The strategy of conversion now.
    pub conversion: &'static str,
    /// The versions that are no longer served.
    pub no_longer_served: Vec<String>,
}

/// How the work on a CRD ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum CrdState {
    /// There is no such CRD.
    Absent,
    /// It was as it shall be.
    NothingToDo,
    /// It is as it shall be.
    Done,
    /// Something remains to be done.
    Remains,
}

/// The objects of a CRD.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CrdObjects {
    /// How many there were.
    pub found: usize,
    /// How many were stored anew.
    pub rewritten: usize,
    /// Those that could not be stored anew.
    pub refused: Vec<RefusedObject>,
}

/// An object that could not be stored anew.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RefusedObject {
    /// Its namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
    /// The reason.
    pub why: String,
}

impl CrdReport {
    pub(super) fn of(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            state: CrdState::Absent,
            remains: None,
            objects: CrdObjects::default(),
            stored_versions: Vec::new(),
            conversion: "",
            no_longer_served: Vec::new(),
        }
    }

    pub(super) fn describe(&mut self, crd: &Definition) {
        self.stored_versions = crd.stored().into_iter().map(str::to_owned).collect();
        self.conversion = match crd.strategy() {
            Strategy::Webhook => "Webhook",
            Strategy::None => "None",
        };
    }

    pub(super) fn ends(self, state: CrdState) -> Self {
        Self { state, ..self }
    }

    pub(super) fn remains(self, why: String) -> Self {
        Self { state: CrdState::Remains, remains: Some(why), ..self }
    }
}

impl fmt::Display for CrdReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.name)?;
        match (self.state, &self.remains) {
            (CrdState::Absent, _) => f.write_str("not installed"),
            (CrdState::NothingToDo, _) => f.write_str("nothing to do"),
            (CrdState::Done, _) => self.write_done(f),
            (CrdState::Remains, why) => write!(f, "not done: {}", why.as_deref().unwrap_or_default()),
        }?;
        self.objects.refused.iter().try_for_each(|refused| write!(f, "\n  {refused}"))
    }
}

impl CrdReport {
    fn write_done(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CrdObjects { found, rewritten, .. } = self.objects;
        write!(f, "objects are stored in {} alone", self.stored_versions.join(" and "))?;
        match (found, rewritten) {
            (0, _) => {}
            (_, 0) => write!(f, " ({found} looked at)")?,
            (_, _) => write!(f, " ({rewritten} of {found} stored anew)")?,
        }
        if self.conversion == "None" {
            f.write_str("; they are no longer converted")?;
        }
        if !self.no_longer_served.is_empty() {
            write!(f, "; {} is no longer served", self.no_longer_served.join(" and "))?;
        }
        Ok(())
    }
}

impl fmt::Display for RefusedObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { namespace, name, why } = self;
        namespace.iter().try_for_each(|namespace| write!(f, "{namespace}/"))?;
        write!(f, "{name}: {why}")
    }
}
