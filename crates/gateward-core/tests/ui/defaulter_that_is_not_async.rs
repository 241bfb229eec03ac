//! A method of a defaulter without `async`.

use gateward_core::{Defaulter, Request, handler, resource};

#[derive(serde::Serialize, serde::Deserialize)]
struct Otter {}

resource!(Otter, "zoo.example.org/v1", "Otter", "otters");

struct OtterDefaults;

#[handler]
impl Defaulter<Otter> for OtterDefaults {
    fn create(&self, new: Otter, _: &Request) -> Otter {
        new
    }
}

fn main() {}
