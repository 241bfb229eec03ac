//! The offline check: what the API server and the webhooks would say about a manifest.
//!
//! The order is the API server's: defaults of the schema, the defaulting handlers, the schema, the validating handlers.
//! Everything is reported at once, at the node of the file that it is about.

mod finding;
mod object;
mod report;
mod schemas;

use std::sync::Arc;
use std::time::SystemTime;

use gateward_core::{Context, Facts, GroupVersionKind, Registry, UserInfo};
use gateward_lint::yaml;
use serde_json::{Value, json};

pub use report::{Counts, Report};
pub use schemas::CrdError;

use object::Subject;
use schemas::Schemas;

/// Whether the check fills in defaults before it judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Defaults {
    /// As the API server does.
    Applied,
    /// The object is judged as it is written.
    Skipped,
}

/// Checks files against the kinds of a registry and the schemas of their CRDs.
pub struct Checker<'r> {
    registry: &'r Registry,
    schemas: Schemas,
    facts: Arc<dyn Facts>,
    defaults: Defaults,
    stored: Vec<Value>,
    user: Value,
    now: SystemTime,
}

impl<'r> Checker<'r> {
    /// A checker with these facts at this time. Fails where a CRD of the product can't be read.
    pub fn new(
        registry: &'r Registry,
        crds: &[&str],
        facts: Arc<dyn Facts>,
        now: SystemTime,
    ) -> Result<Self, CrdError> {
        let (defaults, stored, user) = (Defaults::Applied, Vec::new(), Value::Null);
        Ok(Self { registry, schemas: Schemas::read(crds)?, facts, defaults, stored, user, now })
    }

    /// Sets whether defaults are filled in.
    pub fn defaults(mut self, defaults: Defaults) -> Self {
        self.defaults = defaults;
        self
    }

    /// Sets who asks, as the API server would tell it; nobody unless this is called.
    pub fn user(mut self, user: &UserInfo) -> Self {
        self.user = json!(user);
        self
    }

    /// Objects that are stored already: one of the same kind, namespace and name is then checked as an update.
    pub fn stored(mut self, text: &[u8]) -> Self {
        for document in yaml::read(text).documents {
            self.stored.extend(object::in_document(&document.value).map(|(_, object)| object.clone()));
        }
        self
    }

    /// Checks the text of one file.
    pub async fn check(&self, file: &str, text: &[u8], report: &mut Report) {
        let source = if is_json(file) { yaml::read_json(text) } else { yaml::read(text) };
        let mut file = report.file(file, &source);
        for document in &source.documents {
            for (at, object) in object::in_document(&document.value) {
                let subject = Subject::new(object, document, at, &self.stored, &self.user);
                if self.concerns(&subject.gvk) {
                    let findings = self.judge(&subject).await;
                    file.add(&subject, &findings);
                } else {
                    file.skip();
                }
            }
        }
    }

    fn concerns(&self, gvk: &GroupVersionKind) -> bool {
        self.schemas.knows(gvk) || self.registry.declarations().any(|declared| declared.hub.same_kind(gvk))
    }

    fn context(&self) -> Context {
        Context::new(self.now, Arc::clone(&self.facts))
    }
}

fn is_json(file: &str) -> bool {
    std::path::Path::new(file).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
}
