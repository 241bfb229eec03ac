//! KubeOps' conversion example: a name in three versions, of which the last is stored.

mod conversion;
mod metadata;
mod names;
mod text;
pub mod v1;
pub mod v2;
pub mod v3;

pub use conversion::{TwoNames, WholeName};
pub use metadata::Metadata;

use gateward::prelude::*;

/// The one kind in its three versions. Where it is converted follows from KubeOps' style.
pub fn webhooks() -> Webhooks {
    let kind = Webhook::<v3::TestEntity>::new()
        .spoke::<v1::TestEntity>(WholeName)
        .spoke::<v2::TestEntity>(TwoNames)
        .crd(include_str!("../crd.yaml"));
    Webhooks::with_paths(PathStyle::KubeOps).register(kind)
}
