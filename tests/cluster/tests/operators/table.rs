//! Who judged an object: by the log lines of both operators.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use cluster_tests::objects::{graph, model};
use cluster_tests::{Pod, Release, Sandbox, until};
use serde_json::Value;

use crate::{PLATFORM, TEAM};

/// Longer than a lease counts, on a machine that is busy.
pub const PATIENCE: Duration = Duration::from_mins(3);

// What docs/cluster.md states of who judges for how long.

/// How long a lease counts after its last renewal was seen: its 30 seconds, and 5.
pub const LEASE_COUNTS: Duration = Duration::from_secs(35);
/// How long webhooks have to be there before they stand behind a claim.
pub const WEBHOOKS_SETTLE: Duration = Duration::from_secs(5);
/// How often a lease is renewed.
pub const RENEWAL: Duration = Duration::from_secs(10);
/// For how long writes go on after something has happened.
const AFTERWARDS: Duration = Duration::from_secs(5);
/// What is granted beside them for news to arrive, on a machine that is busy.
const ALLOWANCE: Duration = Duration::from_secs(20);

/// What an operator did with a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Did {
    /// It judged.
    Judged,
    /// It let it pass as claimed by another.
    Passed,
    /// It was not asked, or didn't answer.
    Nothing,
}

/// A webhook of each operator, and the kind of whose objects it is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Graphs have defaults.
    Mutating,
    /// Models have none, so that a defaulter that doesn't answer keeps no validator from being asked.
    Validating,
}

/// Who did what with the objects of a probe, which must not be admitted, in both stages alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdicts {
    pub platform: Did,
    pub team: Did,
}

pub const BOTH: Verdicts = Verdicts { platform: Did::Judged, team: Did::Judged };
pub const TEAM_ALONE: Verdicts = Verdicts { platform: Did::Passed, team: Did::Judged };
pub const PLATFORM_ALONE: Verdicts = Verdicts { platform: Did::Judged, team: Did::Nothing };

/// Writes what must not be admitted, and tells who judged it.
pub struct Probe<'a> {
    pub sandbox: &'a Sandbox,
    pub namespace: &'static str,
    start: Instant,
}

impl<'a> Probe<'a> {
    pub fn new(sandbox: &'a Sandbox, namespace: &'static str) -> Self {
        println!("{:>7}  {:<60} {:<19} {:<19}", "", "", "mutating", "validating");
        let operators = format!("{:<9} {:<9}", "platform", "team-a");
        println!("{:>7}  {:<60} {operators} {operators}", "seconds", "event");
        Self { sandbox, namespace, start: Instant::now() }
    }

    /// Writes once, what each stage is asked about: mutating and validating. Nothing may be admitted, whatever happens to
    /// the operators.
    pub async fn verdicts(&self) -> [Verdicts; 2] {
        let [mutated, validated] = self.refused().await;
        // A line is written a moment after the answer.
        tokio::time::sleep(Duration::from_millis(100)).await;
        let in_stage = |stage, name: &str| Verdicts {
            platform: self.did(PLATFORM.1, stage, name),
            team: self.did(TEAM.1, stage, name),
        };
        [in_stage(Stage::Mutating, &mutated), in_stage(Stage::Validating, &validated)]
    }

    /// Writes what must not be admitted: a graph and a model. Their names.
    async fn refused(&self) -> [String; 2] {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let name = format!("probe-{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        let mut mutated = graph(&format!("graph-{name}"));
        mutated["spec"]["components"][1]["frontendSidecar"] = "absent".into();
        // The URI of a LoRA must be one of the known sources.
        let validated = model(&format!("model-{name}"), "https://zoo.example/otter");
        let objects = [(mutated, "v1beta1", "dynamographdeployments"), (validated, "v1alpha1", "dynamomodels")];
        for (mut object, version, plural) in objects {
            object["metadata"]["namespace"] = self.namespace.into();
            let path = format!("/apis/nvidia.com/{version}/namespaces/{}/{plural}?dryRun=All", self.namespace);
            let answer = self.sandbox.bed().client().post(&path, &object).await.unwrap();
            assert!(!answer.status.is_success(), "{name} was judged by nobody: {}", answer.body);
        }
        [format!("graph-{name}"), format!("model-{name}")]
    }

    /// Writes as fast as it can while something happens, and for some seconds after: each write must be refused.
    pub async fn during<T>(&self, event: &str, happening: impl Future<Output = T>) -> T {
        let mut writes = 0_usize;
        let mut happening = std::pin::pin!(happening);
        let happened = loop {
            tokio::select! {
                biased;
                happened = &mut happening => break happened,
                _ = self.refused() => writes += 2,
            }
        };
        let end = Instant::now() + AFTERWARDS;
        while Instant::now() < end {
            self.refused().await;
            writes += 2;
        }
        assert!(writes > 100, "{writes} writes show nothing");
        println!("{:>7.1}  {event:<60} {writes} writes, each refused", self.start.elapsed().as_secs_f32());
        happened
    }

    /// Waits until writes end like that, and prints it; every write until then must be refused too.
    pub async fn until(&self, event: &str, wanted: Verdicts) {
        self.watched(event, wanted).await;
    }

    /// The same, of what has happened just now, where the window before it has a stated bound.
    pub async fn within(&self, event: &str, wanted: Verdicts, bound: Duration) {
        let window = self.watched(event, wanted).await;
        assert!(window <= bound + ALLOWANCE, "{event}: {wanted:?} after more than {window:.1?}, not {bound:?}");
    }

    /// After what time the last write was sent that ended otherwise: how long an answer takes is no part of a window.
    async fn watched(&self, event: &str, wanted: Verdicts) -> Duration {
        let (start, mut window) = (Instant::now(), Duration::ZERO);
        let mut last = self.verdicts().await;
        until(&format!("{event}: {wanted:?}, not {last:?}"), PATIENCE, async || {
            let sent = start.elapsed();
            last = self.verdicts().await;
            let ended = last == [wanted; 2];
            if !ended {
                window = sent;
            }
            ended
        })
        .await;
        let words = last.map(|stage| {
            let word = |did: Did| format!("{did:?}").to_lowercase();
            format!("{:<9} {:<9}", word(stage.platform), word(stage.team))
        });
        println!(
            "{:>7.1}  {event:<60} {} {} after {window:.1?}",
            self.start.elapsed().as_secs_f32(),
            words[0],
            words[1]
        );
        window
    }

    fn did(&self, namespace: &str, stage: Stage, object: &str) -> Did {
        let pods = self.sandbox.bed().node().pods(namespace, "app.kubernetes.io/component=webhook");
        let named = format!("\"{object}\"");
        let asked = match stage {
            Stage::Mutating => "\"mutate create\"",
            Stage::Validating => "\"validate create\"",
        };
        let logs: Vec<String> = pods.iter().map(Pod::log).collect();
        let lines = logs.iter().flat_map(|log| log.lines());
        let lines = lines.filter(|line| line.contains(&named) && line.contains(asked));
        let verdicts: Vec<&str> =
            lines.filter_map(|line| line.split_once("\"verdict\":\"")?.1.split('"').next()).collect();
        // A defaulter has judged what it fills in or leaves alone.
        let judged: &[&str] = match stage {
            Stage::Mutating => &["patched", "allowed"],
            Stage::Validating => &["denied"],
        };
        if verdicts.iter().any(|verdict| judged.contains(verdict)) {
            Did::Judged
        } else if verdicts.contains(&"skipped") {
            Did::Passed
        } else {
            assert!(verdicts.is_empty(), "{object}: {verdicts:?}");
            Did::Nothing
        }
    }
}

/// Installs the operator of the namespace.
pub async fn install_team(sandbox: &Sandbox) -> Release {
    crate::installed(&sandbox.shared_bed(), sandbox.namespace(), TEAM).await.unwrap()
}

pub fn lease_path(namespace: &str) -> String {
    format!("/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/dynamo-operator-ns-lock")
}

/// The Lease that claims the namespace; `None` where there is none.
pub async fn lease(sandbox: &Sandbox) -> Option<Value> {
    let answer = sandbox.bed().client().get(&lease_path(TEAM.1)).await.unwrap();
    (answer.status.as_u16() != 404).then(|| answer.granted().unwrap())
}

pub async fn holder(sandbox: &Sandbox) -> String {
    let lease = lease(sandbox).await.unwrap();
    lease["spec"]["holderIdentity"].as_str().unwrap().to_owned()
}
