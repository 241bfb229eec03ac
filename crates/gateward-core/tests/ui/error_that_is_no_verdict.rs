//! A question mark on an error that is no verdict.

use gateward_core::{Request, Validator, Verdict, handler, resource};

#[derive(serde::Serialize, serde::Deserialize)]
struct Otter {}

resource!(Otter, "zoo.example.org/v1", "Otter", "otters");

struct OtterRules;

#[handler]
impl Validator<Otter> for OtterRules {
    async fn create(&self, _: &Otter, _: &Request) -> Result<(), Verdict> {
        "7".parse::<u8>()?;
        Ok(())
    }
}

fn main() {}
