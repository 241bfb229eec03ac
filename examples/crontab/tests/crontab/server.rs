//! The whole server, asked as an API server asks it.

use crate::objects::{tab, with};
use crontab::webhooks;
use gateward::Review;
use gateward::testing::{TestServer, test_server};
use kube::{Client, Config};
use serde_json::{Value, json};

/// A client that trusts the server and nobody else.
fn client(server: &TestServer) -> Client {
    let mut config = Config::new(server.url().parse().expect("the server's URL"));
    config.root_cert = Some(vec![server.ca_der()]);
    Client::try_from(config).expect("a client")
}

/// The response to a review of a new object.
async fn create(server: &TestServer, object: &Value) -> Value {
    let kind = json!({"group": "stable.example.com", "version": "v2", "kind": "CronTab"});
    let request = json!({"uid": "7", "kind": kind, "operation": "CREATE", "object": object});
    let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request});

    let declared = webhooks();
    let (path, _) = declared
        .paths()
        .find(|(path, review)| *review == Review::Validate && path.contains("crontab"))
        .expect("it is served");
    let post = http::Request::post(path).header("Content-Type", "application/json");
    let request = post.body(review.to_string().into_bytes()).expect("a request");
    let mut answer: Value = client(server).request(request).await.expect("an answer");
    answer["response"].take()
}

#[tokio::test]
async fn reviews_are_answered_over_tls() {
    let server = test_server(webhooks());
    assert_eq!(create(&server, &tab()).await["allowed"], true);
    let denied = create(&server, &with(tab(), "/spec/schedule", "daily")).await;
    assert_eq!((&denied["allowed"], &denied["uid"]), (&json!(false), &json!("7")));
    assert!(denied["status"]["message"].as_str().expect("a reason").contains("five fields"), "{denied}");
}
