//! A function that does not take the request.

use gateward_core::{Webhook, Resource, Scope, Verdict};

#[derive(serde::Serialize, serde::Deserialize)]
struct Otter {}

impl Resource for Otter {
    const GROUP: &'static str = "zoo.example.org";
    const VERSION: &'static str = "v1";
    const KIND: &'static str = "Otter";
    const PLURAL: &'static str = "otters";
    const SCOPE: Scope = Scope::Namespaced;
}

fn rules(_: &Otter) -> Verdict {
    Verdict::allow()
}

fn main() {
    Webhook::<Otter>::new().validator(rules);
}
