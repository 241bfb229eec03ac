//! Whether the certificates of the chosen mode are there, or what makes them is.

use std::collections::BTreeMap;
use std::time::SystemTime;

use gateward_certs::secret::CA_CRT;
use gateward_certs::{CaBundle, ChainFault, ChainRules, IssuerRef, Provision, chain_faults};
use k8s_openapi::api::core::v1::Secret;
use kube::api::{ApiResource, DynamicObject, GroupVersionKind};
use kube::{Api, Client};
use serde_json::Value;

use super::check::{PreflightCheck, PreflightResult};
use super::planned_release::PlannedRelease;
use crate::config::ControllerConfig;
use crate::connection::Connection;
use crate::inspect::certificate_name;
use crate::request::{RequestError, with_read_timeout};
use crate::secrets::{ManagedSecret, SecretStore, data, trusted};

const CHECK: PreflightCheck = PreflightCheck::Certificates;
const CERT_MANAGER: &str = "cert-manager.io";
const VERSION: &str = "v1";
/// The label that names the release of an object:
/// <https://kubernetes.io/docs/concepts/overview/working-with-objects/common-labels/>.
const INSTANCE: &str = "app.kubernetes.io/instance";

/// What is there of cert-manager.
#[derive(Debug, Clone, PartialEq)]
struct CertManager {
    /// Whether its API is served.
    api: Result<Served, String>,
    /// The chosen issuer; the chart makes its own where there is none.
    issuer: Option<(IssuerRef, Result<Issuer, String>)>,
}

/// Whether an API is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Served {
    Yes,
    No,
}

/// What there is of an issuer.
#[derive(Debug, Clone, PartialEq)]
enum Issuer {
    Absent,
    /// One of cert-manager's own kinds.
    Found(Value),
    /// One of another group, of which only the group is looked up.
    Foreign(Served),
}

pub(super) async fn check(connection: &Connection, planned: &PlannedRelease) -> Vec<PreflightResult> {
    let config = &planned.config;
    let serving = SecretStore::new(connection, config).read(ManagedSecret::Serving).await;
    let serving = serving.map_err(|why| why.to_string());
    let secret = judge_secret(config, &serving, connection.now());
    if !matches!(config.provision, Provision::CertManager { .. }) {
        return secret;
    }
    let found = look_up(&connection.client(), config, planned.issuer.as_ref()).await;
    judge_cert_manager(&found).into_iter().chain(secret).collect()
}

async fn look_up(client: &Client, config: &ControllerConfig, issuer: Option<&IssuerRef>) -> CertManager {
    let api = with_read_timeout(client.list_api_group_resources(&format!("{CERT_MANAGER}/{VERSION}"))).await;
    let api = absent_if_404(api.map(|_| Served::Yes), Served::No);
    let issuer = match issuer {
        None => None,
        Some(issuer) => Some((issuer.clone(), look_up_issuer(client, config, issuer).await)),
    };
    CertManager { api, issuer }
}

async fn look_up_issuer(client: &Client, config: &ControllerConfig, issuer: &IssuerRef) -> Result<Issuer, String> {
    if issuer.group != CERT_MANAGER {
        let groups = with_read_timeout(client.list_api_groups()).await.map_err(|why| why.to_string())?;
        let served = groups.groups.iter().any(|group| group.name == issuer.group);
        return Ok(Issuer::Foreign(if served { Served::Yes } else { Served::No }));
    }
    let (kind, plural) = match issuer.kind.as_str() {
        "Issuer" => ("Issuer", "issuers"),
        "ClusterIssuer" => ("ClusterIssuer", "clusterissuers"),
        _ => return Ok(Issuer::Absent),
    };
    let resource = ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(CERT_MANAGER, VERSION, kind), plural);
    let api: Api<DynamicObject> = match kind {
        "Issuer" => Api::namespaced_with(client.clone(), &config.namespace, &resource),
        _ => Api::all_with(client.clone(), &resource),
    };
    let found = with_read_timeout(api.get(&issuer.name)).await;
    absent_if_404(found.map(|issuer| Issuer::Found(issuer.data)), Issuer::Absent)
}

fn absent_if_404<T>(answer: Result<T, RequestError>, absent: T) -> Result<T, String> {
    match answer {
        Err(why) if why.code() == Some(404) => Ok(absent),
        answer => answer.map_err(|why| why.to_string()),
    }
}

fn judge_cert_manager(CertManager { api, issuer }: &CertManager) -> Vec<PreflightResult> {
    let api = match api {
        Ok(Served::Yes) => CHECK.ok(format!("the cluster serves {CERT_MANAGER}/{VERSION}")),
        Ok(Served::No) => CHECK.failed(format!(
            "the cluster doesn't serve {CERT_MANAGER}/{VERSION}: install cert-manager first, with its CRDs"
        )),
        Err(why) => CHECK.not_provable_yet(format!("whether {CERT_MANAGER}/{VERSION} is served can't be read: {why}")),
    };
    let issuer = issuer.iter().map(|(issuer, found)| judge_issuer(issuer, found));
    [api].into_iter().chain(issuer).collect()
}

fn judge_issuer(issuer: &IssuerRef, found: &Result<Issuer, String>) -> PreflightResult {
    let group = &issuer.group;
    match found {
        Err(why) => CHECK.not_provable_yet(format!("{issuer} can't be read: {why}")),
        Ok(Issuer::Absent) => {
            CHECK.failed(format!("{issuer} is not there: create it, or correct webhook.certManager.issuerRef"))
        }
        Ok(Issuer::Foreign(Served::No)) => {
            CHECK.failed(format!("the cluster doesn't serve the API group {group} of {issuer}: install what serves it"))
        }
        Ok(Issuer::Foreign(Served::Yes)) => CHECK.not_provable_yet(format!(
            "the cluster serves the API group {group}; whether {issuer} is ready is not looked up"
        )),
        Ok(Issuer::Found(object)) => match readiness(object) {
            (Some("True"), _) => CHECK.ok(format!("{issuer} is ready")),
            (Some("False"), message) => CHECK.failed(format!("{issuer} is not ready: {message}")),
            _ => CHECK.not_provable_yet(format!("{issuer} doesn't say yet whether it is ready")),
        },
    }
}

/// The status and the message of the condition `Ready`.
fn readiness(object: &Value) -> (Option<&str>, &str) {
    let conditions = object.pointer("/status/conditions").and_then(Value::as_array);
    let ready = conditions.into_iter().flatten().find(|condition| condition["type"] == "Ready");
    let text = |member| ready.and_then(|ready| ready[member].as_str());
    (text("status"), text("message").unwrap_or("it gives no reason"))
}

/// Judges the serving Secret by who is to write it.
fn judge_secret(
    config: &ControllerConfig,
    serving: &Result<Option<Secret>, String>,
    now: SystemTime,
) -> Vec<PreflightResult> {
    let name = config.spec().serving_secret;
    let serving = match serving {
        Ok(serving) => serving.as_ref(),
        Err(why) => return vec![CHECK.not_provable_yet(format!("Secret {name} can't be read: {why}"))],
    };
    match &config.provision {
        Provision::Automatic => vec![automatic(config, &name, serving)],
        Provision::CertManager { ca_bundle, .. } => vec![by_cert_manager(config, serving, ca_bundle, now)],
        Provision::External { ca_bundle } => external(config, serving, ca_bundle, now),
    }
}

fn automatic(config: &ControllerConfig, name: &str, serving: Option<&Secret>) -> PreflightResult {
    let Some(serving) = serving else {
        return CHECK.ok(format!("nothing is to be done: the leader makes Secret {name} and its CA"));
    };
    if let Some(certificate) = certificate_name(serving) {
        return CHECK.failed(format!(
            "cert-manager writes Secret {name}, for its Certificate {certificate}: name another for the leader by \
             webhook.certificateSecret.name, or choose webhook.certManager.enabled"
        ));
    }
    if serving.immutable == Some(true) {
        return CHECK.failed(format!("Secret {name} is immutable: delete it, and the leader makes another"));
    }
    let instance = |labels: &BTreeMap<String, String>| labels.get(INSTANCE).cloned();
    let other = serving.metadata.labels.as_ref().and_then(instance);
    if let (Some(other), Some(ours)) = (other, instance(&config.secrets.labels))
        && other != ours
    {
        return CHECK.not_provable_yet(format!(
            "Secret {name} was made for the release {other}. Where that is still there, each of the two would write its own \
             certificate into it: name another by webhook.certificateSecret.name. Where it isn't, the leader takes it over"
        ));
    }
    CHECK.ok(format!("Secret {name} is there: the leader keeps what is valid in it, and replaces the rest"))
}

fn by_cert_manager(
    config: &ControllerConfig,
    serving: Option<&Secret>,
    ca_bundle: &CaBundle,
    now: SystemTime,
) -> PreflightResult {
    let name = config.spec().serving_secret;
    let Some(serving) = serving else {
        return CHECK.not_provable_yet(format!("cert-manager makes Secret {name} for the Certificate of the chart"));
    };
    if certificate_name(serving).is_none() {
        return CHECK.failed(format!(
            "another than cert-manager writes Secret {name}: name one for cert-manager by webhook.certificateSecret.name, \
             so that no two write the same"
        ));
    }
    let ca_crt = data(serving);
    let (named, _) = CaBundle::parse_lossy(ca_crt.field(CA_CRT).unwrap_or_default());
    match faults(config, Some(serving), &named.merged(ca_bundle), now).first() {
        None => CHECK.ok(format!("the certificate in Secret {name} is valid")),
        Some(fault) => CHECK.not_provable_yet(format!("{fault}; cert-manager may issue another for the chart")),
    }
}

fn external(
    config: &ControllerConfig,
    serving: Option<&Secret>,
    ca_bundle: &CaBundle,
    now: SystemTime,
) -> Vec<PreflightResult> {
    let mut failures = Vec::new();
    if ca_bundle.is_empty() {
        failures.push(CHECK.failed(
            "webhook.caBundle is empty, so that API servers could not verify the certificate: set it to what `base64 \
             -w0 < ca.crt` prints",
        ));
    }
    let roots = trusted(&config.provision, None, serving);
    failures.extend(faults(config, serving, &roots, now).iter().map(|fault| CHECK.failed(fault.to_string())));
    if failures.is_empty() {
        let name = config.spec().serving_secret;
        failures.push(CHECK.ok(format!("the certificate in Secret {name} is valid, and webhook.caBundle verifies it")));
    }
    failures
}

fn faults(config: &ControllerConfig, serving: Option<&Secret>, roots: &CaBundle, now: SystemTime) -> Vec<ChainFault> {
    let spec = config.spec();
    let rules = ChainRules { secret: &spec.serving_secret, name: spec.names.first(), trusted: roots, now };
    chain_faults(serving.map(data).as_ref(), &rules)
}

#[cfg(test)]
mod tests;
