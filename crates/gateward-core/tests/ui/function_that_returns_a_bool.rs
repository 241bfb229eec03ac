//! A function that answers yes or no.

use gateward_core::{Webhook, Request, resource};

#[derive(serde::Serialize, serde::Deserialize)]
struct Otter {}

resource!(Otter, "zoo.example.org/v1", "Otter", "otters");

fn rules(_: &Otter, _: &Request) -> bool {
    true
}

fn main() {
    Webhook::<Otter>::new().validator(rules);
}
