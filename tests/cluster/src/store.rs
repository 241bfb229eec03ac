//! What the API server has stored, read and written past it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::handshake;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;

use gateward_testbed::Sandbox;

/// An object as it is stored.
pub async fn stored(sandbox: &Sandbox, plural: &str, name: &str) -> Value {
    let question = json!({"key": key(sandbox, plural, name)});
    let answer = ask(sandbox, "/v3/kv/range", &question).await;
    let value = answer["kvs"][0]["value"].as_str();
    assert!(value.is_some(), "{name} is not stored: {answer}");
    let value = value.unwrap_or_default();
    serde_json::from_slice(&STANDARD.decode(value).unwrap()).unwrap()
}

/// Changes an object as it is stored into what this API server would not let in, and an older one has.
pub async fn store(sandbox: &Sandbox, plural: &str, name: &str, change: impl FnOnce(&mut Value)) {
    let mut object = stored(sandbox, plural, name).await;
    change(&mut object);
    let value = STANDARD.encode(object.to_string());
    let answer = ask(sandbox, "/v3/kv/put", &json!({"key": key(sandbox, plural, name), "value": value})).await;
    assert!(answer["header"]["revision"].is_string(), "{name} is not written: {answer}");
}

fn key(sandbox: &Sandbox, plural: &str, name: &str) -> String {
    STANDARD.encode(format!("/registry/nvidia.com/{plural}/{}/{name}", sandbox.namespace()))
}

/// The version in which an object is stored.
pub async fn version_stored(sandbox: &Sandbox, plural: &str, name: &str) -> String {
    let object = stored(sandbox, plural, name).await;
    object["apiVersion"].as_str().unwrap().trim_start_matches("nvidia.com/").to_owned()
}

async fn ask(sandbox: &Sandbox, path: &str, question: &Value) -> Value {
    let store = sandbox.bed().store();
    let socket = TcpStream::connect(store).await.unwrap();
    let (mut sender, connection) = handshake(TokioIo::new(socket)).await.unwrap();
    tokio::spawn(connection);
    let question = Full::new(Bytes::from(question.to_string()));
    let request = Request::post(path).header("host", store.to_string()).body(question).unwrap();
    let answer = sender.send_request(request).await.unwrap().into_body().collect().await.unwrap().to_bytes();
    serde_json::from_slice(&answer).unwrap()
}
