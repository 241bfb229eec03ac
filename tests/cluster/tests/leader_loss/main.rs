//! The replica that writes is lost before and after each step of a CA rotation, under a load.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use cluster_tests::{CA_SECRET, Load, Release, Sandbox, Tally, run_in_turn, tests, until};
use serde_json::json;

/// The writes of an exchange, in their order.
const STEPS: [&str; 7] =
    ["begin", "publish-bundles", "switch", "issue-certificate", "retire", "trim-bundles", "finish"];
/// So many that some are ready although one after the other is lost.
const REPLICAS: usize = 4;
/// A lease that nobody gives back is taken after fifteen seconds.
const PATIENCE: Duration = Duration::from_mins(3);
/// What was sent before the lost replica's address was withdrawn may fail.
const WITHDRAWN: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    let tests = tests![
        the_writer_is_paused_before_each_step,
        the_writers_pod_is_deleted_after_each_step,
        the_writer_crashes_before_each_step,
    ];
    run_in_turn(tests, async |bed| {
        let fail_point = json!([{"name": "GATEWARD_FAIL_POINT", "value": FailPoint::file()}]);
        let manager = json!({"replicas": REPLICAS});
        let values = json!({"dynamo-operator": {"env": fail_point, "controllerManager": manager}});
        Release::installed(bed, &values).await
    })
}

/// It neither writes nor looks after its lease for longer than that lasts, and then goes on where it was.
async fn the_writer_is_paused_before_each_step(sandbox: Sandbox) {
    let (tally, _) = loses_the_writer(&sandbox, |step| format!("before:{step}:pause"), async |_| {}).await;
    tally.assert_no_failures();
}

/// It is asked to end while it pauses, so that it writes no more, gives no lease back and answers until it has drained.
async fn the_writers_pod_is_deleted_after_each_step(sandbox: Sandbox) {
    let delete = async |leader: String| {
        let release = Release::only(&sandbox);
        release.kubectl(&["delete", "pod", &leader, "--wait=false"]).await.unwrap();
    };
    let (tally, _) = loses_the_writer(&sandbox, |step| format!("after:{step}:pause"), delete).await;
    tally.assert_no_failures();
}

/// What it serves at that moment is lost with it, and nothing else.
async fn the_writer_crashes_before_each_step(sandbox: Sandbox) {
    let (tally, losses) = loses_the_writer(&sandbox, |step| format!("before:{step}"), async |_| {}).await;
    assert_eq!((tally.failed_open.number, tally.astray.number, tally.not_served.number), (0, 0, 0), "{tally}");
    for failure in &tally.failures {
        // A replica that isn't there is no fault of certificates.
        assert!(!failure.text.contains("x509") && failure.mended.is_some(), "{tally}");
        let answered = failure.sent + failure.took;
        let is_of = |loss: &Duration| failure.sent <= *loss + WITHDRAWN && answered + WITHDRAWN >= *loss;
        assert!(losses.iter().any(is_of), "not because of {losses:?}: {tally}");
    }
}

/// Rotates the CA, and the leader lost at each of the steps; the replica that lost it names its Pod. Gives what
/// was counted meanwhile, and when the losses were.
async fn loses_the_writer(
    sandbox: &Sandbox,
    place: impl Fn(&str) -> String,
    lost: impl AsyncFn(String),
) -> (Tally, Vec<Duration>) {
    let release = Release::only(sandbox);
    let before = release.certificate(CA_SECRET).await.unwrap().unwrap();
    let mut losses = Vec::new();
    let tally = Load::during(sandbox, async |load| {
        let point = FailPoint(FailPoint::file());
        point.set(&place(STEPS[0]));
        release.gateward(&["certs", "rotate"]).await.unwrap();
        for (number, step) in STEPS.iter().enumerate() {
            let time = until(&format!("lost at {step}"), PATIENCE, async || point.is_reached()).await;
            losses.push(load.elapsed());
            let leader = leader(&release).await;
            println!("lost {leader} at {step} after {time:.1?}");
            lost(leader).await;
            if let Some(next) = STEPS.get(number + 1) {
                point.set(&place(next));
            }
        }
        release.rotated(&before, PATIENCE).await;
    })
    .await;
    release.rolled_out().await.unwrap();
    (tally, losses)
}

/// The Pod that holds the lease, or held it last.
async fn leader(release: &Release) -> String {
    let lease = format!("lease/{}-webhook-writer", release.fullname());
    let holder = release.kubectl(&["get", &lease, "-o", "jsonpath={.spec.holderIdentity}"]).await.unwrap();
    let pods = release.pod_names().await.unwrap();
    pods.into_iter().find(|pod| holder.contains(pod.as_str())).unwrap_or_else(|| panic!("{holder} is no Pod"))
}

/// The file that names the place at which the next replica ends.
struct FailPoint(PathBuf);

impl FailPoint {
    /// All Pods see it: `/dev` is the machine's.
    fn file() -> PathBuf {
        static FILE: OnceLock<PathBuf> = OnceLock::new();
        let name = || {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
            Path::new("/dev/shm").join(format!("gateward-fail-point-{}", now.as_nanos()))
        };
        FILE.get_or_init(name).clone()
    }

    fn set(&self, point: &str) {
        std::fs::write(&self.0, point).unwrap();
    }

    /// The replica that reaches it removes the file.
    fn is_reached(&self) -> bool {
        !self.0.exists()
    }
}

impl Drop for FailPoint {
    fn drop(&mut self) {
        // It is gone where it was reached.
        let _ = std::fs::remove_file(&self.0);
    }
}
