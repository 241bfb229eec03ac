//! A validator that judges another kind.

use gateward_core::{handler, Webhook, Request, Validator, Verdict, resource};

#[derive(serde::Serialize, serde::Deserialize)]
struct Otter {}

resource!(Otter, "zoo.example.org/v1", "Otter", "otters");

struct Beaver {}

struct BeaverRules;

#[handler]
impl Validator<Beaver> for BeaverRules {
    async fn create(&self, _: &Beaver, _: &Request) -> Verdict {
        Verdict::allow()
    }
}

fn main() {
    Webhook::<Otter>::new().validator(BeaverRules);
}
