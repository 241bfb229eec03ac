//! An `apiVersion` that ends with its slash.

use gateward_core::resource;

#[derive(serde::Serialize, serde::Deserialize)]
struct Otter {}

resource!(Otter, "zoo.example.org/", "Otter", "otters");

fn main() {}
