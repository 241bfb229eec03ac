//! A spoke whose conversion is none.

use gateward_core::{Webhook, resource};

#[derive(serde::Serialize, serde::Deserialize)]
struct Otter {}

resource!(Otter, "zoo.example.org/v1", "Otter", "otters");

#[derive(serde::Serialize, serde::Deserialize)]
struct OldOtter {}

resource!(OldOtter, "zoo.example.org/v1alpha1", "Otter", "otters");

struct OtterConversion;

fn main() {
    Webhook::<Otter>::new().spoke::<OldOtter>(OtterConversion);
}
