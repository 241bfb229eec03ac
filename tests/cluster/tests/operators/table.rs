//! Who judged an object: by the log lines of both operators.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use cluster_tests::objects::model;
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

/// Who did what with one object that must not be admitted.
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
        println!("{:>7}  {:<60} {:<9} {:<9}", "seconds", "event", "platform", "team-a");
        Self { sandbox, namespace, start: Instant::now() }
    }

    /// Writes once. Nothing may be admitted, whatever happens to the operators.
    pub async fn verdicts(&self) -> Verdicts {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let name = format!("probe-{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        // The URI of a LoRA must be one of the known sources.
        let mut object = model(&name, "https://zoo.example/otter");
        object["metadata"]["namespace"] = self.namespace.into();
        let path = format!("/apis/nvidia.com/v1alpha1/namespaces/{}/dynamomodels?dryRun=All", self.namespace);
        let answer = self.sandbox.bed().client().post(&path, &object).await.unwrap();
        assert!(!answer.status.is_success(), "{name} was judged by nobody: {}", answer.body);
        // A line is written a moment after the answer.
        tokio::time::sleep(Duration::from_millis(100)).await;
        Verdicts { platform: self.did(PLATFORM.1, &name), team: self.did(TEAM.1, &name) }
    }

    /// Waits until writes end like that, and prints it; every write until then must be refused too.
    pub async fn until(&self, event: &str, wanted: &[Verdicts]) -> Verdicts {
        self.watched(event, wanted).await.0
    }

    /// The same, of what has happened just now, where the window before it has a stated bound.
    pub async fn within(&self, event: &str, wanted: Verdicts, bound: Duration) {
        let (_, window) = self.watched(event, &[wanted]).await;
        assert!(window <= bound + ALLOWANCE, "{event}: {wanted:?} after more than {window:.1?}, not {bound:?}");
    }

    /// How writes end, and after what time the last one was sent that ended otherwise: how long an answer takes is no
    /// part of a window.
    async fn watched(&self, event: &str, wanted: &[Verdicts]) -> (Verdicts, Duration) {
        let (start, mut window) = (Instant::now(), Duration::ZERO);
        let mut last = self.verdicts().await;
        until(&format!("{event}: {wanted:?}, not {last:?}"), PATIENCE, async || {
            let sent = start.elapsed();
            last = self.verdicts().await;
            let ended = wanted.contains(&last);
            if !ended {
                window = sent;
            }
            ended
        })
        .await;
        println!(
            "{:>7.1}  {:<60} {:<9} {:<9} after {window:.1?}",
            self.start.elapsed().as_secs_f32(),
            event,
            format!("{:?}", last.platform).to_lowercase(),
            format!("{:?}", last.team).to_lowercase(),
        );
        (last, window)
    }

    fn did(&self, namespace: &str, object: &str) -> Did {
        let pods = self.sandbox.bed().node().pods(namespace, "app.kubernetes.io/component=webhook");
        let named = format!("\"{object}\"");
        let logs: Vec<String> = pods.iter().map(Pod::log).collect();
        let lines = logs.iter().flat_map(|log| log.lines()).filter(|line| line.contains(&named));
        let verdicts: Vec<&str> =
            lines.filter_map(|line| line.split_once("\"verdict\":\"")?.1.split('"').next()).collect();
        if verdicts.contains(&"denied") {
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
