//! A type that implements nothing.

use gateward_core::{Webhook, resource};

#[derive(serde::Serialize, serde::Deserialize)]
struct Otter {}

resource!(Otter, "zoo.example.org/v1", "Otter", "otters");

struct OtterRules;

fn main() {
    Webhook::<Otter>::new().validator(OtterRules);
}
