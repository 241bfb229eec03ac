//! A defaulter that returns the object itself.

use gateward_core::{Defaulter, Request, Resource, Scope};

#[derive(serde::Serialize, serde::Deserialize)]
struct Otter {}

impl Resource for Otter {
    const GROUP: &'static str = "zoo.example.org";
    const VERSION: &'static str = "v1";
    const KIND: &'static str = "Otter";
    const PLURAL: &'static str = "otters";
    const SCOPE: Scope = Scope::Namespaced;
}

struct OtterDefaults;

impl Defaulter<Otter> for OtterDefaults {
    async fn default(&self, otter: Otter, _: &Request) -> Otter {
        otter
    }
}

fn main() {}
