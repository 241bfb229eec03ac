//! Cases of the rule books as reviews, and the comparison of an answer with what a case expects.

#![allow(dead_code, reason = "each test that includes this module uses a part of it")]

pub mod alpha;
pub mod json_path;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use base64::Engine;
use dynamo_webhooks::ClusterFacts;
use gateward::json::patch;
use gateward::{Context, GroupVersionKind, Review, ReviewResponse, Severity, Webhooks};
use serde::Deserialize;
use serde_json::{Value, json};

/// The files that hold cases of our kinds.
pub const FILES: [&str; 2] = ["dynamo-dgd-dcd.jsonl", "dynamo-dgdr-model.jsonl"];

/// One line of a file of cases.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Case {
    pub id: String,
    #[serde(rename = "source_rule")]
    pub source_rule: String,
    pub era: String,
    pub stage: Stage,
    pub kind: String,
    pub api_version: String,
    pub operation: String,
    pub old: Value,
    pub object: Value,
    pub user: Value,
    pub config: Value,
    /// Which passage says so.
    #[serde(default)]
    pub note: String,
    #[serde(default)]
    pub paths: Paths,
    pub expect: Expectation,
}

/// Which version's fields the expected paths name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Paths {
    /// The hub's, with those of the object's own version mixed in.
    #[default]
    Hub,
    /// Those that the user wrote.
    Written,
}

/// Who answers a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    Webhook,
    Mutating,
    Schema,
    Cel,
}

/// One request, as the API server knows it.
pub struct Ask<'a> {
    pub uid: &'a str,
    pub gvk: GroupVersionKind,
    pub operation: &'a str,
    pub old: &'a Value,
    pub object: &'a Value,
    pub user: Value,
}

/// Somebody without any special right.
pub fn ordinary_user() -> Value {
    json!({"username": "ordinary-user", "groups": ["system:authenticated"]})
}

impl Ask<'_> {
    /// The AdmissionReview that the API server would send.
    pub fn body(&self, webhooks: &Webhooks) -> Vec<u8> {
        let gvk = &self.gvk;
        let plural = webhooks.declaration_of(gvk).map_or("", |declared| declared.plural.as_ref());
        let resource = json!({"group": gvk.group, "version": gvk.version, "resource": plural});
        let about = if self.object.is_null() { self.old } else { self.object };
        let review = json!({
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "request": {
                "uid": self.uid,
                "kind": gvk,
                "resource": resource,
                "requestKind": gvk,
                "requestResource": resource,
                "name": text(about, "/metadata/name"),
                "namespace": text(about, "/metadata/namespace"),
                "operation": self.operation,
                "userInfo": self.user,
                "object": self.object,
                "oldObject": self.old,
                "dryRun": false,
                "options": null,
            }
        });
        review.to_string().into_bytes()
    }
}

fn text<'v>(document: &'v Value, pointer: &str) -> &'v str {
    document.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// What a case expects.
#[derive(Debug, Clone, Deserialize)]
pub struct Expectation {
    pub allowed: bool,
    pub error_fields: Vec<String>,
    pub error_count: usize,
    pub warnings: usize,
    #[serde(default)]
    pub patched: serde_json::Map<String, Value>,
    #[serde(default)]
    pub absent: Vec<String>,
    /// The rules of the findings, in the order of their paths. Only our own cases say so.
    #[serde(default)]
    pub rules: Vec<String>,
    /// What each warning speaks of, in order. Only our own cases say so.
    #[serde(default)]
    pub warns_of: Vec<String>,
    /// What must stand nowhere in the answer. Only our own cases say so.
    #[serde(default)]
    pub never_says: Vec<String>,
}

/// The folder of the rule books' cases, the same one for tests of other crates.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../dynamo-webhooks/tests/cases")
}

impl Case {
    /// The cases of a file that are ours to answer.
    pub fn ours(folder: &Path, file: &str) -> Vec<Self> {
        Self::of_file(&folder.join(file)).into_iter().filter(Self::is_ours).collect()
    }

    /// All cases of a file.
    pub fn of_file(path: &Path) -> Vec<Self> {
        let file = path.display();
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{file}: {error}"));
        let parse = |line: &str| {
            serde_json::from_str::<Self>(line).unwrap_or_else(|error| panic!("{file}: {error}: {line:.120}"))
        };
        text.lines().filter(|line| !line.trim().is_empty()).map(parse).collect()
    }

    /// Whether the case is of a stage, kind and era that the target state names.
    pub fn is_ours(&self) -> bool {
        self.review().is_some()
            && match (self.kind.as_str(), self.version()) {
                ("DynamoGraphDeployment" | "DynamoComponentDeployment", _)
                | ("DynamoGraphDeploymentRequest", "v1beta1") => self.era == "N",
                // The v1alpha1 rules of the guide's era hold on, with the newest ones beside them.
                ("DynamoGraphDeploymentRequest", "v1alpha1") => matches!(self.era.as_str(), "S" | "N"),
                ("DynamoModel", "v1alpha1") => matches!(self.era.as_str(), "M" | "N"),
                _ => false,
            }
    }

    /// What the case asks for; `None` where the API server answers alone.
    pub fn review(&self) -> Option<Review> {
        match self.stage {
            Stage::Webhook => Some(Review::Validate),
            Stage::Mutating => Some(Review::Mutate),
            Stage::Schema | Stage::Cel => None,
        }
    }

    pub fn version(&self) -> &str {
        self.api_version.rsplit('/').next().unwrap_or_default()
    }

    pub fn gvk(&self) -> GroupVersionKind {
        GroupVersionKind::of(&self.api_version, &self.kind)
    }

    /// The AdmissionReview that the API server would send.
    pub fn body(&self, webhooks: &Webhooks) -> Vec<u8> {
        let user = if self.user.is_null() { ordinary_user() } else { self.user.clone() };
        let (old, object) = (&self.old, &self.object);
        Ask { uid: &self.id, gvk: self.gvk(), operation: &self.operation, old, object, user }.body(webhooks)
    }

    /// The path of the webhook that answers the case, if there is one.
    pub fn path(&self, webhooks: &Webhooks) -> Option<String> {
        webhooks.path_of(self.review()?, &self.gvk())
    }

    pub fn context(&self) -> Context {
        let facts = ClusterFacts::from_document(&self.config).unwrap_or_else(|error| panic!("{}: {error}", self.id));
        Context::new(SystemTime::UNIX_EPOCH, Arc::new(facts))
    }

    /// How the answer differs from what the case expects; `None` where it doesn't.
    pub fn disagreement(&self, answer: &ReviewResponse) -> Option<String> {
        if answer.status != 200 {
            return Some(format!("no verdict but {}: {}", answer.status, String::from_utf8_lossy(&answer.body)));
        }
        let response = Response::read(&answer.body);
        let (found, wanted) = (self.comparable(response.paths()), self.comparable(self.wanted_paths()));
        let verdict = (response.allowed, found.len(), response.warnings.len());
        if verdict != (self.expect.allowed, self.expect.error_count, self.expect.warnings) || found != wanted {
            return Some(format!(
                "wanted allowed={} {} warnings={}\n      found  allowed={} {} warnings={}\n      {}",
                self.expect.allowed,
                wanted.join(" "),
                self.expect.warnings,
                response.allowed,
                found.join(" "),
                response.warnings.len(),
                response.described(),
            ));
        }
        self.wrong_rules(answer)
            .or_else(|| self.wrong_text(&answer.body, &response))
            .or_else(|| (self.stage == Stage::Mutating).then(|| self.wrong_node(&response.patched(&self.object)))?)
    }

    fn wrong_rules(&self, answer: &ReviewResponse) -> Option<String> {
        let denying = answer.decision.issues.iter().filter(|issue| issue.severity == Severity::Error);
        let found = self.comparable(denying.map(|issue| issue.rule.to_owned()).collect());
        let wanted = self.comparable(self.expect.rules.clone());
        let wrong = !wanted.is_empty() && found != wanted;
        wrong.then(|| format!("wanted {}\n      found  {}", wanted.join(" "), found.join(" ")))
    }

    fn wrong_text(&self, body: &[u8], response: &Response) -> Option<String> {
        let body = String::from_utf8_lossy(body);
        let leaked = self.expect.never_says.iter().find(|text| body.contains(text.as_str()));
        let missed = self.expect.warns_of.iter().zip(&response.warnings).find(|(about, said)| !said.contains(*about));
        leaked
            .map(|text| format!("says {text}: {body}"))
            .or_else(|| missed.map(|(about, said)| format!("warns {said:?}, not of {about}")))
    }

    /// The expected paths in the version that the user wrote.
    fn wanted_paths(&self) -> Vec<String> {
        let paths = self.expect.error_fields.iter();
        if self.paths == Paths::Written || !self.is_translated() {
            return paths.cloned().collect();
        }
        paths.map(|path| alpha::translate(path, &self.kind, &self.object)).collect()
    }

    /// Paths in their order, or sorted where only the set is promised.
    fn comparable(&self, mut paths: Vec<String>) -> Vec<String> {
        if self.is_translated() {
            paths.sort();
        }
        paths
    }

    /// Whether the case names paths of another version than the user's.
    fn is_translated(&self) -> bool {
        self.version() == "v1alpha1"
            && matches!(self.kind.as_str(), "DynamoGraphDeployment" | "DynamoComponentDeployment")
    }

    fn wrong_node(&self, object: &Value) -> Option<String> {
        let unset = |path: &String| {
            let wanted = &self.expect.patched[path];
            let found = json_path::find(object, path);
            let same = found.is_some_and(|found| patch::same_value(found, wanted));
            (!same).then(|| format!("{path} is {found:?}, not {wanted}"))
        };
        let present = |path: &String| {
            let found = json_path::find(object, path).filter(|found| !found.is_null())?;
            Some(format!("{path} is {found}, not absent"))
        };
        self.expect.patched.keys().find_map(unset).or_else(|| self.expect.absent.iter().find_map(present))
    }
}

/// The part of an answer's body that is compared.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Response {
    allowed: bool,
    status: Option<Status>,
    warnings: Vec<String>,
    patch: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Status {
    message: String,
    details: Details,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Details {
    causes: Vec<Cause>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Cause {
    field: String,
}

impl Response {
    fn read(body: &[u8]) -> Self {
        #[derive(Deserialize)]
        struct Envelope {
            response: Response,
        }
        let envelope: Envelope = serde_json::from_slice(body).expect("an answer is an AdmissionReview");
        envelope.response
    }

    fn paths(&self) -> Vec<String> {
        let causes = self.status.iter().flat_map(|status| &status.details.causes);
        causes.map(|cause| cause.field.clone()).collect()
    }

    /// What the user would read.
    fn described(&self) -> String {
        let message = self.status.iter().map(|status| status.message.as_str());
        message.chain(self.warnings.iter().map(String::as_str)).collect::<Vec<_>>().join(" | ")
    }

    /// The object after the patch, which is carried out by another library than our own.
    fn patched(&self, object: &Value) -> Value {
        let mut object = object.clone();
        if let Some(text) = &self.patch {
            let json = base64::engine::general_purpose::STANDARD.decode(text).expect("a patch is base64");
            let patch: json_patch::Patch = serde_json::from_slice(&json).expect("a patch is a JSON Patch");
            json_patch::patch(&mut object, &patch).expect("a patch fits its object");
        }
        object
    }
}
