//! `#[handler]` above methods that belong to no trait.

use gateward_core::{handler, resource};

#[derive(serde::Serialize, serde::Deserialize)]
struct Otter {}

resource!(Otter, "zoo.example.org/v1", "Otter", "otters");

struct OtterRules;

#[handler]
impl OtterRules {
    async fn create(&self, _: &Otter, _: &gateward_core::Request) {}
}

fn main() {}
