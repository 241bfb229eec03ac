//! A function that takes a state of a webhook that has none yet.

use gateward_core::{Request, State, Webhook, resource};

#[derive(serde::Serialize, serde::Deserialize)]
struct Otter {}

resource!(Otter, "zoo.example.org/v1", "Otter", "otters");

#[derive(Clone)]
struct Rivers;

fn defaults(otter: Otter, _: &Request, State(_): State<Rivers>) -> Otter {
    otter
}

fn main() {
    Webhook::<Otter>::new().defaulter(defaults).with_state(Rivers);
}
