//! What one review takes by itself, without server and TLS: time, and allocations.
//!
//! `in-process PLOT` also draws how both grow with the size of a ConversionReview, into an SVG file. It is a program of
//! its own, because counting makes every allocation dearer.

#![allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "figures for people")]

mod plot;
#[path = "../../reviews.rs"]
mod reviews;

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use allocation_counter::AllocationInfo;
use dynamo_webhooks::ClusterFacts;
use gateward_core::testing::block_on;
use gateward_core::{Context, Webhooks};
use plot::{Line, Panel};
use reviews::{DEFAULT, Sample, VALIDATE, Way, alpha, beta, conversion, conversion_of, sized};

/// Reviews of a batch, and batches of which the fastest counts.
const BATCH: u32 = 500;
const BATCHES: usize = 20;

/// Objects of 10 kB in a review, and components of an object.
const OBJECTS: [usize; 9] = [1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000];
const COMPONENTS: [usize; 7] = [1, 3, 10, 30, 100, 300, 1_000];

fn main() -> anyhow::Result<()> {
    println!("| review | time in process | allocations | bytes |\n|---|---|---|---|");
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
        let (time, allocated) = (bench.time(BATCH, BATCHES), bench.allocations());
        println!("| {} | {time:.1?} | {} | {} |", sample.name, allocated.count_total, allocated.bytes_total);
    }
    if let Some(file) = std::env::args_os().nth(1) {
        std::fs::write(file, plot()?)?;
    }
    Ok(())
}

/// Time and memory of ConversionReviews of growing size.
fn plot() -> anyhow::Result<String> {
    let (mut times, mut memory) = (Vec::new(), Vec::new());
    let mut add = |name, way, counts: &[usize], review: fn(Way, usize) -> anyhow::Result<Sample>| {
        let (mut time, mut bytes) = (Vec::new(), Vec::new());
        for &count in counts {
            eprint!("\r{name}: {count:8}");
            let sample = review(way, count)?;
            let bench = Bench::new(&sample);
            time.push((count as f64, bench.time(1, 5).as_secs_f64() * 1e3));
            bytes.push((count as f64, bench.allocations().bytes_max as f64 / 1e6));
        }
        eprintln!();
        times.push(Line { name, points: time });
        memory.push(Line { name, points: bytes });
        anyhow::Ok(())
    };
    let of_objects = |way, count| conversion(way, 10_000, count);
    add("objects of 10 kB to v1beta1", Way::Lift, &OBJECTS, of_objects)?;
    add("objects of 10 kB to v1alpha1", Way::Lower, &OBJECTS, of_objects)?;
    let of_components = |way, count| conversion_of(way, with_components(count), 1);
    add("components of one object to v1beta1", Way::Lift, &COMPONENTS, of_components)?;
    add("components of one object to v1alpha1", Way::Lower, &COMPONENTS, of_components)?;
    Ok(plot::svg(&[Panel { title: "Time, ms", lines: times }, Panel { title: "Memory, MB", lines: memory }]))
}

/// A v1alpha1 graph with so many services.
fn with_components(count: usize) -> String {
    let mut graph = alpha(20);
    let worker = graph["spec"]["services"]["decode"].take();
    graph["spec"]["services"] = (0..count).map(|index| (format!("worker-{index}"), worker.clone())).collect();
    graph.to_string()
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

    /// The time of one review: that of the fastest batch, after one that warms up.
    fn time(&self, batch: u32, batches: usize) -> Duration {
        let batch_time = || {
            let started = Instant::now();
            (0..batch).for_each(|_| self.ask());
            started.elapsed() / batch
        };
        batch_time();
        (0..batches).map(|_| batch_time()).min().unwrap_or_default()
    }

    fn allocations(&self) -> AllocationInfo {
        allocation_counter::measure(|| self.ask())
    }

    fn ask(&self) {
        let answer = block_on(self.webhooks.handle(self.sample.path, &self.sample.body, &self.context));
        drop(std::hint::black_box(answer));
    }
}
