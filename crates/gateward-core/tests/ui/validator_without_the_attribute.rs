//! A validator without `#[handler]`.

use gateward_core::{Request, Validator, Verdict, resource};

#[derive(serde::Serialize, serde::Deserialize)]
struct Otter {}

resource!(Otter, "zoo.example.org/v1", "Otter", "otters");

struct OtterRules;

impl Validator<Otter> for OtterRules {
    async fn create(&self, _: &Otter, _: &Request) -> Result<(), Verdict> {
        Ok(())
    }
}

fn main() {}
