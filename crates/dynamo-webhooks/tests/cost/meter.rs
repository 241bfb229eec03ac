//! The cost of an answer, and the bounds.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use dynamo_webhooks::ClusterFacts;
use gateward::testing::block_on;
use gateward::{Context, ReviewResponse, Webhooks};
use rustix::time::{ClockId, clock_gettime};
use serde_json::Value;

/// What a request may take of memory, in bytes: this, and so many times its body.
const MEMORY: u64 = 16_000_000;
const MEMORY_FACTOR: u64 = 12;

/// What a request may take of CPU time: this, and so much for a byte of its body.
const CPU: Duration = Duration::from_millis(2);
const CPU_PER_BYTE: Duration = Duration::from_nanos(150);

/// What a reading of [`slowness`] takes of CPU time on the machine of the bound. A slower machine may take as much longer
/// for an answer.
const REFERENCE: Duration = Duration::from_millis(3);

/// For how long the machine is held against that before and after an answer, at most.
const LONGEST_REFERENCE: Duration = Duration::from_millis(30);

/// How many times its CPU time an answer takes at most before a test fails: this build has no link-time optimisation,
/// and a machine that runs tests isn't idle.
const CPU_MARGIN: f64 = 3.0;

/// How many times its memory an answer to what the fuzzer draws takes at most. It has found none beyond the bound
/// (`docs/performance.md`), but a faster machine draws more. Written shapes keep it.
const DRAWN_MEMORY_MARGIN: f64 = 1.2;

/// The same of CPU time. A list of graphs, each with many small services, an annotation of conversion and a field that
/// breaks the schema, takes 4.4 times the bound in this build.
const DRAWN_CPU_MARGIN: f64 = 6.0;

/// How often an answer that seems to take too long is asked for, and how often one that takes more than the margin: what
/// else the machine does only adds to the time.
const TRIES: usize = 5;
const TRIES_BEYOND_MARGIN: usize = 20;

/// What one answer took.
#[derive(Debug, Clone, Copy)]
pub struct Cost {
    pub bytes: usize,
    /// The body included.
    pub memory: u64,
    /// User and system.
    pub cpu: Duration,
    /// How many times the machine of the bound the machine took for the same readings around it; at least 1.
    slowness: f64,
    /// How many allocations were made, and how many bytes they had together. The same body makes the same ones on every
    /// machine, where the time differs.
    allocations: u64,
    allocated: u64,
    pub status: u16,
}

impl Cost {
    /// Of the memory that it may take.
    pub fn memory_share(&self) -> f64 {
        share(self.memory, MEMORY_FACTOR * self.bytes as u64 + MEMORY)
    }

    /// Of the CPU time that it may take.
    pub fn cpu_share(&self) -> f64 {
        share(u64::try_from(self.cpu.as_nanos()).unwrap(), self.cpu_bound()) / self.slowness
    }

    /// In nanoseconds.
    fn cpu_bound(&self) -> u64 {
        u64::try_from(CPU.as_nanos() + CPU_PER_BYTE.as_nanos() * self.bytes as u128).unwrap()
    }

    /// The work of the allocator, for the size of the body: what costs more CPU time mostly has more of it.
    pub fn work(&self) -> f64 {
        const BYTES_LIKE_AN_ALLOCATION: u64 = 256;
        share(self.allocations + self.allocated / BYTES_LIKE_AN_ALLOCATION, self.cpu_bound())
    }

    pub fn share(&self) -> f64 {
        self.memory_share().max(self.cpu_share())
    }

    pub fn line(&self) -> String {
        #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
        let (body, memory) = (self.bytes as f64 / 1e6, self.memory as f64 / 1e6);
        let (time, status) = (self.cpu.as_secs_f64() * 1e3, self.status);
        let (cpu_share, memory_share) = (self.cpu_share() * 100.0, self.memory_share() * 100.0);
        format!("{body:.3} MB: {time:.1} ms ({cpu_share:.0} %), {memory:.1} MB ({memory_share:.0} %), HTTP {status}")
    }
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap(), time.tv_nsec.try_into().unwrap())
}

/// How many times the machine of the bound this one takes, for so long, to read a document that is always the same, by
/// code that isn't ours. A moment says nothing of an answer that takes a hundred times as long: what else the machine does
/// comes and goes.
fn slowness(span: Duration) -> f64 {
    const ITEM: &str = r#"{"name":"NAME","value":"some text","labels":{"a":"b"},"ports":[80,443]},"#;
    let document = format!("[{}0]", ITEM.repeat(3000));
    let (mut taken, mut readings) = (Duration::ZERO, 0);
    while readings == 0 || taken < span {
        let start = thread_time();
        let read: Value = serde_json::from_str(&document).unwrap();
        taken += thread_time().saturating_sub(start);
        assert_eq!(read.as_array().unwrap().len(), 3001);
        readings += 1;
    }
    (taken / readings).div_duration_f64(REFERENCE)
}

/// Asks, and keeps what cost too much.
pub struct Meter {
    pub webhooks: Webhooks,
    context: Context,
    memory_margin: f64,
    cpu_margin: f64,
    worst_memory: Option<(Cost, String)>,
    worst_cpu: Option<(Cost, String)>,
    beyond: Vec<String>,
    asked: usize,
}

impl Meter {
    pub fn new() -> Self {
        let context = Context::new(SystemTime::UNIX_EPOCH, Arc::new(ClusterFacts::default()));
        let webhooks = dynamo_webhooks::webhooks();
        // What is made once is not the first body's.
        webhooks.check().unwrap();
        Self {
            webhooks,
            context,
            memory_margin: 1.0,
            cpu_margin: CPU_MARGIN,
            worst_memory: None,
            worst_cpu: None,
            beyond: Vec::new(),
            asked: 0,
        }
    }

    /// One for what is drawn.
    pub fn of_drawn() -> Self {
        Self { memory_margin: DRAWN_MEMORY_MARGIN, cpu_margin: DRAWN_CPU_MARGIN, ..Self::new() }
    }

    /// What the answer to this body costs.
    pub fn cost(&self, path: &str, body: &[u8]) -> Cost {
        let mut cost = self.once(path, body);
        for tries in 1..TRIES_BEYOND_MARGIN {
            let enough = if tries < TRIES { 1.0 } else { self.cpu_margin };
            if cost.cpu_share() <= enough {
                break;
            }
            let half = (cost.cpu / 2).min(LONGEST_REFERENCE);
            let before = slowness(half);
            let again = self.once(path, body);
            let again = Cost { slowness: f64::midpoint(before, slowness(half)).max(1.0), ..again };
            if again.cpu_share() < cost.cpu_share() {
                cost = again;
            }
        }
        cost
    }

    fn once(&self, path: &str, body: &[u8]) -> Cost {
        let mut answer: Option<ReviewResponse> = None;
        let mut cpu = Duration::ZERO;
        let taken = allocation_counter::measure(|| {
            let start = thread_time();
            answer = Some(block_on(self.webhooks.handle(path, body, &self.context)));
            cpu = thread_time().saturating_sub(start);
        });
        let (bytes, status) = (body.len(), answer.unwrap().status);
        let (allocations, allocated) = (taken.count_total, taken.bytes_total);
        let memory = taken.bytes_max + bytes as u64;
        Cost { bytes, memory, cpu, slowness: 1.0, allocations, allocated, status }
    }

    /// Holds the answer against both bounds.
    pub fn ask(&mut self, path: &str, about: &str, body: &[u8]) -> Cost {
        let cost = self.cost(path, body);
        let line = format!("{path} {about}: {}", cost.line());
        if std::env::var_os("SHOW").is_some() {
            println!("{line}");
        }
        if cost.share() > 1.0 {
            keep(path, body);
        }
        if cost.memory_share() > self.memory_margin || cost.cpu_share() > self.cpu_margin {
            self.beyond.push(line.clone());
        }
        keep_worst(&mut self.worst_memory, cost, &line, Cost::memory_share);
        keep_worst(&mut self.worst_cpu, cost, &line, Cost::cpu_share);
        self.asked += 1;
        cost
    }

    /// Fails if anything was beyond the bounds.
    pub fn settle(self) {
        for (_, line) in [&self.worst_memory, &self.worst_cpu].into_iter().flatten() {
            println!("the worst of {}: {line}", self.asked);
        }
        assert!(self.asked > 0);
        assert!(self.beyond.is_empty(), "{} take too much:\n{}", self.beyond.len(), self.beyond.join("\n"));
    }
}

/// Writes a body into the directory that `COST_KEEP` names, behind a line with its path, for who asks another build.
fn keep(path: &str, body: &[u8]) {
    static KEPT: AtomicUsize = AtomicUsize::new(0);
    let Some(directory) = std::env::var_os("COST_KEEP").map(PathBuf::from) else { return };
    let name = format!("{}.request", KEPT.fetch_add(1, Ordering::Relaxed));
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join(name), [path.as_bytes(), b"\n", body].concat()).unwrap();
}

fn keep_worst(worst: &mut Option<(Cost, String)>, cost: Cost, line: &str, share: fn(&Cost) -> f64) {
    if worst.as_ref().is_none_or(|(worst, _)| share(worst) < share(&cost)) {
        *worst = Some((cost, line.to_owned()));
    }
}
