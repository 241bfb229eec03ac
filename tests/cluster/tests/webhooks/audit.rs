//! What the audit log tells a test.

use std::time::Duration;

use cluster_tests::objects::model;
use cluster_tests::{Sandbox, Test, tests};

pub fn tests() -> Vec<Test> {
    tests![the_audit_log_tells_what_somebody_asked_and_was_forbidden]
}

async fn the_audit_log_tells_what_somebody_asked_and_was_forbidden(sandbox: Sandbox) {
    let account = format!("system:serviceaccount:{}:default", sandbox.namespace());
    let before = sandbox.bed().audit().unwrap();
    let otter = sandbox.acting_as(&account);
    otter.accepts(&model("otter", "hf://a/b")).await;
    let events = before.of(&account).unwrap();
    let [created] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!((created.verb.as_str(), created.code), ("create", 201));
    assert_eq!((created.group.as_str(), created.resource.as_str()), ("nvidia.com", "dynamomodels"));
    assert_eq!(created.namespace, sandbox.namespace());
    assert!(before.forbidden(&account).unwrap().is_empty());

    let mut kubectl = sandbox.bed().kubectl();
    kubectl.args(["get", "secret", "a", "-n", sandbox.namespace(), "--as", &account]);
    assert!(!kubectl.output().unwrap().status.success());
    let wait = Duration::from_mins(2);
    let forbidden = before.comes(&account, wait, |event| event.code == 403).await.unwrap().unwrap();
    assert_eq!((forbidden.verb.as_str(), forbidden.resource.as_str()), ("get", "secrets"));
    assert_eq!(forbidden.name, "a");
    // A watch that starts now does not see it.
    let after = sandbox.bed().audit().unwrap();
    assert_eq!(after.of(&account).unwrap(), []);
}
