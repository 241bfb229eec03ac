//! Applying manifests as kubectl and the API server do together, and telling it as kubectl tells it.

use std::fmt::Write;

use gateward::prelude::*;
use gateward::{Patch, Review};
use serde_json::{Value, json};

use super::client::ReviewClient;
use super::script::{DemoStep, Expected};

/// Applies manifests and remembers what was admitted.
pub struct Kubectl<'a> {
    webhooks: &'a Webhooks,
    client: &'a ReviewClient,
    stored: Vec<Value>,
    rows: Vec<Row>,
}

/// One line of the table at the end.
struct Row {
    object: String,
    operation: Operation,
    verdict: Expected,
    expected: Expected,
    rules: String,
}

/// What the webhooks said about one object.
struct Verdicts {
    warnings: Vec<String>,
    defaults: Vec<String>,
    object: Value,
    denial: Option<Denial>,
}

/// What a refusal holds.
struct Denial {
    webhook: String,
    reason: String,
    causes: Vec<Value>,
    message: String,
    rules: String,
}

impl<'a> Kubectl<'a> {
    /// Nothing is stored yet.
    pub fn new(webhooks: &'a Webhooks, client: &'a ReviewClient) -> Self {
        Self { webhooks, client, stored: Vec::new(), rows: Vec::new() }
    }

    /// Applies one manifest and tells what came of it.
    pub async fn apply(&mut self, step: &DemoStep) -> anyhow::Result<String> {
        let object = step.object()?;
        let old = self.stored.iter().position(|stored| identity(stored) == identity(&object));
        let old_object = old.map(|index| &self.stored[index]);
        let operation = if old.is_some() { Update } else { Create };
        let verdicts = self.ask(operation, old_object, applied(old_object, object)).await?;
        let text = output(step, operation, &verdicts);
        self.rows.push(row(step, operation, &verdicts));
        if verdicts.denial.is_none() {
            match old {
                Some(index) => self.stored[index] = verdicts.object,
                None => self.stored.push(verdicts.object),
            }
        }
        Ok(text)
    }

    /// All verdicts in one table.
    pub fn table(&self) -> String {
        let width = self.rows.iter().map(|row| row.object.len()).max().unwrap_or_default();
        let mut text = format!("{:width$}  OPERATION  VERDICT   RULES\n", "OBJECT");
        for row in &self.rows {
            let verdict = match row.verdict {
                Expected::Allowed => "allowed",
                Expected::Denied => "denied",
            };
            let line = format!("{:width$}  {:9}  {verdict:8}  {}", row.object, row.operation.as_str(), row.rules);
            let _ = writeln!(text, "{}", line.trim_end());
        }
        text
    }

    /// How many manifests got another verdict than the one that they were written for.
    pub fn surprises(&self) -> usize {
        self.rows.iter().filter(|row| row.verdict != row.expected).count()
    }

    /// First the mutating webhook, then the validating one, as the API server does.
    async fn ask(&self, operation: Operation, old: Option<&Value>, object: Value) -> anyhow::Result<Verdicts> {
        let mut verdicts = Verdicts { warnings: Vec::new(), defaults: Vec::new(), object, denial: None };
        let Some(declared) = self.webhooks.declaration_of(&gvk(&verdicts.object)) else { return Ok(verdicts) };
        for review in [Review::Mutate, Review::Validate] {
            let (Some(path), Some(webhook)) = (declared.path(review), declared.webhook_name(review)) else { continue };
            let request = envelope(operation, old, &verdicts.object);
            let answer = self.client.post(&format!("{path}?timeout=10s"), &request).await?;
            verdicts.take(&webhook, &answer["response"])?;
            if verdicts.denial.is_some() {
                break;
            }
        }
        Ok(verdicts)
    }
}

impl Verdicts {
    fn take(&mut self, webhook: &str, response: &Value) -> anyhow::Result<()> {
        let warnings = response["warnings"].as_array().into_iter().flatten();
        self.warnings.extend(warnings.filter_map(Value::as_str).map(str::to_owned));
        if response["allowed"] != true {
            self.denial = Some(Denial::of(webhook, response));
        }
        if let Some(patch) = response["patch"].as_str() {
            let patch = Patch::from_base64(patch)?;
            let before = self.object.clone();
            patch.apply(&mut self.object)?;
            self.defaults = difference(&patch, &before);
        }
        Ok(())
    }
}

impl Denial {
    fn of(webhook: &str, response: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Self {
            webhook: webhook.to_owned(),
            reason: text(&response["status"]["reason"]),
            causes: response["status"]["details"]["causes"].as_array().cloned().unwrap_or_default(),
            message: text(&response["status"]["message"]),
            rules: text(&response["auditAnnotations"]["rules"]),
        }
    }

    /// As kubectl says it, but with each finding in a line of its own.
    fn output(&self) -> String {
        let Self { webhook, reason, message, .. } = self;
        let whose = message.split_inclusive(" is invalid:").next().filter(|_| !self.causes.is_empty());
        let what = whose.unwrap_or(message);
        let mut text =
            format!("Error from server ({reason}): admission webhook \"{webhook}\" denied the request: {what}\n");
        for cause in &self.causes {
            let (field, message) = (cause["field"].as_str(), cause["message"].as_str());
            let _ = writeln!(text, "    {}: {}", field.unwrap_or_default(), message.unwrap_or_default());
        }
        text
    }
}

/// What `kubectl apply` makes of a manifest and the stored object of a custom resource: a JSON merge (RFC 7386). What
/// the webhooks filled in stays, but for lists, which the manifest replaces.
fn applied(stored: Option<&Value>, manifest: Value) -> Value {
    match (stored, manifest) {
        (Some(Value::Object(stored)), Value::Object(manifest)) => {
            let mut merged = stored.clone();
            for (name, value) in manifest {
                let value = applied(stored.get(&name), value);
                merged.insert(name, value);
            }
            Value::Object(merged)
        }
        (_, manifest) => manifest,
    }
}

/// The patch as lines of a diff.
fn difference(patch: &Patch, before: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    for operation in patch.operations() {
        let path = operation.path().trim_start_matches('/').replace('/', ".").replace("~1", "/").replace("~0", "~");
        if let Some(was) = before.pointer(operation.path()) {
            lines.push(format!("- {path}: {was}"));
        }
        if let Some(value) = operation.value() {
            lines.push(format!("+ {path}: {value}"));
        }
    }
    lines
}

fn output(step: &DemoStep, operation: Operation, verdicts: &Verdicts) -> String {
    let mut text = format!("$ kubectl apply -f {}\n", step.file);
    for warning in &verdicts.warnings {
        let _ = writeln!(text, "Warning: {warning}");
    }
    match &verdicts.denial {
        None => {
            let done = if operation == Create { "created" } else { "configured" };
            let _ = writeln!(text, "{} {done}", display(&verdicts.object));
            for line in &verdicts.defaults {
                let _ = writeln!(text, "    {line}");
            }
        }
        Some(denial) => text.push_str(&denial.output()),
    }
    text
}

fn row(step: &DemoStep, operation: Operation, verdicts: &Verdicts) -> Row {
    let denial = verdicts.denial.as_ref();
    Row {
        object: display(&verdicts.object),
        operation,
        verdict: if denial.is_none() { Expected::Allowed } else { Expected::Denied },
        expected: step.expected,
        rules: denial.map_or_else(String::new, |denial| denial.rules.replace(',', ", ")),
    }
}

fn envelope(operation: Operation, old: Option<&Value>, object: &Value) -> Value {
    json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
            "kind": gvk(object),
            "name": object["metadata"]["name"],
            "namespace": object["metadata"]["namespace"],
            "operation": operation,
            "userInfo": {"username": "jane", "groups": ["system:authenticated"]},
            "object": object,
            "oldObject": old,
            "dryRun": false,
        }
    })
}

fn gvk(object: &Value) -> GroupVersionKind {
    let text = |member: &str| object[member].as_str().unwrap_or_default();
    GroupVersionKind::of(text("apiVersion"), text("kind"))
}

fn identity(object: &Value) -> (String, String, String) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let metadata = &object["metadata"];
    (gvk(object).kind, text(&metadata["namespace"]), text(&metadata["name"]))
}

/// `dynamomodel.nvidia.com/finch`
fn display(object: &Value) -> String {
    let gvk = gvk(object);
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    format!("{}.{}/{name}", gvk.kind.to_lowercase(), gvk.group)
}
