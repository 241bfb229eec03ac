//! The writer's lease: one replica writes Secrets and bundles, the others follow.
//!
//! What is decided is in [`record`], what the rest of this crate asks is in [`tenure`], and [`hold`] does the work.

mod hold;
mod record;
mod tenure;

use std::time::Duration;

pub(crate) use hold::{Glimpse, LeaseHolder, glimpse};
pub(crate) use tenure::{Held, Tenure};

/// How long a lease lasts.
///
/// A holder that can't renew it stops writing after [`deadline`](Self::deadline); others take it after
/// [`duration`](Self::duration) at the earliest, so that nobody begins before the last one has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseTimes {
    /// How often the holder renews it, and others look at it.
    pub renewal: Duration,
    /// For how long after its last renewal the holder may write.
    pub deadline: Duration,
    /// After how much time without a renewal another replica takes it. The API server keeps whole seconds of it.
    pub duration: Duration,
}

impl Default for LeaseTimes {
    /// Those of Kubernetes' own leases: 2, 10 and 15 seconds.
    fn default() -> Self {
        let [renewal, deadline, duration] = [2, 10, 15].map(Duration::from_secs);
        Self { renewal, deadline, duration }
    }
}
