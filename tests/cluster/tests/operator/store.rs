//! What the API server has stored, read past it.

use std::net::SocketAddr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use cluster_tests::Sandbox;
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::handshake;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;

/// An object as it is stored.
pub async fn stored(sandbox: &Sandbox, plural: &str, name: &str) -> Value {
    let key = format!("/registry/nvidia.com/{plural}/{}/{name}", sandbox.namespace());
    let question = json!({"key": STANDARD.encode(key)}).to_string();
    let answer: Value = serde_json::from_slice(&ask(sandbox.bed().store(), "/v3/kv/range", question).await).unwrap();
    let value = answer["kvs"][0]["value"].as_str().unwrap_or_else(|| panic!("{name} is not stored: {answer}"));
    serde_json::from_slice(&STANDARD.decode(value).unwrap()).unwrap()
}

/// The version in which an object is stored.
pub async fn version_stored(sandbox: &Sandbox, plural: &str, name: &str) -> String {
    let object = stored(sandbox, plural, name).await;
    object["apiVersion"].as_str().unwrap().trim_start_matches("nvidia.com/").to_owned()
}

async fn ask(store: SocketAddr, path: &str, question: String) -> Bytes {
    let socket = TcpStream::connect(store).await.unwrap();
    let (mut sender, connection) = handshake(TokioIo::new(socket)).await.unwrap();
    tokio::spawn(connection);
    let request = Request::post(path).header("host", store.to_string()).body(Full::new(Bytes::from(question))).unwrap();
    sender.send_request(request).await.unwrap().into_body().collect().await.unwrap().to_bytes()
}
