//! A defaulter without a method.

use gateward_core::{Defaulter, handler, resource};

#[derive(serde::Serialize, serde::Deserialize)]
struct Otter {}

resource!(Otter, "zoo.example.org/v1", "Otter", "otters");

struct OtterDefaults;

#[handler]
impl Defaulter<Otter> for OtterDefaults {}

fn main() {}
