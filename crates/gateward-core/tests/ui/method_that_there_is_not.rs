//! A method that a validator does not have.

use gateward_core::{Request, Validator, handler, resource};

#[derive(serde::Serialize, serde::Deserialize)]
struct Otter {}

resource!(Otter, "zoo.example.org/v1", "Otter", "otters");

struct OtterRules;

#[handler]
impl Validator<Otter> for OtterRules {
    async fn patch(&self, _: &Otter, _: &Request) {}
}

fn main() {}
