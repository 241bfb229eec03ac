//! `#[handler]` with operations.

use gateward_core::{Request, Validator, handler, resource};

#[derive(serde::Serialize, serde::Deserialize)]
struct Otter {}

resource!(Otter, "zoo.example.org/v1", "Otter", "otters");

struct OtterRules;

#[handler(create)]
impl Validator<Otter> for OtterRules {
    async fn create(&self, _: &Otter, _: &Request) {}
}

fn main() {}
