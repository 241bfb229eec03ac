//! A validator in the place of a defaulter.

use gateward_core::{Webhook, Request, Validator, Verdict, resource};

#[derive(serde::Serialize, serde::Deserialize)]
struct Otter {}

resource!(Otter, "zoo.example.org/v1", "Otter", "otters");

struct OtterRules;

impl Validator<Otter> for OtterRules {
    async fn create(&self, _: &Otter, _: &Request) -> Verdict {
        Verdict::allow()
    }
}

fn main() {
    Webhook::<Otter>::new().defaulter(OtterRules);
}
