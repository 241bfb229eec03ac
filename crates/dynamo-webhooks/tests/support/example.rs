//! Examples of the catalogue as reviews.

use std::sync::Arc;
use std::time::SystemTime;

use dynamo_webhooks::ClusterFacts;
use gateward::testing::block_on;
use gateward::{Context, GroupVersionKind, Operation, Review, ReviewResponse, Webhooks};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Ask, ordinary_user};

/// One example: an object, and what else the rule looks at.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Example {
    pub object: Value,
    pub old: Value,
    pub facts: Value,
    pub user: Option<String>,
}

impl Example {
    /// Reads the one document of an example.
    pub fn read(text: &str) -> Result<Self, String> {
        let source = gateward::yaml::read(text);
        if !source.findings.is_empty() {
            return Err(format!("is no plain YAML: {:?}", source.findings));
        }
        match source.documents.as_slice() {
            [document] => Self::deserialize(&document.value).map_err(|error| error.to_string()),
            documents => Err(format!("holds {} documents", documents.len())),
        }
    }

    pub fn operation(&self) -> Operation {
        match (self.old.is_null(), self.object.is_null()) {
            (true, _) => Operation::Create,
            (false, false) => Operation::Update,
            (false, true) => Operation::Delete,
        }
    }

    pub fn gvk(&self) -> GroupVersionKind {
        let about = if self.object.is_null() { &self.old } else { &self.object };
        let text = |member: &str| about[member].as_str().unwrap_or_default().to_owned();
        GroupVersionKind::of(&text("apiVersion"), &text("kind"))
    }

    /// What the webhook says. Without facts the rule books' defaults hold.
    pub fn answer(&self, webhooks: &Webhooks) -> Result<ReviewResponse, String> {
        let gvk = self.gvk();
        let path = webhooks.path_of(Review::Validate, &gvk).ok_or_else(|| format!("no webhook judges {gvk}"))?;
        let facts = if self.facts.is_null() { json!({}) } else { self.facts.clone() };
        let facts = ClusterFacts::from_document(&facts).map_err(|error| error.to_string())?;
        let user = self.user.as_ref().map_or_else(ordinary_user, |name| json!({"username": name}));
        let (old, object) = (&self.old, &self.object);
        let ask = Ask { uid: "example", gvk, operation: self.operation().as_str(), old, object, user };
        let context = Context::new(SystemTime::UNIX_EPOCH, Arc::new(facts));
        Ok(block_on(webhooks.handle(&path, &ask.body(webhooks), &context)))
    }
}
