//! The cost fuzzer: makes manifests larger and keeps those that cost most for their size, to make them worse.
//!
//! It goes on from what costs most by counted work, not by time, so that two machines draw nearly the same from one seed;
//! a faster one comes further in the same time.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::input::Input;
use crate::meter::{Cost, Meter};
use crate::random::Random;
use crate::seeds;

/// How many inputs of each endpoint, kind and version are kept for each bound.
const KEPT: usize = 6;

/// Larger bodies are asked about and not made worse: they take as long as a hundred others.
const LARGEST_KEPT: usize = 4 << 20;

/// How many inputs are printed.
const PRINTED: usize = 10;

/// For how long it draws where `COST_SECONDS` doesn't say.
const SECONDS: u64 = 120;

/// The worst inputs so far of one endpoint, kind and version.
#[derive(Default)]
struct Worst<'s> {
    work: Vec<(Cost, Input<'s>)>,
    memory: Vec<(Cost, Input<'s>)>,
    /// The one that comes closest to a bound. Nothing is drawn from it, because time is another on each machine.
    closest: Vec<(Cost, Input<'s>)>,
}

impl<'s> Worst<'s> {
    fn add(&mut self, cost: Cost, input: &Input<'s>) {
        keep(&mut self.closest, 1, cost, input, Cost::share);
        if cost.bytes < LARGEST_KEPT || self.work.is_empty() {
            keep(&mut self.work, KEPT, cost, input, Cost::work);
            keep(&mut self.memory, KEPT, cost, input, Cost::memory_share);
        }
    }

    fn pick(&self, random: &mut Random) -> &Input<'s> {
        let kept = if random.once_in(3) { &self.memory } else { &self.work };
        &random.one_of(kept).1
    }
}

fn keep<'s>(worst: &mut Vec<(Cost, Input<'s>)>, most: usize, cost: Cost, input: &Input<'s>, share: fn(&Cost) -> f64) {
    worst.push((cost, input.clone()));
    worst.sort_by(|(one, _), (other, _)| share(other).total_cmp(&share(one)));
    worst.truncate(most);
}

fn time() -> Duration {
    let given = std::env::var("COST_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    Duration::from_secs(given.unwrap_or(SECONDS))
}

#[test]
fn no_body_costs_more_than_its_share() {
    let mut meter = Meter::of_drawn();
    let seeds = seeds::all(&meter.webhooks);
    assert!(seeds.len() > 1000, "{} manifests", seeds.len());
    let (mut random, seed) = Random::from_environment();
    println!("{} manifests, PROPTEST_RNG_SEED={seed}", seeds.len());
    let mut worst: BTreeMap<_, Worst> = BTreeMap::new();
    let (start, time) = (Instant::now(), time());
    while start.elapsed() < time {
        let input = draw(&mut random, &seeds, &worst);
        let Some((path, body)) = input.request(&meter.webhooks) else { continue };
        let cost = meter.ask(&path, &input.to_string(), body.as_bytes());
        worst.entry(input.target()).or_default().add(cost, &input);
    }
    print(&worst);
    meter.settle();
}

fn draw<'s>(
    random: &mut Random,
    seeds: &'s [seeds::Seed],
    worst: &BTreeMap<(&'static str, &'s str, &'static str), Worst<'s>>,
) -> Input<'s> {
    let targets: Vec<&Worst> = worst.values().collect();
    let input = if targets.is_empty() || random.once_in(5) {
        Input::draw(random, seeds)
    } else {
        let worst = *random.one_of(&targets);
        worst.pick(random).clone()
    };
    let mut input = input.mutate(random);
    while random.once_in(2) {
        input = input.mutate(random);
    }
    input
}

/// The worst of each endpoint, kind and version; of these the worst.
fn print(worst: &BTreeMap<(&'static str, &str, &'static str), Worst>) {
    let mut all: Vec<&(Cost, Input)> = worst.values().flat_map(|worst| &worst.closest).collect();
    all.sort_by(|(one, _), (other, _)| other.share().total_cmp(&one.share()));
    for (cost, input) in all.into_iter().take(PRINTED) {
        println!("{}\n    {input}", cost.line());
    }
}
