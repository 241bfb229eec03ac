//! A scope that there isn't.

use gateward_core::resource;

#[derive(serde::Serialize, serde::Deserialize)]
struct Otter {}

resource!(Otter, "zoo.example.org/v1", "Otter", "otters", Clustered);

fn main() {}
