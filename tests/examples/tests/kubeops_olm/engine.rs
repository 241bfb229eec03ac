//! Operators whose one handler does what a case describes in words.

use std::collections::BTreeMap;

use gateward::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct TestEntity {
    #[serde(default)]
    metadata: Metadata,
    #[serde(default)]
    spec: Spec,
}

#[derive(Default, Serialize, Deserialize)]
struct Metadata {
    #[serde(default)]
    annotations: BTreeMap<String, String>,
}

/// A default that the wire doesn't have: what a typed reading fills in must not pass for what was written.
#[derive(Default, Serialize, Deserialize)]
struct Spec {
    #[serde(default)]
    username: String,
}

resource!(TestEntity, "webhook.dev/v1", "TestEntity", "testentitys");

/// The operator that a description such as "handler sets spec.username to generated" asks for.
pub fn webhooks(description: &str) -> Option<Webhooks> {
    let change: fn(&mut TestEntity) = if description.contains("sets spec.username to generated") {
        |entity| entity.spec.username = "generated".into()
    } else if description.contains("sets annotation example.dev/x~y to 2") {
        |entity| drop(entity.metadata.annotations.insert("example.dev/x~y".into(), "2".into()))
    } else {
        return None;
    };
    let changed = move |mut entity: TestEntity, _: &Request| {
        change(&mut entity);
        entity
    };
    Some(Webhooks::new().register(Webhook::<TestEntity>::new().defaulter(changed)))
}
