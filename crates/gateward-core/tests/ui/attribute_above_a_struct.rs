//! `#[handler]` above the type instead of the `impl`.

use gateward_core::{handler, resource};

#[derive(serde::Serialize, serde::Deserialize)]
struct Otter {}

resource!(Otter, "zoo.example.org/v1", "Otter", "otters");

#[handler]
struct OtterRules;

fn main() {}
