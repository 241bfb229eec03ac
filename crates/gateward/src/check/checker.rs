//! The check of files and of stored objects.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use gateward_core::{ClusterReader, Context, Facts, Rule, UserInfo, Webhooks};
use gateward_lint::yaml;
use serde_json::{Value, json};

use super::report::{FileReport, Report};
use super::schemas::{CrdError, Schemas};
use super::stored::{Stored, StoredError};
use super::subject::Subject;

/// Whether the check fills in defaults before it judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Defaults {
    /// As the API server does.
    Applied,
    /// The object is judged as it is written.
    Skipped,
}

/// Checks files against the kinds of a webhooks and the schemas of their CRDs.
pub struct Checker<'p> {
    pub(super) webhooks: &'p Webhooks,
    pub(super) schemas: &'p Schemas,
    pub(super) facts: Arc<dyn Facts>,
    pub(super) cluster: Option<Arc<dyn ClusterReader>>,
    pub(super) defaults: Defaults,
    pub(super) stored: Option<Stored>,
    pub(super) user: Value,
    pub(super) now: SystemTime,
    pub(super) command: Option<&'static str>,
    /// By their ids.
    pub(super) catalogue: BTreeMap<&'static str, &'static Rule>,
}

impl<'p> Checker<'p> {
    /// A checker with these facts at this time.
    pub fn new(webhooks: &'p Webhooks, schemas: &'p Schemas, facts: Arc<dyn Facts>, now: SystemTime) -> Self {
        Self {
            webhooks,
            schemas,
            facts,
            cluster: None,
            defaults: Defaults::Applied,
            stored: None,
            user: Value::Null,
            now,
            command: None,
            catalogue: webhooks.rules().into_iter().map(|rule| (rule.id, rule)).collect(),
        }
    }

    /// Sets the cluster that handlers look things up in; without one what they need is unknown.
    pub fn cluster(mut self, cluster: Arc<dyn ClusterReader>) -> Self {
        self.cluster = Some(cluster);
        self
    }

    /// Sets whether defaults are filled in; they are unless this is called.
    pub fn defaults(mut self, defaults: Defaults) -> Self {
        self.defaults = defaults;
        self
    }

    /// Sets the user of the request; anonymous by default.
    pub fn user(mut self, user: &UserInfo) -> Self {
        self.user = json!(user);
        self
    }

    /// Sets the text of the objects that are stored already: one of the same kind, namespace and name is checked as an
    /// update. Fails where the text can't be read.
    pub fn stored(mut self, text: &[u8]) -> Result<Self, StoredError> {
        self.stored = Some(Stored::read(text)?);
        Ok(self)
    }

    /// Sets the command whose `rules` explain a rule; findings then name it.
    pub fn command(mut self, command: &'static str) -> Self {
        self.command = Some(command);
        self
    }

    /// Checks the text of one file. A file that can't be read in part is checked as far as it can be read. Fails where the
    /// CRD of an object can't be read.
    pub async fn check(&self, file: &str, text: &[u8], report: &mut Report) -> Result<(), CrdError> {
        let stored = |subject: &Subject<'_>| self.stored.as_ref().and_then(|stored| stored.state_of(subject)).cloned();
        self.check_against(stored, file, text, report).await
    }

    /// Checks the text of an object as it is stored in a cluster: says what the answer to an update would be that changes
    /// nothing. `name` stands for the file. Fails where the CRD of the object can't be read.
    pub async fn check_stored(&self, name: &str, text: &[u8], report: &mut Report) -> Result<(), CrdError> {
        self.check_against(|subject| Some(subject.object.clone()), name, text, report).await
    }

    async fn check_against(
        &self,
        stored: impl Fn(&Subject<'_>) -> Option<Value>,
        file: &str,
        text: &[u8],
        report: &mut Report,
    ) -> Result<(), CrdError> {
        let source = read(file, text);
        let mut found = FileReport::new(file, &source);
        for document in &source.documents {
            for subject in Subject::all(document) {
                if self.schemas.know(&subject.gvk) || self.declares(&subject) {
                    let judged = self.judge(&subject, stored(&subject)).await?;
                    found.add(&subject, &judged, |rule| self.page(rule));
                } else {
                    found.skip();
                }
            }
        }
        report.add(found);
        Ok(())
    }

    fn declares(&self, subject: &Subject<'_>) -> bool {
        self.webhooks.declarations().any(|declared| declared.subresource.is_none() && subject.may_be(&declared.hub))
    }

    /// How to learn more of a rule: those of the catalogue have a page, the API server's own checks have none.
    fn page(&self, rule: &'static str) -> Option<String> {
        let command = self.command.filter(|_| self.catalogue.contains_key(rule))?;
        Some(format!("{command} rules {rule}"))
    }

    pub(super) fn context(&self) -> Context {
        Context { cluster: self.cluster.clone(), ..Context::new(self.now, Arc::clone(&self.facts)) }
    }
}

pub(super) fn read(file: &str, text: &[u8]) -> yaml::Source {
    if is_json(file) { yaml::read_json(text) } else { yaml::read(text) }
}

fn is_json(file: &str) -> bool {
    std::path::Path::new(file).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
}
