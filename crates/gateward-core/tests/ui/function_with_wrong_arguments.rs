//! A function that does not take the request.

use gateward_core::{Webhook, Verdict, resource};

#[derive(serde::Serialize, serde::Deserialize)]
struct Otter {}

resource!(Otter, "zoo.example.org/v1", "Otter", "otters");

fn rules(_: &Otter) -> Verdict {
    Verdict::allow()
}

fn main() {
    Webhook::<Otter>::new().validator(rules);
}
