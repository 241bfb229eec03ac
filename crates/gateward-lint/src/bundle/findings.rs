//! What was found, collected.

use std::borrow::Cow;

use gateward_core::{FieldPath, Severity};

use super::field::Field;
use super::rule::{BundleRule, Judge, Refusal, Suite};
use crate::diagnostic::{Diagnostic, ObjectRef, RefusedBy};
use crate::yaml::Document;

/// How many findings a report has at most: a hostile bundle could break a rule a million times.
const MOST_FINDINGS: usize = 1000;

/// A finding before it is placed.
#[derive(Debug)]
pub(super) struct Found<'b> {
    rule: &'static BundleRule,
    file: String,
    place: Option<(&'b Document, FieldPath)>,
    object: Option<ObjectRef>,
    message: String,
    help: Cow<'static, str>,
    refusals: Vec<(Judge, RefusedBy)>,
}

impl BundleRule {
    /// The rule is broken at a node.
    pub(super) fn at<'b>(&'static self, field: &Field<'b>, message: impl Into<String>) -> Found<'b> {
        let manifest = field.manifest;
        let object = ObjectRef {
            api_version: manifest.api_version().to_owned(),
            kind: manifest.kind().to_owned(),
            namespace: String::new(),
            name: manifest.name().to_owned(),
        };
        Found {
            place: Some((&manifest.document, field.path.clone())),
            object: Some(object).filter(|object| !object.kind.is_empty()),
            ..self.of_file(&manifest.file, message)
        }
    }

    /// The rule is broken by a file, or by what isn't there.
    pub(super) fn of_file<'b>(&'static self, file: &str, message: impl Into<String>) -> Found<'b> {
        Found {
            rule: self,
            file: file.to_owned(),
            place: None,
            object: None,
            message: message.into(),
            help: Cow::Borrowed(self.help),
            refusals: self.refused_by.iter().map(|refusal| (refusal.judge, refusal.said())).collect(),
        }
    }
}

impl Refusal {
    fn said(&self) -> RefusedBy {
        RefusedBy { judge: self.judge.as_str(), stage: self.stage.as_str(), says: Cow::Borrowed(self.says) }
    }
}

impl Found<'_> {
    /// What would be right.
    pub(super) fn help(self, help: impl Into<Cow<'static, str>>) -> Self {
        Self { help: help.into(), ..self }
    }

    /// Not all judges of the rule refuse this one.
    pub(super) fn only(mut self, judges: &[Judge]) -> Self {
        self.refusals.retain(|(judge, _)| judges.contains(judge));
        self
    }

    /// Whether a judge refuses depends on more than the rule.
    pub(super) fn unless(mut self, passes: bool, judge: Judge) -> Self {
        self.refusals.retain(|(of, _)| !passes || *of != judge);
        self
    }

    /// What a judge prints, where names stand in it.
    pub(super) fn says(mut self, judge: Judge, text: &str) -> Self {
        for (of, refused) in &mut self.refusals {
            if *of == judge {
                refused.says = Cow::Owned(text.to_owned());
            }
        }
        self
    }
}

/// The findings so far.
#[derive(Debug)]
pub(super) struct Findings {
    suites: Vec<Suite>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl Findings {
    pub(super) fn new(suites: &[Suite]) -> Self {
        Self { suites: suites.to_vec(), diagnostics: Vec::new() }
    }

    /// Whether nothing more is taken in.
    pub(super) fn is_full(&self) -> bool {
        self.diagnostics.len() >= MOST_FINDINGS
    }

    /// Takes in a finding, unless there is an error at the same node.
    pub(super) fn add_unless_known(&mut self, found: Found<'_>) {
        let path = found.place.as_ref().map(|(_, path)| path.pointer());
        let is_same = |known: &Diagnostic| {
            known.severity == Severity::Error && known.file == found.file && Some(known.path.pointer()) == path
        };
        if !self.diagnostics.iter().any(is_same) {
            self.add(found);
        }
    }

    /// Takes in a finding, unless its suite wasn't asked for.
    pub(super) fn add(&mut self, found: Found<'_>) {
        let is_asked_for = found.rule.suite.is_none_or(|suite| self.suites.contains(&suite));
        if is_asked_for && !self.is_full() {
            self.diagnostics.push(found.placed());
        }
    }
}

impl Found<'_> {
    fn placed(self) -> Diagnostic {
        let span = self.place.as_ref().map(|(document, path)| document.nearest(path).underline);
        let path = self.place.map_or_else(FieldPath::root, |(_, path)| path);
        let label = if path.is_root() { Cow::Borrowed("") } else { Cow::Owned(path.to_string()) };
        Diagnostic {
            rule: self.rule.id,
            severity: self.rule.severity,
            file: self.file,
            span,
            label,
            related: None,
            path,
            object: self.object,
            message: self.message,
            help: Some(self.help).filter(|help| !help.is_empty()),
            refused_by: Some(self.refusals.into_iter().map(|(_, refused)| refused).collect()),
            docs: None,
        }
    }
}
