//! A namespace for one test, and the words in which tests are written.

use std::sync::Arc;

use http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::bed::Bed;
use crate::client::{Client, Response};

/// A namespace that only one test uses.
#[derive(Clone)]
pub struct Sandbox {
    bed: Arc<Bed>,
    client: Client,
    namespace: String,
    /// Said with each creation and replacement.
    options: &'static str,
}

/// Why the API server doesn't take an object.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Rejection {
    /// The HTTP status.
    pub code: u16,
    /// The reason in one word.
    pub reason: String,
    /// The text for people.
    pub message: String,
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

impl Rejection {
    /// The fields of the causes in order. The API server adds one for rules that it didn't get to; it names no field.
    pub fn fields(&self) -> Vec<&str> {
        let mut fields: Vec<_> = self.details.causes.iter().map(|cause| cause.field.as_str()).collect();
        fields.retain(|field| *field != "<nil>");
        fields.sort_unstable();
        fields
    }
}

impl Sandbox {
    /// Makes a namespace.
    pub(crate) async fn new(bed: Arc<Bed>, namespace: String) -> anyhow::Result<Self> {
        let client = bed.client().clone();
        client.post("/api/v1/namespaces", &json!({"metadata": {"name": namespace}})).await?.granted()?;
        Ok(Self { bed, client, namespace, options: "" })
    }

    /// The same namespace, where nothing is stored: what is created or replaced is only judged.
    pub fn dry(&self) -> Self {
        Self { options: "?dryRun=All", ..self.clone() }
    }

    /// The same namespace, where a field that the schema doesn't know is an error.
    pub fn strict(&self) -> Self {
        Self { options: "?fieldValidation=Strict", ..self.clone() }
    }

    /// The same namespace, where unknown fields are errors and nothing is stored, as `kubectl --dry-run=server` asks.
    pub fn strictly(&self) -> Self {
        Self { options: "?fieldValidation=Strict&dryRun=All", ..self.clone() }
    }

    /// The same namespace in the name of somebody else, who may do everything all the same.
    pub fn acting_as(&self, user: &str) -> Self {
        Self { client: self.client.acting_as(user), ..self.clone() }
    }

    /// The same namespace for anyone with a token.
    pub fn with_token(&self, token: &str) -> anyhow::Result<Self> {
        Ok(Self { client: self.bed.client_with(token)?, ..self.clone() })
    }

    /// Another namespace on the same control plane.
    pub async fn beside(&self, prefix: &str) -> anyhow::Result<Self> {
        let mut namespace = format!("{prefix}-{}", self.namespace);
        namespace.truncate(63);
        Self::new(self.shared_bed(), namespace.trim_end_matches('-').to_owned()).await
    }

    /// Who asks here.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The control plane.
    pub fn bed(&self) -> &Bed {
        &self.bed
    }

    /// The control plane, for code that outlives the sandbox.
    pub fn shared_bed(&self) -> Arc<Bed> {
        Arc::clone(&self.bed)
    }

    /// The namespace's name.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Where the objects of a kind are in a version; `of` is an object of that kind.
    pub fn collection(&self, of: &Value, version: &str) -> String {
        self.bed.collection(of, version, &self.namespace)
    }

    /// Where an object is in a version.
    pub fn place(&self, object: &Value, version: &str) -> String {
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        format!("{}/{name}", self.collection(object, version))
    }

    /// Asks the API server to create an object here.
    pub async fn create(&self, object: &Value) -> Response {
        let object = self.here(object);
        let collection = self.collection(&object, version_of(&object));
        self.client.post(&format!("{collection}{}", self.options), &object).await.unwrap()
    }

    /// Asks the API server to replace what it has under the object's name.
    pub async fn replace(&self, object: &Value) -> Response {
        let mut object = self.here(object);
        let place = self.place(&object, version_of(&object));
        let stored = self.client.get(&place).await.unwrap().granted().unwrap();
        object["metadata"]["resourceVersion"] = stored["metadata"]["resourceVersion"].clone();
        self.client.put(&format!("{place}{}", self.options), &object).await.unwrap()
    }

    /// Deletes an object.
    pub async fn delete(&self, object: &Value) {
        self.client.delete(&self.place(object, version_of(object))).await.unwrap().granted().unwrap();
    }

    /// Reads an object in a version.
    pub async fn read(&self, object: &Value, version: &str) -> Value {
        self.client.get(&self.place(object, version)).await.unwrap().granted().unwrap()
    }

    /// The object can be created. Gives it as it was stored.
    pub async fn accepts(&self, object: &Value) -> Value {
        let answer = self.create(object).await;
        assert!(answer.status.is_success(), "{}: {}", answer.status, answer.body);
        answer.body
    }

    /// The object can't be created, because of these fields, in any order.
    pub async fn rejects(&self, object: &Value, fields: &[&str]) -> Rejection {
        let refusal = refused(self.create(object).await);
        let mut fields = fields.to_vec();
        fields.sort_unstable();
        assert_eq!(refusal.fields(), fields, "{}", refusal.message);
        refusal
    }

    /// The object can be created, and comes back with what stands at these JSON pointers.
    pub async fn defaults_to(&self, object: &Value, wanted: &[(&str, Value)]) -> Value {
        let stored = self.accepts(object).await;
        for (pointer, value) in wanted {
            assert_eq!(stored.pointer(pointer), Some(value), "{pointer} of {stored}");
        }
        stored
    }

    /// The object can be created in its own version and read in another, where these values stand at JSON pointers.
    pub async fn converts_to(&self, object: &Value, version: &str, wanted: &[(&str, Value)]) -> Value {
        self.accepts(object).await;
        let converted = self.read(object, version).await;
        assert_eq!(version_of(&converted), version);
        for (pointer, value) in wanted {
            assert_eq!(converted.pointer(pointer), Some(value), "{pointer} of {converted}");
        }
        converted
    }

    /// The object keeps what it says when a client of another version reads it and writes it back.
    pub async fn survives(&self, object: &Value, version: &str) {
        let written = self.accepts(object).await;
        let converted = self.read(object, version).await;
        let answer = self.client.put(&self.place(object, version), &converted).await.unwrap();
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
        let back = self.read(object, version_of(object)).await;
        assert_eq!(what_a_user_says(&back), what_a_user_says(&written));
    }

    fn here(&self, object: &Value) -> Value {
        let mut object = object.clone();
        if self.bed.is_namespaced(&object) {
            object["metadata"]["namespace"] = self.namespace.clone().into();
        }
        object
    }
}

/// The complaint about an object that must not be taken.
pub fn refused(answer: Response) -> Rejection {
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", answer.body);
    serde_json::from_value(answer.body).unwrap()
}

/// An object without what the API server keeps for itself.
fn what_a_user_says(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.retain(|name, _| !["resourceVersion", "managedFields", "generation"].contains(&name.as_str()));
    }
    object
}

/// The version in an object's `apiVersion`.
pub fn version_of(object: &Value) -> &str {
    object["apiVersion"].as_str().unwrap_or_default().rsplit('/').next().unwrap_or_default()
}
