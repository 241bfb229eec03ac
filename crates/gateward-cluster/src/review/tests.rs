use std::convert::Infallible;
use std::sync::Mutex;

use futures_util::future::BoxFuture;
use http::{Request, Response, StatusCode};
use kube::client::Body;
use serde_json::{Value, json};
use tower::service_fn;

use super::*;

/// An API server that gives each question the answer at the end of its path, and the questions that it was asked.
fn api_server(token: StatusCode, authenticated: bool, allowed: bool) -> (AccessReview, Arc<Mutex<Vec<Value>>>) {
    let questions = Arc::<Mutex<Vec<Value>>>::default();
    let asked = Arc::clone(&questions);
    let service = service_fn(move |request: Request<Body>| -> BoxFuture<'static, Result<Response<Body>, Infallible>> {
        let asked = Arc::clone(&asked);
        Box::pin(async move {
            let about_a_token = request.uri().path().ends_with("/tokenreviews");
            let question: Value = serde_json::from_slice(&request.into_body().collect_bytes().await.unwrap()).unwrap();
            asked.lock().unwrap().push(question);
            let answer = if !about_a_token {
                json!({"spec": {}, "status": {"allowed": allowed}})
            } else if token.is_success() {
                let user = json!({"username": "ann", "uid": "7", "groups": ["keepers"], "extra": {"zoo": ["a"]}});
                json!({"spec": {}, "status": {"authenticated": authenticated, "user": user}})
            } else {
                json!({"kind": "Status", "status": "Failure", "code": token.as_u16(), "message": "no rule allows it"})
            };
            let status = if about_a_token { token } else { StatusCode::CREATED };
            Ok(Response::builder().status(status).body(Body::from(answer.to_string().into_bytes())).unwrap())
        })
    });
    (AccessReview::new(Client::new(service, "default")), questions)
}

#[tokio::test]
async fn the_owner_of_a_token_is_asked_about_as_the_api_server_knows_him() {
    let (review, questions) = api_server(StatusCode::CREATED, true, true);
    assert_eq!(review.may_read("/metrics", Some("secret")).await, Access::Granted);
    assert_eq!(review.may_read("/metrics", Some("secret")).await, Access::Granted);
    let questions = questions.lock().unwrap();
    assert_eq!(questions.len(), 2, "the second time no question is sent");
    assert_eq!(questions[0]["spec"], json!({"token": "secret"}));
    let attributes = json!({"path": "/metrics", "verb": "get"});
    let wanted = json!({
        "user": "ann", "uid": "7", "groups": ["keepers"], "extra": {"zoo": ["a"]}, "nonResourceAttributes": attributes,
    });
    assert_eq!(questions[1]["spec"], wanted);
}

#[tokio::test]
async fn nothing_is_reviewed_without_a_token() {
    let (review, questions) = api_server(StatusCode::CREATED, true, true);
    for token in [None, Some("")] {
        assert_eq!(review.may_read("/metrics", token).await, Access::Unauthenticated);
    }
    assert!(questions.lock().unwrap().is_empty());
}

#[tokio::test]
async fn an_unknown_token_differs_from_a_missing_permission() {
    let (review, _) = api_server(StatusCode::CREATED, false, true);
    assert_eq!(review.may_read("/metrics", Some("secret")).await, Access::Unauthenticated);
    let (review, _) = api_server(StatusCode::CREATED, true, false);
    assert_eq!(review.may_read("/metrics", Some("secret")).await, Access::Forbidden);
}

#[tokio::test]
async fn an_api_server_that_does_not_answer_denies_no_access() {
    let (review, questions) = api_server(StatusCode::FORBIDDEN, true, true);
    let unknown = Access::Unknown("no rule allows it".into());
    assert_eq!(review.may_read("/metrics", Some("secret")).await, unknown);
    assert_eq!(review.may_read("/metrics", Some("secret")).await, unknown);
    assert_eq!(questions.lock().unwrap().len(), 2, "nothing is remembered");
}

#[tokio::test]
async fn a_token_is_never_printed() {
    let (review, _) = api_server(StatusCode::CREATED, true, true);
    review.may_read("/metrics", Some("secret")).await;
    assert!(!format!("{review:?}{:?}", review.remembered).contains("secret"));
}
