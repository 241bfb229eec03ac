//! Whether the API server reaches the Pods: it is asked to, through its proxy for Services.

use std::time::Duration;

use http::{Request, StatusCode};
use http_body_util::{BodyExt as _, Limited};
use k8s_openapi::api::core::v1::Service;
use k8s_openapi::api::discovery::v1::{Endpoint, EndpointSlice};
use kube::api::ListParams;
use kube::core::Status;
use kube::{Api, Client};

use super::check::{PreflightCheck, PreflightResult};
use super::planned_release::PlannedRelease;
use crate::config::ServiceName;
use crate::failure::with_timeout;
use crate::request::{RequestError, with_read_timeout};

const CHECK: PreflightCheck = PreflightCheck::Reachability;
/// How long the API server may take to reach a Pod. A firewall that drops packets shows by this time.
const TIMEOUT: Duration = Duration::from_secs(15);
/// How much of an answer is read, which may be another server's.
const LONGEST: usize = 64 * 1024;
/// How the API server's proxy says that it reached no Pod.
const NOT_REACHED: &str = "error trying to reach service";
/// The port of the Service.
const PORT: u16 = 443;

/// The Pods behind a Service.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ReadyPods {
    count: usize,
    /// The ports on which they listen.
    ports: Vec<u16>,
}

/// The outcome of a request through the API server's proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ProxyOutcome {
    /// A Pod answered, whatever it said.
    Answered,
    /// The API server did not reach a Pod.
    NotReached(String),
    /// The request didn't get as far as that.
    NotAsked(String),
}

pub(super) async fn check(client: &Client, planned: &PlannedRelease) -> PreflightResult {
    let (service, port) = (&planned.config.targets.service, planned.config.replicas.port);
    match ready_pods(client, service).await {
        Err(why) => CHECK.not_provable_yet(format!("the Service {service} can't be read: {why}")),
        Ok(pods) => match unprovable(service, port, pods.as_ref()) {
            Some(result) => result,
            None => judge(service, port, &ask(client, service).await),
        },
    }
}

/// The ready Pods behind a Service; `None` where there is no Service.
async fn ready_pods(client: &Client, name: &ServiceName) -> Result<Option<ReadyPods>, RequestError> {
    let services: Api<Service> = Api::namespaced(client.clone(), &name.namespace);
    if with_read_timeout(services.get_opt(&name.name)).await?.is_none() {
        return Ok(None);
    }
    let slices: Api<EndpointSlice> = Api::namespaced(client.clone(), &name.namespace);
    let of_service = ListParams::default().labels(&format!("kubernetes.io/service-name={}", name.name));
    let slices = with_read_timeout(slices.list(&of_service)).await?.items;
    let ports = slices.iter().flat_map(|slice| slice.ports.iter().flatten()).filter_map(|port| port.port);
    let mut ports: Vec<u16> = ports.filter_map(|port| u16::try_from(port).ok()).collect();
    ports.sort_unstable();
    ports.dedup();
    // An optional list from Kubernetes 1.37 on.
    let endpoints = slices.into_iter().filter_map(|slice| Option::<Vec<Endpoint>>::from(slice.endpoints)).flatten();
    let is_ready = |ready: Option<bool>| ready.unwrap_or(true);
    let count = endpoints.filter(|endpoint| is_ready(endpoint.conditions.as_ref().and_then(|it| it.ready))).count();
    Ok(Some(ReadyPods { count, ports }))
}

/// Why the way can't be tried; `None` where it can.
fn unprovable(service: &ServiceName, port: u16, pods: Option<&ReadyPods>) -> Option<PreflightResult> {
    let Some(ReadyPods { count, ports }) = pods else {
        return Some(CHECK.not_provable_yet(format!(
            "there is no Service {service} yet: run this again after the upgrade; the API server has to reach port \
             {port} of the Pods"
        )));
    };
    if *count == 0 {
        return Some(CHECK.not_provable_yet(format!("no Pod behind the Service {service} is ready")));
    }
    if !ports.is_empty() && !ports.contains(&port) {
        let ports: Vec<_> = ports.iter().map(u16::to_string).collect();
        return Some(CHECK.not_provable_yet(format!(
            "the Pods behind the Service {service} listen on port {} now, and on {port} after the upgrade: run this \
             again then",
            ports.join(", ")
        )));
    }
    None
}

async fn ask(client: &Client, ServiceName { namespace, name }: &ServiceName) -> ProxyOutcome {
    // Any path will do: whatever a Pod answers, it was reached.
    let path = format!("/api/v1/namespaces/{namespace}/services/https:{name}:{PORT}/proxy/healthz");
    let request = match Request::get(path).body(Vec::new()) {
        Ok(request) => request,
        Err(why) => return ProxyOutcome::NotAsked(why.to_string()),
    };
    let answered = async {
        let response = client.send(request.map(Into::into)).await?;
        let status = response.status();
        let body = Limited::new(response.into_body(), LONGEST).collect().await;
        Ok((status, body.map(|body| body.to_bytes().to_vec()).unwrap_or_default()))
    };
    match with_timeout(TIMEOUT, answered).await {
        Ok((status, body)) => outcome(status, &body),
        Err(RequestError::TimedOut(_)) => ProxyOutcome::NotReached(format!("no answer within {} s", TIMEOUT.as_secs())),
        Err(why) => ProxyOutcome::NotAsked(why.to_string()),
    }
}

/// What an answer says, which may be the API server's own. That it reached no Pod it says in 503, and by 504 that it gave
/// up; that it didn't try, in everything else of its own.
fn outcome(status: StatusCode, body: &[u8]) -> ProxyOutcome {
    let (message, about) = match serde_json::from_slice::<Status>(body) {
        Ok(Status { message, details, .. }) => (message, details.map(|details| details.kind).unwrap_or_default()),
        Err(_) => (String::new(), String::new()),
    };
    let tried = message.contains(NOT_REACHED) || status == StatusCode::GATEWAY_TIMEOUT;
    let said = match message.trim_end() {
        "" => format!("the API server answers {}", status.as_u16()),
        message => message.to_owned(),
    };
    match status {
        StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT if tried => ProxyOutcome::NotReached(said),
        StatusCode::UNAUTHORIZED
        | StatusCode::FORBIDDEN
        | StatusCode::BAD_GATEWAY
        | StatusCode::SERVICE_UNAVAILABLE
        | StatusCode::GATEWAY_TIMEOUT => ProxyOutcome::NotAsked(said),
        StatusCode::NOT_FOUND if ["endpoints", "services"].contains(&about.as_str()) => ProxyOutcome::NotAsked(said),
        _ => ProxyOutcome::Answered,
    }
}

fn judge(service: &ServiceName, port: u16, outcome: &ProxyOutcome) -> PreflightResult {
    match outcome {
        ProxyOutcome::Answered => CHECK.ok(format!("the API server reaches port {port} of the Pods behind {service}")),
        ProxyOutcome::NotReached(why) => CHECK.failed(format!(
            "the API server doesn't reach the ready Pods behind {service}: {why}; open port {port} between API servers \
             and Pods in every NetworkPolicy and firewall, or set webhook.port to one that they let through"
        )),
        ProxyOutcome::NotAsked(why) => {
            CHECK.not_provable_yet(format!("the proxy for the Service {service} can't be asked: {why}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::PreflightState;
    use super::*;

    fn otter() -> ServiceName {
        ServiceName { namespace: "zoo".into(), name: "otter".into() }
    }

    fn pods(count: usize, ports: &[u16]) -> ReadyPods {
        ReadyPods { count, ports: ports.to_vec() }
    }

    fn answer(status: u16, message: &str) -> PreflightResult {
        let body = serde_json::json!({"kind": "Status", "apiVersion": "v1", "message": message}).to_string();
        judge(&otter(), 9443, &outcome(StatusCode::from_u16(status).unwrap(), body.as_bytes()))
    }

    #[test]
    fn nothing_is_provable_without_a_service_a_ready_pod_and_the_port_of_the_upgrade() {
        for (pods, text) in [
            (None, "there is no Service zoo/otter yet"),
            (Some(pods(0, &[])), "no Pod behind the Service zoo/otter is ready"),
            (Some(pods(2, &[9443])), "listen on port 9443 now, and on 10250 after the upgrade"),
        ] {
            let result = unprovable(&otter(), 10250, pods.as_ref()).unwrap();
            assert_eq!(result.state, PreflightState::NotProvableYet);
            assert!(result.text.contains(text), "{result}");
        }
        assert_eq!(unprovable(&otter(), 9443, Some(&pods(1, &[9443]))), None);
        assert_eq!(unprovable(&otter(), 9443, Some(&pods(1, &[]))), None, "a slice need not name ports");
    }

    #[test]
    fn whatever_a_pod_answers_shows_that_it_is_reached() {
        for status in [200, 400, 404, 405, 500] {
            assert_eq!(answer(status, "no webhook").state, PreflightState::Ok, "{status}");
        }
    }

    #[test]
    fn a_pod_that_is_not_reached_is_a_failure_that_names_port_policies_and_firewalls() {
        let why = "error trying to reach service: dial tcp 10.0.0.7:9443: connect: connection refused";
        for result in [answer(503, why), judge(&otter(), 9443, &ProxyOutcome::NotReached(why.into()))] {
            assert_eq!(result.state, PreflightState::Failed);
            assert_eq!(
                result.text,
                format!(
                    "the API server doesn't reach the ready Pods behind zoo/otter: {why}; open port 9443 between API \
                     servers and Pods in every NetworkPolicy and firewall, or set webhook.port to one that they let \
                     through"
                )
            );
        }
    }

    #[test]
    fn a_request_that_got_no_further_than_the_api_server_proves_nothing() {
        for (status, message) in [
            (403, "services \"https:otter:443\" is forbidden"),
            (503, "no endpoints available for service \"otter\""),
            (502, ""),
        ] {
            let result = answer(status, message);
            assert_eq!(result.state, PreflightState::NotProvableYet, "{result}");
            assert!(result.text.contains(message), "{result}");
        }
    }

    #[test]
    fn the_api_server_that_finds_no_endpoints_is_no_pod() {
        let said = |kind: &str| {
            let details = serde_json::json!({"kind": kind, "name": "otter"});
            let body = serde_json::json!({"kind": "Status", "message": "not found", "details": details}).to_string();
            outcome(StatusCode::NOT_FOUND, body.as_bytes())
        };
        assert_eq!(said("endpoints"), ProxyOutcome::NotAsked("not found".into()));
        assert_eq!(said("otters"), ProxyOutcome::Answered);
    }

    #[test]
    fn an_api_server_that_gives_up_has_reached_no_pod() {
        let given_up = ProxyOutcome::NotReached("the API server answers 504".into());
        assert_eq!(outcome(StatusCode::GATEWAY_TIMEOUT, b"<html>"), given_up);
    }
}
