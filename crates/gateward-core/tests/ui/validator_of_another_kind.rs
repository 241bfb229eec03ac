//! A validator that judges another kind.

use gateward_core::{Webhook, Request, Resource, Scope, Validator, Verdict};

#[derive(serde::Serialize, serde::Deserialize)]
struct Otter {}

impl Resource for Otter {
    const GROUP: &'static str = "zoo.example.org";
    const VERSION: &'static str = "v1";
    const KIND: &'static str = "Otter";
    const PLURAL: &'static str = "otters";
    const SCOPE: Scope = Scope::Namespaced;
}

struct Beaver {}

struct BeaverRules;

impl Validator<Beaver> for BeaverRules {
    async fn create(&self, _: &Beaver, _: &Request) -> Verdict {
        Verdict::allow()
    }
}

fn main() {
    Webhook::<Otter>::new().validator(BeaverRules);
}
