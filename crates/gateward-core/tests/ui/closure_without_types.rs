//! A closure that does not name the types of its arguments.

use gateward_core::{Verdict, Webhook, resource};

#[derive(serde::Serialize, serde::Deserialize)]
struct Otter {}

resource!(Otter, "zoo.example.org/v1", "Otter", "otters");

fn main() {
    Webhook::<Otter>::new().validator(|_, _| Verdict::allow());
}
