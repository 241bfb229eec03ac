//! ConversionReview on the wire: read once, borrowed from the body; answered with the caller's uid.
//!
//! Follows <https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#webhook-request-and-response>.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::json::strict::Strict;
use crate::terminal;
use crate::webhooks::webhook_error::WebhookError;

const API_VERSION: &str = "apiextensions.k8s.io/v1";

/// The length of the shortest object that has a kind and a version, and so can be converted.
const SHORTEST: usize = r#"{"kind":"K","apiVersion":"v"}"#.len();

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope<'a> {
    #[serde(borrow, default)]
    api_version: Cow<'a, str>,
    #[serde(borrow, default)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    request: Option<Strict<WireRequest<'a>>>,
}

#[derive(Deserialize)]
struct WireRequest<'a> {
    #[serde(default)]
    uid: String,
    #[serde(rename = "desiredAPIVersion")]
    desired_api_version: String,
    #[serde(borrow)]
    objects: Option<Objects<'a>>,
}

/// The objects of a review up to the first that can't be converted. All fail with that one, and a list of a great many
/// that are next to nothing would take a multiple of the body's memory.
#[derive(Default)]
struct Objects<'a>(Vec<&'a RawValue>);

impl<'de: 'a, 'a> Deserialize<'de> for Objects<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(UpToTheFirstBad)
    }
}

struct UpToTheFirstBad;

impl<'de> Visitor<'de> for UpToTheFirstBad {
    type Value = Objects<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Objects<'de>, A::Error> {
        let mut objects = Vec::new();
        while let Some(object) = seq.next_element::<&'de RawValue>()? {
            objects.push(object);
            if object.get().len() < SHORTEST {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
            }
        }
        Ok(Objects(objects))
    }
}

/// A review as it came: the objects still raw.
pub(crate) struct ConversionReview<'a> {
    /// The caller's id of the review.
    pub uid: String,
    /// What the objects shall become, `group/version`.
    pub desired_api_version: String,
    /// The objects, in the order in which they are answered, up to the first that can't be converted.
    pub objects: Vec<&'a RawValue>,
}

impl<'a> ConversionReview<'a> {
    /// Reads the envelope. Objects are only scanned.
    pub fn read(body: &'a [u8]) -> Result<Self, WebhookError> {
        let text = std::str::from_utf8(body).map_err(|error| unreadable(&format!("the body is not UTF-8: {error}")))?;
        let Strict(envelope): Strict<Envelope<'a>> =
            serde_json::from_str(text).map_err(|error| unreadable(&error.to_string()))?;
        if envelope.kind != "ConversionReview" {
            return Err(unreadable(&format!("kind is {:?}, not \"ConversionReview\"", cut(&envelope.kind))));
        }
        if envelope.api_version != API_VERSION {
            return Err(unreadable(&format!("apiVersion is {:?}, not {API_VERSION}", cut(&envelope.api_version))));
        }
        let Strict(request) = envelope.request.ok_or_else(|| unreadable("the review has no request"))?;
        if request.uid.trim().is_empty() {
            return Err(unreadable("the request has no uid"));
        }
        if request.desired_api_version.trim().is_empty() {
            return Err(unreadable("the request has no desiredAPIVersion"));
        }
        let (uid, desired_api_version, Objects(objects)) =
            (request.uid, request.desired_api_version, request.objects.unwrap_or_default());
        Ok(Self { uid, desired_api_version, objects })
    }
}

/// An answer in the making, or a part of one: converted objects are appended as they are ready, so that there is never
/// more in memory than the review and its answer.
#[derive(Default)]
pub(crate) struct ConvertedObjects {
    body: Vec<u8>,
    count: usize,
}

impl ConvertedObjects {
    /// An answer without objects; `expected` is about how many bytes there will be.
    pub fn answering(uid: &str, expected: usize) -> Self {
        let mut body = Vec::with_capacity(expected);
        body.extend_from_slice(head(uid).as_bytes());
        Self { body, count: 0 }
    }

    /// Adds an object.
    pub fn push(&mut self, json: &str) {
        self.append(json.as_bytes(), 1);
    }

    /// Adds the objects of a part.
    pub fn extend(&mut self, part: &Self) {
        self.append(&part.body, part.count);
    }

    fn append(&mut self, objects: &[u8], count: usize) {
        if self.count > 0 && count > 0 {
            self.body.push(b',');
        }
        self.body.extend_from_slice(objects);
        self.count += count;
    }

    /// How many objects there are.
    pub const fn count(&self) -> usize {
        self.count
    }

    /// The answer that all went well.
    pub fn succeed(mut self) -> Vec<u8> {
        self.body.extend_from_slice(br#"],"result":{"status":"Success"}}}"#);
        self.body
    }
}

/// The answer that nothing was converted, and why.
pub(crate) fn failure(uid: &str, message: &str) -> Vec<u8> {
    let message = serde_json::Value::from(terminal::lines(message));
    format!(r#"{}],"result":{{"status":"Failure","message":{message}}}}}}}"#, head(uid)).into_bytes()
}

fn head(uid: &str) -> String {
    let uid = serde_json::Value::from(uid);
    format!(r#"{{"kind":"ConversionReview","apiVersion":"{API_VERSION}","response":{{"uid":{uid},"convertedObjects":["#)
}

/// The reason is cut: what it quotes of the body can be as long as the body.
fn unreadable(why: &str) -> WebhookError {
    WebhookError::Unreadable(why.chars().take(300).collect())
}

fn cut(text: &str) -> String {
    text.chars().take(64).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn refusal(review: &Value) -> String {
        match ConversionReview::read(review.to_string().as_bytes()) {
            Ok(_) => panic!("read {review}"),
            Err(why) => why.to_string(),
        }
    }

    #[test]
    fn says_why_an_envelope_is_unreadable() {
        let review =
            |request: Value| json!({"kind": "ConversionReview", "apiVersion": API_VERSION, "request": request});
        assert!(refusal(&json!({})).contains("ConversionReview"));
        assert!(refusal(&json!({"kind": "ConversionReview"})).contains(API_VERSION));
        assert!(refusal(&json!({"kind": "ConversionReview", "apiVersion": API_VERSION})).contains("no request"));
        assert!(refusal(&review(json!({"desiredAPIVersion": "g/v1"}))).contains("no uid"));
        assert!(refusal(&review(json!({"uid": " ", "desiredAPIVersion": "g/v1"}))).contains("no uid"));
        assert!(refusal(&review(json!({"uid": "u"}))).contains("desiredAPIVersion"));
        assert!(refusal(&review(json!({"uid": "u", "desiredAPIVersion": ""}))).contains("no desiredAPIVersion"));
        assert!(refusal(&review(json!(["u", "g/v1", []]))).contains("object"));
        assert!(ConversionReview::read(b"\xff").is_err());
    }

    #[test]
    fn another_version_of_the_review_is_not_read() {
        let request = json!({"uid": "u", "desiredAPIVersion": "g/v1", "objects": []});
        for version in ["apiextensions.k8s.io/v1beta1", "v1", ""] {
            let review = json!({"kind": "ConversionReview", "apiVersion": version, "request": request});
            assert!(refusal(&review).contains(API_VERSION), "{version}");
        }
    }

    #[test]
    fn a_list_of_next_to_nothing_takes_no_memory() {
        let objects = format!("[{}1]", r#"{"kind":"K","apiVersion":"g/v1"},{},[],"",5,"#.repeat(1000));
        let review = format!(
            r#"{{"kind":"ConversionReview","apiVersion":"{API_VERSION}","request":{{"uid":"u","desiredAPIVersion":"g/v1","objects":{objects}}}}}"#
        );
        let objects = ConversionReview::read(review.as_bytes()).unwrap().objects;
        assert_eq!(
            objects.iter().map(|object| object.get()).collect::<Vec<_>>(),
            [r#"{"kind":"K","apiVersion":"g/v1"}"#, "{}"]
        );
        let broken = review.replace(",5,1]", ",5,]");
        assert!(ConversionReview::read(broken.as_bytes()).is_err(), "the rest is still read");
    }

    #[test]
    fn an_answer_is_json_whatever_the_texts() {
        let mut objects = ConvertedObjects::answering("a\"b", 0);
        objects.push(r#"{"a":1}"#);
        objects.push("{}");
        let answer: Value = serde_json::from_slice(&objects.succeed()).unwrap();
        let expected = json!({"uid": "a\"b", "convertedObjects": [{"a": 1}, {}], "result": {"status": "Success"}});
        assert_eq!(answer["response"], expected);
        let answer: Value = serde_json::from_slice(&failure("u", "no \"way\"\n")).unwrap();
        let result = json!({"status": "Failure", "message": "no \"way\"\n"});
        assert_eq!(answer["response"], json!({"uid": "u", "convertedObjects": [], "result": result}));
    }
}
