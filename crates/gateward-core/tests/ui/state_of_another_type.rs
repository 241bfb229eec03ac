//! A function that takes another state than its webhook has.

use gateward_core::{Request, State, Verdict, Webhook, resource};

#[derive(serde::Serialize, serde::Deserialize)]
struct Otter {}

resource!(Otter, "zoo.example.org/v1", "Otter", "otters");

#[derive(Clone)]
struct Rivers;

#[derive(Clone)]
struct Lakes;

async fn rules(_: &Otter, _: &Request, State(_): State<Rivers>) -> Verdict {
    Verdict::allow()
}

fn main() {
    Webhook::<Otter>::new().with_state(Lakes).validator(rules);
}
