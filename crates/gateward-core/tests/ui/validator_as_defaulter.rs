//! A validator in the place of a defaulter.

use gateward_core::{Webhook, Request, Resource, Scope, Validator, Verdict};

#[derive(serde::Serialize, serde::Deserialize)]
struct Otter {}

impl Resource for Otter {
    const GROUP: &'static str = "zoo.example.org";
    const VERSION: &'static str = "v1";
    const KIND: &'static str = "Otter";
    const PLURAL: &'static str = "otters";
    const SCOPE: Scope = Scope::Namespaced;
}

struct OtterRules;

impl Validator<Otter> for OtterRules {
    async fn create(&self, _: &Otter, _: &Request) -> Verdict {
        Verdict::allow()
    }
}

fn main() {
    Webhook::<Otter>::new().defaulter(OtterRules);
}
