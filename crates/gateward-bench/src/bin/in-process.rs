//! What one review takes by itself, without server and TLS: time, and allocations.
//!
//! A program of its own, because counting makes every allocation dearer.

#[path = "../reviews.rs"]
mod reviews;

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use dynamo_webhooks::ClusterFacts;
use gateward_core::testing::block_on;
use gateward_core::{Context, Webhooks};
use reviews::{DEFAULT, Sample, VALIDATE, Way, alpha, beta, conversion, sized};

/// Reviews of a batch, and batches of which the fastest counts.
const BATCH: u32 = 500;
const BATCHES: usize = 20;

fn main() -> anyhow::Result<()> {
    println!("review                  time in process   allocations");
    let samples = [
        Sample::new("validate v1beta1, 4 kB", VALIDATE, sized(4_000, beta)),
        Sample::new("validate v1beta1, 14 kB", VALIDATE, sized(14_000, beta)),
        Sample::new("default v1beta1, 4 kB", DEFAULT, sized(4_000, beta)),
        Sample::new("validate v1alpha1, 4 kB", VALIDATE, sized(4_000, alpha)),
        conversion(Way::Lift, 10_000, 1)?,
        conversion(Way::Lower, 10_000, 1)?,
    ];
    for sample in samples {
        let bench = Bench::new(&sample);
        let (time, allocated) = (bench.time(), bench.allocations());
        println!("{:22} {:>14.1?}   {} ({} bytes)", sample.name, time, allocated.count_total, allocated.bytes_total);
    }
    Ok(())
}

struct Bench<'s> {
    webhooks: Webhooks,
    context: Context,
    sample: &'s Sample,
}

impl<'s> Bench<'s> {
    fn new(sample: &'s Sample) -> Self {
        let context = Context::new(SystemTime::now(), Arc::new(ClusterFacts::default()));
        Self { webhooks: dynamo_webhooks::webhooks(), context, sample }
    }

    fn time(&self) -> Duration {
        let batch = || {
            let started = Instant::now();
            (0..BATCH).for_each(|_| self.ask());
            started.elapsed() / BATCH
        };
        (0..BATCHES).map(|_| batch()).min().unwrap_or_default()
    }

    fn allocations(&self) -> allocation_counter::AllocationInfo {
        allocation_counter::measure(|| self.ask())
    }

    fn ask(&self) {
        let answer = block_on(self.webhooks.handle(self.sample.path, &self.sample.body, &self.context));
        drop(std::hint::black_box(answer));
    }
}
