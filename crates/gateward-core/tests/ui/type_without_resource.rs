//! A type that nothing says the group, version and kind of.

use gateward_core::{Webhook, Request, Verdict};

#[derive(serde::Serialize, serde::Deserialize)]
struct Otter {}

fn rules(_: &Otter, _: &Request) -> Verdict {
    Verdict::allow()
}

fn main() {
    Webhook::<Otter>::new().validator(rules);
}
