//! A defaulter that returns the object itself.

use gateward_core::{Defaulter, Request, resource};

#[derive(serde::Serialize, serde::Deserialize)]
struct Otter {}

resource!(Otter, "zoo.example.org/v1", "Otter", "otters");

struct OtterDefaults;

impl Defaulter<Otter> for OtterDefaults {
    async fn default(&self, otter: Otter, _: &Request) -> Otter {
        otter
    }
}

fn main() {}
