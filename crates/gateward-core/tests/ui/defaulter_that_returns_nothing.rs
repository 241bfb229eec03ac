//! A defaulter that changes the object and forgets to return it.

use gateward_core::{Request, Webhook, resource};

#[derive(serde::Serialize, serde::Deserialize)]
struct Otter {}

resource!(Otter, "zoo.example.org/v1", "Otter", "otters");

fn defaults(_: Otter, _: &Request) {}

fn main() {
    Webhook::<Otter>::new().defaulter(defaults);
}
