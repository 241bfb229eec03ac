//! Conversion over TLS: lists as large as the API server sends, and failures that cost one response.
#![allow(clippy::unwrap_used, reason = "what can't be set up is a failed test")]

mod support;

use gateward_server::{ByteSize, Limits};
use serde_json::json;
use support::client::post;
use support::otter::{conversion, review};
use support::{CONVERT, VALIDATE, test_server};

#[tokio::test]
async fn an_object_is_converted() {
    let server = test_server(Limits::default()).await;
    let response = server.client().await.ask(&post(CONVERT, &conversion("playful", 1))).await;
    assert_eq!(response.status, 200);
    let otter = json!({"apiVersion": "zoo.dev/v1", "kind": "Otter", "metadata": {"name": "ottilie"},
        "spec": {"mood": "playful", "river": "Spey"}});
    let answer = json!({"uid": "705ab4f5", "convertedObjects": [otter], "result": {"status": "Success"}});
    assert_eq!(response.json()["response"], answer);
    assert_eq!(server.metric(r#"otter_webhook_conversions_total{resource_type="Otter",result="converted"}"#), 1);
}

#[tokio::test]
async fn a_list_above_the_admission_limit_is_converted() {
    let limits = Limits { admission_size: ByteSize::kibibytes(64), ..Limits::default() };
    let server = test_server(limits).await;
    let body = conversion("playful", 2_000);
    assert!(body.len() > 128 * 1024);
    let response = server.client().await.ask(&post(CONVERT, &body)).await;
    assert_eq!(response.json()["response"]["convertedObjects"].as_array().map(Vec::len), Some(2_000));
    assert_eq!(server.metric(r#"otter_webhook_converted_objects_total{resource_type="Otter"}"#), 2_000);
    assert_eq!(server.client().await.ask(&post(VALIDATE, &review(&"x".repeat(70_000)))).await.status, 413);
}

#[tokio::test]
async fn conversion_has_its_own_size_limit() {
    let server = test_server(Limits { conversion_size: ByteSize::kibibytes(16), ..Limits::default() }).await;
    assert_eq!(server.client().await.ask(&post(CONVERT, &conversion("playful", 2_000))).await.status, 413);
    server.still_serves().await;
}

#[tokio::test]
async fn a_failure_names_the_object() {
    let server = test_server(Limits::default()).await;
    let response = server.client().await.ask(&post(CONVERT, &conversion("drowned", 2))).await;
    assert_eq!(response.status, 200);
    let result = json!({"status": "Failure", "message": "objects[0] (Otter ottilie): spec.mood: too late"});
    assert_eq!(response.json()["response"]["result"], result);
    assert_eq!(server.metric(r#"otter_webhook_conversions_total{resource_type="Otter",result="failed"}"#), 1);
}

#[tokio::test]
async fn a_panic_in_a_conversion_costs_one_response() {
    let server = test_server(Limits::default()).await;
    assert_eq!(server.client().await.ask(&post(CONVERT, &conversion("angry", 1))).await.status, 500);
    server.still_serves().await;
}

#[tokio::test]
async fn a_long_list_yields_and_ends_with_the_deadline() {
    let server = test_server(Limits::default()).await;
    let target = format!("{CONVERT}?timeout=1ms");
    assert_eq!(server.client().await.ask(&post(&target, &conversion("playful", 60_000))).await.status, 504);
    server.still_serves().await;
}
