//! A type of another crate, for which only that crate could say its group, version and kind.

use gateward_core::resource;

resource!(std::time::Duration, "zoo.example.org/v1", "Otter", "otters");

fn main() {}
