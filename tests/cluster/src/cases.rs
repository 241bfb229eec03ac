//! The cases of the rule books, asked of the API server.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::webhooks::UNSEEN;
use gateward_testbed::Response;
use gateward_testbed::{Rejection, Sandbox, version_of};

const FILES: [&str; 2] = ["dynamo-dgd-dcd.jsonl", "dynamo-dgdr-model.jsonl"];

/// One line of a file of cases.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Case {
    /// Its name.
    pub id: String,
    /// The rule that it shows.
    #[serde(rename = "source_rule")]
    pub source_rule: String,
    /// When the rule held.
    pub era: String,
    /// Who answers.
    pub stage: String,
    /// The kind of the objects.
    pub kind: String,
    /// Group and version of the objects.
    pub api_version: String,
    /// What is done with the object.
    pub operation: String,
    /// The object before an update.
    pub old: Value,
    /// The object that is sent.
    pub object: Value,
    /// Who sends it; `null` is anybody.
    pub user: Value,
    /// What is known of the cluster.
    pub config: Value,
    /// What comes of it.
    pub expect: Expectation,
}

/// What a case expects.
#[derive(Debug, Deserialize)]
pub struct Expectation {
    /// The verdict.
    pub allowed: bool,
    /// The fields of the findings, each as often as it is named.
    pub error_fields: Vec<String>,
    /// What stands at some paths afterwards.
    #[serde(default)]
    pub patched: Map<String, Value>,
}

impl Case {
    /// All cases of our kinds.
    pub fn all() -> Vec<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/dynamo-webhooks/tests/cases");
        let texts = FILES.map(|file| std::fs::read_to_string(folder.join(file)).unwrap());
        let lines = texts.iter().flat_map(|text| text.lines()).filter(|line| !line.trim().is_empty());
        lines.map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Asks without storing anything but the old object of an update, which no webhook sees.
    pub async fn ask(&self, sandbox: &Sandbox) -> Response {
        let user = self.user["username"].as_str().map(|user| sandbox.acting_as(user));
        let sender = user.as_ref().unwrap_or(sandbox).dry();
        if self.old.is_null() {
            return sender.create(&self.object).await;
        }
        let author = sandbox.acting_as(UNSEEN);
        store(&author, &self.old).await;
        let answer = sender.replace(&self.object).await;
        author.delete(&self.old).await;
        answer
    }

    /// How an answer differs from what the case expects, which complains of the fields `wanted`.
    pub fn disagreement(&self, answer: &Response, mut wanted: Vec<String>) -> Option<String> {
        let (allowed, found) = (answer.status.is_success(), complaints(answer));
        wanted.sort_unstable();
        if allowed != self.expect.allowed || found != wanted {
            return Some(format!("wanted {wanted:?}, found {} {found:?}: {}", answer.status, answer.body["message"]));
        }
        let wrong = |(path, value): (&String, &Value)| {
            let found = answer.body.pointer(&path.trim_start_matches('$').replace('.', "/"));
            (found != Some(value)).then(|| format!("{path} is {found:?}, not {value}"))
        };
        self.expect.patched.iter().find_map(wrong)
    }

    /// A line about the case.
    pub fn reported(&self, how: &str) -> String {
        format!("{} ({}, {})\n      {how}", self.id, self.source_rule, self.api_version)
    }
}

/// The fields that an answer complains of.
fn complaints(answer: &Response) -> Vec<String> {
    if answer.status.is_success() {
        return Vec::new();
    }
    let refusal: Rejection = serde_json::from_value(answer.body.clone()).unwrap();
    refusal.fields().into_iter().map(str::to_owned).collect()
}

/// Stores an object as it is after a while: a graph's restart is never there from the beginning, and a status is written
/// by itself.
async fn store(sandbox: &Sandbox, object: &Value) {
    let mut young = object.clone();
    let restart = young["spec"].as_object_mut().and_then(|spec| spec.remove("restart"));
    sandbox.accepts(&young).await;
    if restart.is_some() {
        sandbox.replace(object).await.granted().unwrap();
    }
    if let Some(status) = object.get("status") {
        let place = format!("{}/status", sandbox.place(object, version_of(object)));
        sandbox.bed().client().merge(&place, &json!({"status": status})).await.unwrap().granted().unwrap();
    }
}
