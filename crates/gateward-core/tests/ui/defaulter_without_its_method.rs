//! A defaulter without its only method.

use gateward_core::{Defaulter, Resource, Scope};

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

impl Defaulter<Otter> for OtterDefaults {}

fn main() {}
