//! A kind in two versions, and requests about it.

use std::sync::Arc;
use std::time::SystemTime;

use gateward_core::testing::block_on;
use gateward_core::{
    Context, ConversionError, Convert, Decision, Facts, FieldPath, Issues, Provenance, Request, ReviewResponse,
    Segment, Verdict, Webhook, Webhooks, resource,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// An otter, in the hub's version.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Otter {
    #[serde(default)]
    pub spec: OtterSpec,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct OtterSpec {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pups: Option<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub river: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Tool>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Tool {
    pub name: String,
}

resource!(Otter, "zoo.example.org/v1", "Otter", "otters");

/// An otter as it was first described: its tools are stones.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct OldOtter {
    #[serde(default)]
    pub spec: OldOtterSpec,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct OldOtterSpec {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub nickname: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub river: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stones: Vec<String>,
}

resource!(OldOtter, "zoo.example.org/v1alpha1", "Otter", "otters");

/// Reads an old otter as a new one. A river of lava can't be.
pub struct OtterConversion;

impl Convert<OldOtter, Otter> for OtterConversion {
    fn to_hub(&self, old: &OldOtter, provenance: &mut Provenance, _: &mut Issues) -> Result<Otter, ConversionError> {
        let spec = || FieldPath::field("spec");
        if old.spec.river.as_deref() == Some("lava") {
            return Err(ConversionError { path: spec() / "river", message: "no otter swims in lava".into() });
        }
        provenance.moved(|| (spec() / "name", spec() / "nickname"));
        for index in 0..old.spec.stones.len() {
            let stone = Segment::Index(index);
            provenance.made(|| (spec() / "tools" / stone.clone(), spec() / "stones" / stone));
        }
        let tools = old.spec.stones.iter().map(|name| Tool { name: name.clone() }).collect();
        let spec = OtterSpec { name: old.spec.nickname.clone(), pups: None, river: old.spec.river.clone(), tools };
        Ok(Otter { spec })
    }

    fn from_hub(&self, new: &Otter, _: &mut Issues) -> Result<OldOtter, ConversionError> {
        let stones = new.spec.tools.iter().map(|tool| tool.name.clone()).collect();
        let spec = OldOtterSpec { nickname: new.spec.name.clone(), river: new.spec.river.clone(), stones };
        Ok(OldOtter { spec })
    }
}

pub const VALIDATE: &str = "/validate-zoo-example-org-v1-otter";
pub const MUTATE: &str = "/mutate-zoo-example-org-v1-otter";

/// A zoo whose otters are judged by one function.
pub fn judged_by(rules: fn(&Otter, &Request) -> Verdict) -> Webhooks {
    Webhooks::new().register(Webhook::<Otter>::new().validator(rules))
}

/// An otter named otto with this spec.
pub fn otter(spec: Value) -> Value {
    json!({"apiVersion": "zoo.example.org/v1", "kind": "Otter", "metadata": {"name": "otto"}, "spec": spec})
}

/// The same in the old version.
pub fn old_otter(spec: Value) -> Value {
    let mut otter = otter(spec);
    otter["apiVersion"] = "zoo.example.org/v1alpha1".into();
    otter
}

/// A review, as the API server sends it: of `object`, or where that is null of the removal of `old`.
pub fn review(operation: &str, object: Value, old: Value) -> Value {
    let about = if object.is_null() { &old } else { &object };
    let version =
        about["apiVersion"].as_str().and_then(|text| text.split_once('/')).map_or("v1", |(_, version)| version);
    json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
            "kind": {"group": "zoo.example.org", "version": version, "kind": "Otter"},
            "resource": {"group": "zoo.example.org", "version": version, "resource": "otters"},
            "name": "otto",
            "namespace": "river",
            "operation": operation,
            "userInfo": {"username": "jane", "groups": ["keepers"]},
            "object": object,
            "oldObject": old,
            "options": {"apiVersion": "meta.k8s.io/v1", "kind": "CreateOptions"},
            "dryRun": false
        }
    })
}

pub fn created(object: Value) -> Value {
    review("CREATE", object, Value::Null)
}

pub fn updated(old: Value, new: Value) -> Value {
    review("UPDATE", new, old)
}

pub fn deleted(old: Value) -> Value {
    review("DELETE", Value::Null, old)
}

/// An answer, its body read.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub body: Value,
    pub record: Decision,
}

impl Reply {
    pub fn response(&self) -> &Value {
        &self.body["response"]
    }

    pub fn is_allowed(&self) -> bool {
        self.response()["allowed"] == true
    }

    /// The fields of the causes, in order.
    pub fn fields(&self) -> Vec<&str> {
        let causes = self.response().pointer("/status/details/causes").and_then(Value::as_array).into_iter().flatten();
        causes.filter_map(|cause| cause["field"].as_str()).collect()
    }
}

impl From<ReviewResponse> for Reply {
    fn from(answer: ReviewResponse) -> Self {
        let body = serde_json::from_slice(&answer.body).unwrap();
        Self { status: answer.status, body, record: answer.decision }
    }
}

/// The answer to `body` where nothing is known of the cluster.
pub fn ask(webhooks: &Webhooks, path: &str, body: &Value) -> Reply {
    ask_knowing(webhooks, (), path, body)
}

pub fn ask_knowing(webhooks: &Webhooks, facts: impl Facts, path: &str, body: &Value) -> Reply {
    let context = Context::new(SystemTime::UNIX_EPOCH, Arc::new(facts));
    ask_in(webhooks, &context, path, body.to_string().as_bytes())
}

pub fn ask_in(webhooks: &Webhooks, context: &Context, path: &str, body: &[u8]) -> Reply {
    block_on(webhooks.handle(path, body, context)).into()
}
