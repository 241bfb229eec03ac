//! Probes: how a container is asked, and when enough answers were alike.

use std::time::Duration;

use serde_json::Value;

use super::fields::{list, seconds, text, texts};

/// A probe of a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Probe {
    pub(crate) check: Check,
    pub(crate) initial_delay: Duration,
    pub(crate) period: Duration,
    pub(crate) timeout: Duration,
    failures: u64,
    successes: u64,
    /// For the stop that a failure brings.
    pub(crate) grace: Option<Duration>,
}

/// How a container is asked. An empty host is the Pod's address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Check {
    Http {
        scheme: Scheme,
        host: String,
        port: u16,
        path: String,
        headers: Vec<(String, String)>,
    },
    Tcp {
        host: String,
        port: u16,
    },
    Exec(Vec<String>),
    /// For the hooks of a container's life alone.
    Sleep(Duration),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    Http,
    Https,
}

/// What one answer says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Success,
    Failure,
}

impl Probe {
    /// Reads the probe of this name, if a container has it.
    pub(crate) fn of(container: &Value, name: &str) -> Result<Option<Self>, String> {
        let Some(probe) = container.get(name) else { return Ok(None) };
        let positive = |pointer: &str, otherwise| probe.pointer(pointer).and_then(Value::as_u64).unwrap_or(otherwise);
        Ok(Some(Self {
            check: Check::of(probe, container)?,
            initial_delay: seconds(probe, "/initialDelaySeconds").unwrap_or_default(),
            period: Duration::from_secs(positive("/periodSeconds", 10)),
            timeout: Duration::from_secs(positive("/timeoutSeconds", 1)),
            failures: positive("/failureThreshold", 3),
            successes: positive("/successThreshold", 1),
            grace: seconds(probe, "/terminationGracePeriodSeconds"),
        }))
    }

    /// A count of its answers, none of which has come yet.
    pub(crate) fn tally(&self) -> Tally {
        Tally { needed: [self.successes, self.failures], last: Outcome::Success, alike: 0 }
    }
}

impl Check {
    /// Reads what a probe or a hook of a container does.
    pub(crate) fn of(asking: &Value, container: &Value) -> Result<Self, String> {
        if let Some(get) = asking.get("httpGet") {
            return Ok(Self::Http {
                scheme: if text(get, "/scheme") == "HTTPS" { Scheme::Https } else { Scheme::Http },
                host: text(get, "/host").into(),
                port: port(&get["port"], container)?,
                path: text(get, "/path").into(),
                headers: list(get, "/httpHeaders")
                    .iter()
                    .map(|header| (text(header, "/name").into(), text(header, "/value").into()))
                    .collect(),
            });
        }
        if let Some(socket) = asking.get("tcpSocket") {
            return Ok(Self::Tcp { host: text(socket, "/host").into(), port: port(&socket["port"], container)? });
        }
        if let Some(exec) = asking.get("exec") {
            return Ok(Self::Exec(texts(exec, "/command")));
        }
        match seconds(asking, "/sleep/seconds") {
            Some(pause) => Ok(Self::Sleep(pause)),
            None => Err(format!("a probe or hook of this kind is not known here: {asking}")),
        }
    }
}

/// A port by its number or by the name that the container gives it.
fn port(port: &Value, container: &Value) -> Result<u16, String> {
    let number = match port {
        Value::String(name) => {
            let named = list(container, "/ports").iter().find(|port| text(port, "/name") == name);
            named.and_then(|port| port["containerPort"].as_u64())
        }
        number => number.as_u64(),
    };
    number.and_then(|number| number.try_into().ok()).ok_or_else(|| format!("the container has no port {port}"))
}

/// How many answers in a row were alike.
#[derive(Debug, Clone)]
pub(crate) struct Tally {
    /// As many successes, as many failures count.
    needed: [u64; 2],
    last: Outcome,
    alike: u64,
}

impl Tally {
    /// Counts an answer; gives it back where it counts.
    pub(crate) fn count(&mut self, outcome: Outcome) -> Option<Outcome> {
        self.alike = if outcome == self.last { self.alike + 1 } else { 1 };
        self.last = outcome;
        let [successes, failures] = self.needed;
        let needed = if outcome == Outcome::Success { successes } else { failures };
        (self.alike >= needed).then_some(outcome)
    }
}

#[cfg(test)]
mod tests {
    use Outcome::{Failure, Success};
    use serde_json::json;

    use super::*;

    #[test]
    fn finds_a_port_by_its_name() {
        let container = json!({
            "ports": [{"name": "health", "containerPort": 8081}],
            "readinessProbe": {"httpGet": {"path": "/readyz", "port": "health", "scheme": "HTTPS"}, "periodSeconds": 3},
        });
        let probe = Probe::of(&container, "readinessProbe").unwrap().unwrap();
        assert!(matches!(probe.check, Check::Http { port: 8081, scheme: Scheme::Https, .. }));
        assert_eq!((probe.period, probe.timeout), (Duration::from_secs(3), Duration::from_secs(1)));
        assert_eq!(Probe::of(&container, "livenessProbe"), Ok(None));
        assert!(port(&json!("other"), &container).is_err());
    }

    #[test]
    fn answers_count_once_enough_of_them_are_alike() {
        let container = json!({"p": {"tcpSocket": {"port": 1}, "failureThreshold": 3, "successThreshold": 2}});
        let mut tally = Probe::of(&container, "p").unwrap().unwrap().tally();
        let answers = [Success, Success, Failure, Failure, Success, Failure, Failure, Failure, Success];
        let counted = answers.map(|outcome| tally.count(outcome));
        let wanted = [None, Some(Success), None, None, None, None, None, Some(Failure), None];
        assert_eq!(counted, wanted);
    }
}
