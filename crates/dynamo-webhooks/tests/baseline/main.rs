//! What one review takes, beside `baseline.tsv`: its allocations, and its instructions where valgrind is.
//!
//! Both depend on no clock, but on the profile: the figures are those of `proofs`. A change that takes a tenth more fails
//! here; `make baseline` writes them anew.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

#[path = "../../../gateward-bench/src/reviews.rs"]
#[allow(dead_code, reason = "the benchmark sends others, too")]
mod reviews;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::Command;
use std::sync::Arc;
use std::time::SystemTime;

use dynamo_webhooks::ClusterFacts;
use gateward::testing::block_on;
use gateward::{Context, Webhooks};
use reviews::{Way, alpha, beta, conversion, sized};

const BASELINE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/baseline/baseline.tsv");
const HEAD: &str = "review\tallocations\tbytes\tinstructions";

/// Names the review to the process that valgrind runs.
const REVIEW: &str = "REVIEW";

/// What counts, in the order of the columns.
type Counts = [Option<u64>; 3];

/// A review, and the path that it is sent to.
struct Review {
    path: &'static str,
    body: Vec<u8>,
}

const NAMES: [&str; 6] = [
    "validate v1beta1",
    "default v1beta1",
    "validate v1alpha1",
    "default v1alpha1",
    "v1alpha1 to v1beta1",
    "v1beta1 to v1alpha1",
];

/// Every endpoint, with about 4 kB and 14 kB.
fn names() -> impl Iterator<Item = String> {
    NAMES.into_iter().flat_map(|name| [4, 14].map(|size| format!("{name}, {size} kB")))
}

fn review(name: &str) -> Review {
    let (what, size) = name.trim_end_matches(" kB").split_once(", ").unwrap();
    let bytes = size.parse::<usize>().unwrap() * 1_000;
    let (validate, mutate) =
        ("/validate/nvidia.com/v1beta1/dynamographdeployments", "/mutate/nvidia.com/v1beta1/dynamographdeployments");
    let (path, body) = match what {
        "validate v1beta1" => (validate, sized(bytes, beta)),
        "default v1beta1" => (mutate, sized(bytes, beta)),
        "validate v1alpha1" => (validate, sized(bytes, alpha)),
        "default v1alpha1" => (mutate, sized(bytes, alpha)),
        "v1alpha1 to v1beta1" => ("/convert", conversion(Way::Lift, bytes, 1).unwrap().body),
        "v1beta1 to v1alpha1" => ("/convert", conversion(Way::Lower, bytes, 1).unwrap().body),
        _ => panic!("no review is called {name}"),
    };
    Review { path, body }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "the figures are those of optimised code: make test-cost")]
fn no_review_takes_a_tenth_more_than_it_did() {
    let found: Vec<(String, Counts)> = names().map(|name| (name.clone(), counts(&name))).collect();
    if std::env::var_os("WRITE_BASELINE").is_some() {
        std::fs::write(BASELINE, table(&found)).unwrap();
    }
    println!("{}", table(&found));
    let baseline = baseline();
    assert_eq!(baseline.len(), found.len());
    let more: Vec<String> = found.iter().flat_map(|(name, counts)| more(name, counts, &baseline[name])).collect();
    assert!(
        more.is_empty(),
        "a tenth more than in baseline.tsv; take it away, or `make baseline`:\n{}",
        more.join("\n")
    );
}

/// What valgrind runs.
#[test]
#[ignore = "the other test runs it"]
fn one_review() {
    let (webhooks, context) = server();
    let review = review(&std::env::var(REVIEW).unwrap());
    // What is made once for the process, and what the allocator puts in order after it, is no part of a review.
    for _ in 0..2 {
        ask(&webhooks, &review, &context);
    }
    counted(&webhooks, &review, &context);
}

fn server() -> (Webhooks, Context) {
    let context = Context::new(SystemTime::UNIX_EPOCH, Arc::new(ClusterFacts::default()));
    (dynamo_webhooks::webhooks(), context)
}

fn ask(webhooks: &Webhooks, review: &Review, context: &Context) {
    let answer = block_on(webhooks.handle(review.path, &review.body, context));
    assert_eq!(answer.status, 200);
    drop(std::hint::black_box(answer));
}

/// Has a symbol of its own, by which valgrind finds what to count.
#[inline(never)]
fn counted(webhooks: &Webhooks, review: &Review, context: &Context) {
    ask(webhooks, review, context);
}

fn counts(name: &str) -> Counts {
    let ((webhooks, context), review) = (server(), review(name));
    // What is made once for the process is no part of a review.
    ask(&webhooks, &review, &context);
    let allocated = allocation_counter::measure(|| ask(&webhooks, &review, &context));
    [Some(allocated.count_total), Some(allocated.bytes_total), instructions(name)]
}

/// Those of one review; `None` where valgrind isn't, or the processor isn't of the sort that the figures are of.
fn instructions(name: &str) -> Option<u64> {
    if !is_of_the_sort() {
        return None;
    }
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=baseline::counted"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "one_review", "--ignored", "--test-threads=1"])
        .env(REVIEW, name)
        .output()
        .ok()?;
    let said = String::from_utf8(output.stderr).unwrap();
    let collected = said.lines().find_map(|line| line.split_once("Collected : "));
    assert!(output.status.success() && collected.is_some(), "{said}");
    collected.map(|(_, count)| count.trim().parse().unwrap())
}

/// What scans text takes more instructions without AVX2.
#[cfg(target_arch = "x86_64")]
fn is_of_the_sort() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
}

#[cfg(not(target_arch = "x86_64"))]
fn is_of_the_sort() -> bool {
    false
}

fn more(name: &str, found: &Counts, baseline: &Counts) -> Vec<String> {
    let columns = HEAD.split('\t').skip(1).zip(found.iter().zip(baseline));
    let known = columns.filter_map(|(column, (found, baseline))| Some((column, (*found)?, (*baseline)?)));
    let more = known.filter(|(_, found, baseline)| *found > baseline + baseline / 10);
    more.map(|(column, found, baseline)| format!("{name}: {found} {column}, {baseline} before")).collect()
}

fn table(rows: &[(String, Counts)]) -> String {
    rows.iter().fold(format!("{HEAD}\n"), |mut text, (name, counts)| {
        let counts = counts.map(|count| count.map_or_else(|| "-".into(), |count| count.to_string()));
        let _ = writeln!(text, "{name}\t{}", counts.join("\t"));
        text
    })
}

fn baseline() -> BTreeMap<String, Counts> {
    let text = std::fs::read_to_string(BASELINE).unwrap();
    let rows = text.lines().skip(1).map(|line| {
        let mut columns = line.split('\t');
        let name = columns.next().unwrap().to_owned();
        let counts: Vec<Option<u64>> = columns.map(|count| count.parse().ok()).collect();
        (name, Counts::try_from(counts).unwrap())
    });
    rows.collect()
}
