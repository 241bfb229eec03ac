//! A spoke whose conversion is none.

use gateward_core::{Webhook, Resource, Scope};

#[derive(serde::Serialize, serde::Deserialize)]
struct Otter {}

impl Resource for Otter {
    const GROUP: &'static str = "zoo.example.org";
    const VERSION: &'static str = "v1";
    const KIND: &'static str = "Otter";
    const PLURAL: &'static str = "otters";
    const SCOPE: Scope = Scope::Namespaced;
}

#[derive(serde::Serialize, serde::Deserialize)]
struct OldOtter {}

impl Resource for OldOtter {
    const GROUP: &'static str = "zoo.example.org";
    const VERSION: &'static str = "v1alpha1";
    const KIND: &'static str = "Otter";
    const PLURAL: &'static str = "otters";
    const SCOPE: Scope = Scope::Namespaced;
}

struct OtterConversion;

fn main() {
    Webhook::<Otter>::new().spoke::<OldOtter>(OtterConversion);
}
