//! A type that nothing says the group, version and kind of.

use gateward_core::{Kind, Request, Verdict};

#[derive(serde::Serialize, serde::Deserialize)]
struct Otter {}

fn rules(_: &Otter, _: &Request) -> Verdict {
    Verdict::allow()
}

fn main() {
    Kind::<Otter>::new().validate(rules);
}
