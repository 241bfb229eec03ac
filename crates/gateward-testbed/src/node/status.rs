//! The `status` of a Pod, from the states of its containers.

use std::net::Ipv4Addr;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::fields::{list, text};
use super::network::MACHINE;

/// What has become of a Pod.
#[derive(Debug, Clone, Default)]
pub(crate) struct State {
    pub(crate) ip: Option<Ipv4Addr>,
    pub(crate) started: Option<SystemTime>,
    /// The init containers, in the order of the Pod.
    pub(crate) first: Vec<ContainerStatus>,
    /// The containers, in the order of the Pod.
    pub(crate) main: Vec<ContainerStatus>,
}

/// What has become of a container.
#[derive(Debug, Clone, Default)]
pub(crate) struct ContainerStatus {
    pub(crate) now: Now,
    pub(crate) last: Option<End>,
    pub(crate) restarts: u32,
    pub(crate) started: bool,
    pub(crate) ready: bool,
}

/// What a container does at the moment.
#[derive(Debug, Clone)]
pub(crate) enum Now {
    /// It isn't there yet, or not again: a reason in one word, and a text.
    Waiting(&'static str, String),
    Running(SystemTime),
    /// It ended, and isn't started again.
    Ended(End),
}

/// How a container ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) code: i32,
    pub(crate) started: SystemTime,
    pub(crate) finished: SystemTime,
}

impl Default for Now {
    fn default() -> Self {
        Self::Waiting("PodInitializing", String::new())
    }
}

impl End {
    /// A signal's number counts from 128.
    pub(crate) fn new(status: ExitStatus, started: SystemTime, finished: SystemTime) -> Self {
        let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default());
        Self { code, started, finished }
    }
}

impl State {
    /// The state of a Pod of which nothing runs.
    pub(crate) fn of(pod: &Value) -> Self {
        let containers = |pointer: &str| vec![ContainerStatus::default(); list(pod, pointer).len()];
        Self { first: containers("/spec/initContainers"), main: containers("/spec/containers"), ..Self::default() }
    }

    /// Whether every container gets requests.
    pub(crate) fn is_ready(&self) -> bool {
        self.main.iter().all(|container| container.ready)
    }

    fn is_initialized(&self) -> bool {
        self.first.iter().all(|container| matches!(&container.now, Now::Ended(end) if end.code == 0))
    }

    fn phase(&self) -> &'static str {
        let ends = |containers: &[ContainerStatus]| -> Vec<Option<i32>> {
            let code = |container: &ContainerStatus| match &container.now {
                Now::Ended(end) => Some(end.code),
                _ => None,
            };
            containers.iter().map(code).collect()
        };
        let (first, main) = (ends(&self.first), ends(&self.main));
        let failed = |code: &Option<i32>| code.is_some_and(|code| code != 0);
        if first.iter().any(failed) {
            "Failed"
        } else if !self.is_initialized() {
            "Pending"
        } else if main.iter().all(Option::is_some) {
            if main.iter().any(failed) { "Failed" } else { "Succeeded" }
        } else if self
            .main
            .iter()
            .all(|container| matches!(container.now, Now::Waiting(..)) && container.last.is_none())
        {
            "Pending"
        } else {
            "Running"
        }
    }
}

/// The status of a Pod, after the one that was reported before: a condition keeps the time of its last change.
pub(crate) fn status(pod: &Value, before: &Value, state: &State, now: SystemTime) -> Value {
    let ready = state.is_ready() && state.is_initialized();
    let conditions =
        [("PodScheduled", true), ("Initialized", state.is_initialized()), ("ContainersReady", ready), ("Ready", ready)];
    let before = list(before, "/conditions");
    let conditions = conditions.map(|(kind, holds)| condition(kind, holds, before, now));
    let names = |pointer: &str| list(pod, pointer).iter();
    let first = names("/spec/initContainers").zip(&state.first).map(|(spec, state)| container(spec, state));
    let main = names("/spec/containers").zip(&state.main).map(|(spec, state)| container(spec, state));
    let mut status = json!({
        "phase": state.phase(),
        "conditions": conditions,
        "hostIP": MACHINE,
        "hostIPs": [{"ip": MACHINE}],
        "containerStatuses": main.collect::<Vec<_>>(),
    });
    if !state.first.is_empty() {
        status["initContainerStatuses"] = first.collect();
    }
    if let Some(ip) = state.ip {
        status["podIP"] = json!(ip);
        status["podIPs"] = json!([{"ip": ip}]);
    }
    if let Some(started) = state.started {
        status["startTime"] = timestamp(started).into();
    }
    status
}

fn condition(kind: &str, holds: bool, before: &[Value], now: SystemTime) -> Value {
    let holds = if holds { "True" } else { "False" };
    let same = before.iter().find(|condition| condition["type"] == kind && condition["status"] == holds);
    let since = same.map(|condition| condition["lastTransitionTime"].clone());
    json!({"type": kind, "status": holds, "lastTransitionTime": since.unwrap_or_else(|| timestamp(now).into())})
}

fn container(spec: &Value, state: &ContainerStatus) -> Value {
    let now = match &state.now {
        Now::Waiting(reason, message) => json!({"waiting": {"reason": reason, "message": message}}),
        Now::Running(since) => json!({"running": {"startedAt": timestamp(*since)}}),
        Now::Ended(end) => json!({"terminated": terminated(end)}),
    };
    json!({
        "name": text(spec, "/name"),
        "image": text(spec, "/image"),
        "imageID": "",
        "ready": state.ready,
        "started": state.started,
        "restartCount": state.restarts,
        "state": now,
        "lastState": state.last.as_ref().map_or(json!({}), |end| json!({"terminated": terminated(end)})),
    })
}

fn terminated(end: &End) -> Value {
    json!({
        "exitCode": end.code,
        "reason": if end.code == 0 { "Completed" } else { "Error" },
        "startedAt": timestamp(end.started),
        "finishedAt": timestamp(end.finished),
    })
}

/// A time as Kubernetes writes it, in whole seconds.
pub(crate) fn timestamp(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let (days, rest) = (seconds / 86400, seconds % 86400);
    // Years that begin in March have their leap day at the end.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const NOON: SystemTime = UNIX_EPOCH;

    fn pod() -> Value {
        json!({"spec": {"initContainers": [{"name": "i"}], "containers": [{"name": "a"}, {"name": "b"}]}})
    }

    fn ended(code: i32) -> ContainerStatus {
        ContainerStatus { now: Now::Ended(End { code, started: NOON, finished: NOON }), ..ContainerStatus::default() }
    }

    fn running(ready: bool) -> ContainerStatus {
        ContainerStatus { now: Now::Running(NOON), started: true, ready, ..ContainerStatus::default() }
    }

    fn phase(first: &[ContainerStatus], main: &[ContainerStatus]) -> &'static str {
        State { first: first.into(), main: main.into(), ..State::default() }.phase()
    }

    #[test]
    fn is_pending_until_the_init_containers_have_ended_well() {
        assert_eq!(phase(&[ContainerStatus::default()], &[ContainerStatus::default()]), "Pending");
        assert_eq!(phase(&[ended(0)], &[running(false)]), "Running");
        assert_eq!(phase(&[ended(1)], &[ContainerStatus::default()]), "Failed");
    }

    #[test]
    fn ends_as_its_containers_do() {
        assert_eq!(phase(&[], &[ended(0), ended(0)]), "Succeeded");
        assert_eq!(phase(&[], &[ended(0), ended(3)]), "Failed");
        assert_eq!(phase(&[], &[ended(0), running(true)]), "Running");
    }

    #[test]
    fn is_ready_when_all_containers_are() {
        let mut state = State { first: vec![ended(0)], main: vec![running(true), running(false)], ..State::default() };
        let ready = |state: &State| status(&pod(), &Value::Null, state, NOON)["conditions"][3]["status"].clone();
        assert_eq!(ready(&state), "False");
        state.main[1].ready = true;
        assert_eq!(ready(&state), "True");
    }

    #[test]
    fn a_condition_keeps_the_time_of_its_last_change() {
        let state = State { first: vec![ended(0)], main: vec![running(true), running(false)], ..State::default() };
        let before = status(&pod(), &Value::Null, &state, NOON);
        let later = status(&pod(), &before, &state, NOON + Duration::from_mins(1));
        assert_eq!(later, before);
    }

    #[test]
    fn writes_times_as_the_calendar_has_them() {
        let cases = [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ];
        for (seconds, wanted) in cases {
            assert_eq!(timestamp(UNIX_EPOCH + Duration::from_secs(seconds)), wanted);
        }
    }
}
