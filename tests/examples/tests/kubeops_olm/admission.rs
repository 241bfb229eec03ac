//! Cases of one AdmissionReview.

use gateward::{Patch, ReviewResponse, Webhooks};
use serde_json::{Value, json};

use crate::{Case, Outcome, all_webhooks, ask, engine, holds_all, same};

pub fn judge(case: &Case) -> Outcome {
    let path = case.rest["path"].as_str().unwrap();
    let webhooks = webhooks_at(path).ok_or_else(|| format!("no example serves {path}"))?;
    let body = body(&case.rest);
    let answer = ask(&webhooks, &served(&webhooks, path), body.as_bytes());
    compare(&case.expect, &answer)?;
    after(&case.expect, &case.rest["review"]["request"]["object"], &answer)
}

/// The example that serves the path, or an operator whose handler does what the path's description says.
fn webhooks_at(path: &str) -> Option<Webhooks> {
    let example = all_webhooks().into_iter().find(|webhooks| webhooks.route(path).is_some());
    example.or_else(|| engine::webhooks(path))
}

fn served(webhooks: &Webhooks, path: &str) -> String {
    match webhooks.route(path) {
        Some(_) => path.to_owned(),
        None => webhooks.paths().next().unwrap().0.to_owned(),
    }
}

pub fn body(case: &Value) -> String {
    case["raw_body"].as_str().map_or_else(|| case["review"].to_string(), str::to_owned)
}

/// Compares what the case names.
pub fn compare(expect: &Value, answer: &ReviewResponse) -> Outcome {
    same("HTTP status", &json!(answer.status), &expect["http_status"])?;
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    if expect["body_is_review"] == json!(false) {
        return if body.get("response").is_none() { Ok(()) } else { Err("the body is a review".into()) };
    }
    let found = Wire { body: &body, response: &body["response"] };
    // The bytes of a patch whose operations may come in any order are not given.
    let of_bytes = ["patch", "patch_base64"].as_slice();
    let left_out = if expect.get("patch_unordered").is_some() { of_bytes } else { &[] };
    let mut named = expect.as_object().unwrap().iter().filter(|(name, _)| !left_out.contains(&name.as_str()));
    named.try_for_each(|(name, value)| found.compare(name, value))
}

/// An answer as the API server reads it.
struct Wire<'a> {
    body: &'a Value,
    response: &'a Value,
}

impl Wire<'_> {
    fn compare(&self, name: &str, expected: &Value) -> Outcome {
        let (response, status) = (self.response, &self.response["status"]);
        match name {
            "apiVersion" | "kind" => same(name, &self.body[name], expected),
            "uid" | "allowed" => same(name, &response[name], expected),
            "code" | "message" | "reason" => same(name, &status[name], expected),
            "warnings" => same(name, response.get(name).unwrap_or(&json!([])), expected),
            "message_contains" => holds_all(name, status["message"].as_str().unwrap_or_default(), expected),
            "field" => same(name, &status["details"]["causes"][0]["field"], expected),
            "patch" => same(name, &patch(response), expected),
            "patch_unordered" => same(name, &sorted(patch(response)), &sorted(expected.clone())),
            "patch_type" => same(name, &response["patchType"], expected),
            "patch_base64" => same(name, &response["patch"], expected),
            "http_status" | "body_is_review" | "object_after" => Ok(()),
            other => Err(format!("unknown expectation {other}")),
        }
    }
}

fn sorted(mut operations: Value) -> Value {
    if let Some(operations) = operations.as_array_mut() {
        operations.sort_by_key(ToString::to_string);
    }
    operations
}

fn patch(response: &Value) -> Value {
    let text = response["patch"].as_str();
    text.map_or(Value::Null, |text| serde_json::to_value(Patch::from_base64(text).unwrap()).unwrap())
}

/// Compares the object that the patch makes.
fn after(expect: &Value, object: &Value, answer: &ReviewResponse) -> Outcome {
    let Some(expected) = expect.get("object_after") else { return Ok(()) };
    let mut patched = object.clone();
    answer.decision.patch.apply(&mut patched).map_err(|error| error.to_string())?;
    same("object_after", &patched, expected)
}
