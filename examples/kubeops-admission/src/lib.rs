//! KubeOps' admission example: a name that is denied, and one that becomes another.

use gateward::prelude::*;
use serde::{Deserialize, Serialize};

/// A user's name, and nothing else.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TestEntity {
    /// What the user wants.
    #[serde(default)]
    pub spec: TestEntitySpec,
}

/// What the user wants.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TestEntitySpec {
    /// The name; absent is empty.
    #[serde(default)]
    pub username: String,
}

resource!(TestEntity, "webhook.dev/v1", "TestEntity", "testentitys");

/// Refuses the name `forbidden`.
pub struct Usernames;

#[handler]
impl Validator<TestEntity> for Usernames {
    async fn create(&self, new: &TestEntity, _: &Request) -> Verdict {
        judge(new).code(422)
    }

    async fn update(&self, _: &TestEntity, new: &TestEntity, _: &Request) -> Verdict {
        judge(new)
    }
}

/// Without a code of the author's, a denial has 400.
fn judge(entity: &TestEntity) -> Verdict {
    if entity.spec.username == "forbidden" { Verdict::deny("name may not be 'forbidden'.") } else { Verdict::allow() }
}

/// Gives new entities that are called `overwrite` another name.
pub struct Overwriting;

#[handler]
impl Defaulter<TestEntity> for Overwriting {
    async fn create(&self, mut entity: TestEntity, _: &Request) -> TestEntity {
        if entity.spec.username == "overwrite" {
            entity.spec.username = "random overwritten".into();
        }
        entity
    }
}

/// The one kind, at KubeOps' paths and under its names.
pub fn webhooks() -> Webhooks {
    let kind = Webhook::<TestEntity>::new()
        .validator(Usernames)
        .defaulter(Overwriting)
        .on([Create, Update])
        .crd(include_str!("../crd.yaml"));
    Webhooks::with_paths(PathStyle::KubeOps).register(kind)
}
