//! Who may read the metrics.

use cluster_tests::{Sandbox, Test, tests};
use gateward_cluster::{Access, AccessReview};
use serde_json::json;

use crate::account::Account;

pub fn tests() -> Vec<Test> {
    tests![a_reader_needs_the_right_and_a_token, a_server_without_the_right_to_ask_knows_nothing]
}

async fn a_reader_needs_the_right_and_a_token(sandbox: Sandbox) {
    let replica = Account::of_a_replica(&sandbox, "replica").await;
    let rules = json!([{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]);
    let prometheus = Account::with_rules(&sandbox, "prometheus", &rules).await;
    let stranger = Account::without_rights(&sandbox, "stranger").await;

    let review = AccessReview::new(replica.connection().await.client());
    assert_eq!(review.may_read("/metrics", Some(&prometheus.token)).await, Access::Granted);
    assert_eq!(review.may_read("/other", Some(&prometheus.token)).await, Access::Forbidden);
    assert_eq!(review.may_read("/metrics", Some(&stranger.token)).await, Access::Forbidden);
    assert_eq!(review.may_read("/metrics", Some("made up")).await, Access::Unauthenticated);
    assert_eq!(review.may_read("/metrics", None).await, Access::Unauthenticated);
}

async fn a_server_without_the_right_to_ask_knows_nothing(sandbox: Sandbox) {
    let stranger = Account::without_rights(&sandbox, "stranger").await;
    let review = AccessReview::new(stranger.connection().await.client());
    let Access::Unknown(why) = review.may_read("/metrics", Some(&stranger.token)).await else {
        panic!("it claims to know");
    };
    assert!(why.contains("tokenreviews.authentication.k8s.io is forbidden"), "{why}");
}
