//! The guide's scenario: claim, renewal, crash, hand-over, partitions, skewed clocks, clean end.

use std::process::Command;
use std::time::Duration;

use cluster_tests::{Client, Pod, Release, Sandbox, Signal, Test, tests, until};
use serde_json::{Value, json};

use crate::table::{
    BOTH, LEASE_COUNTS, PATIENCE, PLATFORM_ALONE, Probe, RENEWAL, TEAM_ALONE, WEBHOOKS_SETTLE, holder, install_team,
    lease, lease_path,
};
use crate::{PLATFORM, TEAM};

/// Longer than the scenario takes.
const UNHEARD: Duration = Duration::from_mins(30);

pub fn tests() -> Vec<Test> {
    tests![a_namespace_is_judged_by_the_right_operator_through_everything_that_happens]
}

async fn a_namespace_is_judged_by_the_right_operator_through_everything_that_happens(sandbox: Sandbox) {
    let namespace = json!({"metadata": {"name": TEAM.1}});
    sandbox.bed().client().post("/api/v1/namespaces", &namespace).await.unwrap().granted().unwrap();
    let probe = Probe::new(&sandbox, TEAM.1);
    probe.until("no operator of the namespace's own", PLATFORM_ALONE).await;
    let team = install_team(&sandbox).await;
    until("the lease is there", PATIENCE, async || lease(&sandbox).await.is_some()).await;
    probe.within("the namespace is claimed", TEAM_ALONE, WEBHOOKS_SETTLE).await;
    its_status_is_found_by_its_name(&team).await;
    both_measure(&sandbox, &team).await;
    renews(&sandbox, &probe).await;
    is_written_by_a_tenant(&sandbox, &probe).await;
    hands_over(&sandbox, &probe, &team).await;
    is_taken_over(&sandbox, &probe, &team).await;
    crashes(&sandbox, &probe).await;
    is_cut_off(&sandbox, &probe, &team).await;
    the_platform_is_cut_off(&sandbox, &probe).await;
    the_platform_may_read_no_lease(&sandbox, &probe).await;
    clocks_differ(&sandbox, &probe, &team).await;
    ends(&sandbox, &probe, &team).await;
    is_uninstalled_unseen(&sandbox, &probe, &team).await;
}

/// The configurations of an operator of one namespace have other names, which its ConfigMap tells.
async fn its_status_is_found_by_its_name(team: &Release) {
    let status = team.gateward(&["certs", "status"]).await.unwrap();
    assert!(status.contains("targets:    7 trust") && !status.contains("attention"), "{status}");
}

/// What replicas of both show of their certificates, and those of the whole cluster of claims.
async fn both_measure(sandbox: &Sandbox, team: &Release) {
    let platform = platform(sandbox);
    for release in [&platform, team] {
        release.measures_expiry().await;
        release.measures("gateward_lease_unreadable", 0).await;
    }
    platform.measures(r#"gateward_namespace_claims{namespace="team-a",state="counted"}"#, 1).await;
}

/// The role by which the namespace's operator keeps its lease.
fn lease_role(team: &Release) -> String {
    format!("/apis/rbac.authorization.k8s.io/v1/namespaces/{}/roles/{}-namespace-lease", TEAM.1, team.fullname())
}

fn platform(sandbox: &Sandbox) -> Release {
    Release::of(sandbox, PLATFORM.0, PLATFORM.1)
}

async fn renews(sandbox: &Sandbox, probe: &Probe<'_>) {
    let before = lease(sandbox).await.unwrap()["spec"].clone();
    assert_eq!(before["leaseDurationSeconds"], 30);
    let renewed = async || lease(sandbox).await.unwrap()["spec"]["renewTime"] != before["renewTime"];
    until("the lease is renewed", PATIENCE, renewed).await;
    let after = lease(sandbox).await.unwrap()["spec"].clone();
    assert_eq!((&after["holderIdentity"], &after["acquireTime"]), (&before["holderIdentity"], &before["acquireTime"]));
    probe.until("its lease was renewed", TEAM_ALONE).await;
}

/// A tenant writes times into the lease that only Go reads, here those of the year 10000.
async fn is_written_by_a_tenant(sandbox: &Sandbox, probe: &Probe<'_>) {
    let before = lease(sandbox).await.unwrap()["spec"]["renewTime"].clone();
    let late = "9999-12-31T23:59:59.000000-23:59";
    let times = json!({"spec": {"renewTime": late, "acquireTime": late}});
    sandbox.bed().client().merge(&lease_path(TEAM.1), &times).await.unwrap().granted().unwrap();
    let renewed = async || {
        let now = lease(sandbox).await.unwrap()["spec"]["renewTime"].clone();
        now != before && !now.as_str().unwrap().starts_with("10000")
    };
    until("the lease is renewed all the same", PATIENCE, renewed).await;
    probe.until("times that can't be read were written", TEAM_ALONE).await;
}

/// The Pod that holds the lease ends, and another replica goes on: the lease is there all the while.
async fn hands_over(sandbox: &Sandbox, probe: &Probe<'_>, team: &Release) {
    let before = holder(sandbox).await;
    let pod = pod_of(sandbox, &before);
    team.kubectl(&["delete", "pod", pod.name(), "--wait=false"]).await.unwrap();
    until("another replica holds the lease", PATIENCE, async || holder(sandbox).await != before).await;
    probe.until("the replica that held the lease was deleted", TEAM_ALONE).await;
    team.rolled_out().await.unwrap();
    team.settled().await.unwrap();
    probe.until("its successor is there", TEAM_ALONE).await;
}

/// The replica that holds the lease stands still, and the other one takes it: the claim counts all the while. What
/// is sent to the replica that stands still is refused.
async fn is_taken_over(sandbox: &Sandbox, probe: &Probe<'_>, team: &Release) {
    let before = holder(sandbox).await;
    let stopped = pod_of(sandbox, &before);
    stopped.signal(Signal::Stop);
    let taken = async || holder(sandbox).await != before;
    until("another replica has taken the lease", PATIENCE, taken).await;
    probe.until("the replica that held the lease stands still", TEAM_ALONE).await;
    stopped.kill();
    team.settled().await.unwrap();
    probe.until("its processes have started again beside the new holder", TEAM_ALONE).await;
}

/// The operator is uninstalled while it serves, and the one of the whole cluster sees no event of it: what it has seen
/// says that the namespace is claimed, and yet no write passes.
async fn is_uninstalled_unseen(sandbox: &Sandbox, probe: &Probe<'_>, team: &Release) {
    team.scale(2).await.unwrap();
    team.rolled_out().await.unwrap();
    probe.until("its replicas are there again", TEAM_ALONE).await;
    the_platform_hears_after(sandbox, UNHEARD);
    let uninstalled = Box::pin(team.uninstall());
    probe.during("it is uninstalled, and the platform sees nothing of it", uninstalled).await.unwrap();
    probe.within("it was uninstalled", PLATFORM_ALONE, Duration::ZERO).await;
    the_platform_hears_after(sandbox, Duration::ZERO);
    probe.until("the platform sees that", PLATFORM_ALONE).await;
}

/// Its last replica deletes the lease. Its webhooks are still there, and refuse what nobody of it judges.
async fn ends(sandbox: &Sandbox, probe: &Probe<'_>, team: &Release) {
    team.scale(0).await.unwrap();
    until("the last replica deletes the lease", PATIENCE, async || lease(sandbox).await.is_none()).await;
    until("it is gone", PATIENCE, async || team.pods().await.unwrap().is_empty()).await;
    probe.within("its last replica has ended", PLATFORM_ALONE, Duration::ZERO).await;
}

fn pods(sandbox: &Sandbox, namespace: &str) -> Vec<Pod> {
    sandbox.bed().node().pods(namespace, "app.kubernetes.io/component=webhook")
}

/// The Pod of the namespace's operator that a holder of the lease names.
fn pod_of(sandbox: &Sandbox, holder: &str) -> Pod {
    let uid = holder.strip_prefix("team-a-operator/").unwrap_or_else(|| panic!("{holder}"));
    let named = |pod: &Pod| pod.object()["metadata"]["uid"] == uid;
    pods(sandbox, TEAM.1).into_iter().find(named).unwrap_or_else(|| panic!("{uid} is no Pod"))
}

/// Delays what watches deliver to the operator of the whole cluster.
fn the_platform_hears_after(sandbox: &Sandbox, delay: Duration) {
    for pod in pods(sandbox, PLATFORM.1) {
        pod.delay_watches(delay);
    }
}

/// A role of which rules have been taken away.
struct ReducedRole<'a> {
    client: &'a Client,
    path: String,
    whole: Value,
}

impl<'a> ReducedRole<'a> {
    /// Takes all rules away but those that are to stay.
    async fn of(sandbox: &'a Sandbox, path: String, stays: impl Fn(&Value) -> bool) -> Self {
        let client = sandbox.bed().client();
        let whole = client.get(&path).await.unwrap().granted().unwrap();
        let rules = whole["rules"].as_array().unwrap();
        let left: Vec<&Value> = rules.iter().filter(|rule| stays(rule)).collect();
        assert!(left.len() < rules.len(), "{whole}");
        client.merge(&path, &json!({"rules": left})).await.unwrap().granted().unwrap();
        Self { client, path, whole }
    }

    /// Gives the rules back.
    async fn restore(mut self) {
        self.whole["metadata"].as_object_mut().unwrap().remove("resourceVersion");
        self.client.put(&self.path, &self.whole).await.unwrap().granted().unwrap();
    }
}

/// Its processes stand still: nothing is answered, and nothing renewed.
async fn crashes(sandbox: &Sandbox, probe: &Probe<'_>) {
    let stopped = pods(sandbox, TEAM.1);
    for pod in &stopped {
        pod.signal(Signal::Stop);
    }
    probe.within("its lease has expired: its processes stand still", PLATFORM_ALONE, LEASE_COUNTS).await;
    stopped.iter().for_each(Pod::kill);
    probe.until("its processes have started again", TEAM_ALONE).await;
}

/// Its Pods may write no lease any more.
async fn is_cut_off(sandbox: &Sandbox, probe: &Probe<'_>, team: &Release) {
    let role = ReducedRole::of(sandbox, lease_role(team), |_| false).await;
    probe.within("its lease has expired: it can't write it", BOTH, LEASE_COUNTS).await;
    let expired = lease(sandbox).await.unwrap()["spec"]["renewTime"].clone();
    role.restore().await;
    let renewed = async || lease(sandbox).await.unwrap()["spec"]["renewTime"] != expired;
    until("the lease is renewed again", PATIENCE, renewed).await;
    probe.within("it can write its lease again", TEAM_ALONE, Duration::ZERO).await;
}

/// The operator of the whole cluster sees no event for longer than a lease counts.
async fn the_platform_is_cut_off(sandbox: &Sandbox, probe: &Probe<'_>) {
    the_platform_hears_after(sandbox, UNHEARD);
    probe.within("the platform sees no renewals", BOTH, LEASE_COUNTS).await;
    the_platform_hears_after(sandbox, Duration::ZERO);
    // It sees one as soon as there is one.
    probe.within("the platform sees renewals again", TEAM_ALONE, RENEWAL + WEBHOOKS_SETTLE).await;
}

/// The account of the operator of the whole cluster loses its right to leases: what it knows expires, and it says so.
async fn the_platform_may_read_no_lease(sandbox: &Sandbox, probe: &Probe<'_>) {
    let platform = platform(sandbox);
    let role = format!("/apis/rbac.authorization.k8s.io/v1/clusterroles/{}", platform.fullname());
    let role = ReducedRole::of(sandbox, role, |rule| rule["resources"] != json!(["leases"])).await;
    platform.measures("gateward_lease_unreadable", 1).await;
    platform.measures(r#"gateward_namespace_claims{namespace="team-a",state="expired"}"#, 1).await;
    probe.until("the platform may read no lease", BOTH).await;
    role.restore().await;
    platform.measures("gateward_lease_unreadable", 0).await;
    probe.until("the platform may read leases again", TEAM_ALONE).await;
}

/// A released operator holds the other lease, with a clock that is wrong by 20 seconds either way; ours has no right to
/// its own meanwhile.
async fn clocks_differ(sandbox: &Sandbox, probe: &Probe<'_>, team: &Release) {
    let client = sandbox.bed().client();
    let role = ReducedRole::of(sandbox, lease_role(team), |_| false).await;
    client.delete(&lease_path(TEAM.1)).await.unwrap().granted().unwrap();
    probe.within("the lease is gone", BOTH, Duration::ZERO).await;
    let leases = format!("/apis/coordination.k8s.io/v1/namespaces/{}/leases", TEAM.1);
    let place = format!("{leases}/dynamo-operator-namespace-scope");
    let metadata = json!({"name": "dynamo-operator-namespace-scope"});
    client.post(&leases, &json!({"metadata": metadata})).await.unwrap().granted().unwrap();
    for skew in [-20, 20] {
        renew(sandbox, &place, skew).await;
        probe.within(&format!("a released operator claims it, {skew} s off"), TEAM_ALONE, Duration::ZERO).await;
        renew(sandbox, &place, skew).await;
        probe.until(&format!("it has renewed its lease, {skew} s off"), TEAM_ALONE).await;
        probe.within(&format!("its lease has expired, {skew} s off"), BOTH, LEASE_COUNTS).await;
    }
    client.delete(&place).await.unwrap().granted().unwrap();
    role.restore().await;
    probe.until("our own lease is there again", TEAM_ALONE).await;
}

/// Renews a lease as the released operator does, by a clock that is wrong by some seconds.
async fn renew(sandbox: &Sandbox, place: &str, skew: i64) {
    let shifted = format!("{skew} seconds");
    let date = Command::new("date").args(["-u", "-d", &shifted, "+%Y-%m-%dT%H:%M:%S.%6NZ"]).output().unwrap();
    let renewed = String::from_utf8(date.stdout).unwrap();
    let spec = json!({
        "holderIdentity": "namespace-restricted-operator-1.5.0", "leaseDurationSeconds": 30, "renewTime": renewed.trim(),
    });
    let answer: Value = sandbox.bed().client().merge(place, &json!({"spec": spec})).await.unwrap().granted().unwrap();
    assert_eq!(answer["spec"]["holderIdentity"], "namespace-restricted-operator-1.5.0");
}
