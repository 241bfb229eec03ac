//! Allocations of one review, counted in this process.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use dynamo_webhooks::ClusterFacts;
use gateward_core::testing::block_on;
use gateward_core::{Context, Registry};

use crate::reviews::Sample;

/// What one review takes from the allocator, from the bytes of the review to the bytes of the answer.
#[derive(Debug, Clone, Copy)]
pub struct Allocations {
    /// How often.
    pub count: u64,
    /// How much, in bytes.
    pub bytes: u64,
}

/// Counts one review after others have warmed everything up.
pub fn per_review(sample: &Sample) -> Allocations {
    let registry = dynamo_webhooks::registry();
    let context = Context::new(SystemTime::now(), Arc::new(ClusterFacts::default()));
    (0..3).for_each(|_| ask(&registry, sample, &context));
    let counted = allocation_counter::measure(|| ask(&registry, sample, &context));
    Allocations { count: counted.count_total, bytes: counted.bytes_total }
}

/// The time of one review in this process, without server and TLS: the fastest of some batches.
pub fn time(sample: &Sample) -> Duration {
    const BATCH: u32 = 500;
    let registry = dynamo_webhooks::registry();
    let context = Context::new(SystemTime::now(), Arc::new(ClusterFacts::default()));
    let batch = || {
        let started = Instant::now();
        (0..BATCH).for_each(|_| ask(&registry, sample, &context));
        started.elapsed() / BATCH
    };
    (0..20).map(|_| batch()).min().unwrap_or_default()
}

fn ask(registry: &Registry, sample: &Sample, context: &Context) {
    let answer = block_on(registry.answer(sample.path, &sample.body, context));
    drop(std::hint::black_box(answer));
}
