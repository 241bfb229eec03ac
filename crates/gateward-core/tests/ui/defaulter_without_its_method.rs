//! A defaulter without its only method.

use gateward_core::{Defaulter, resource};

#[derive(serde::Serialize, serde::Deserialize)]
struct Otter {}

resource!(Otter, "zoo.example.org/v1", "Otter", "otters");

struct OtterDefaults;

impl Defaulter<Otter> for OtterDefaults {}

fn main() {}
