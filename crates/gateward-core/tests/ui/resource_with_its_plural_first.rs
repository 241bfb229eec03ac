//! A plural in the place of the kind.

use gateward_core::resource;

#[derive(serde::Serialize, serde::Deserialize)]
struct Otter {}

resource!(Otter, "zoo.example.org/v1", "otters", "Otter");

fn main() {}
