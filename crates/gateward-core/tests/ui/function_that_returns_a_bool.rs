//! A function that answers yes or no.

use gateward_core::{Webhook, Request, Resource, Scope};

#[derive(serde::Serialize, serde::Deserialize)]
struct Otter {}

impl Resource for Otter {
    const GROUP: &'static str = "zoo.example.org";
    const VERSION: &'static str = "v1";
    const KIND: &'static str = "Otter";
    const PLURAL: &'static str = "otters";
    const SCOPE: Scope = Scope::Namespaced;
}

fn rules(_: &Otter, _: &Request) -> bool {
    true
}

fn main() {
    Webhook::<Otter>::new().validator(rules);
}
