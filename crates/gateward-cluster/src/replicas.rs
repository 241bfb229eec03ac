//! Lists the replicas and probes which certificate each of them serves.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::future::join_all;
use gateward_certs::rotation::Replica;
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::ListParams;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::config::ControllerConfig;
use crate::connection::Connection;
use crate::request::{RequestError, with_read_timeout};

/// How long the TLS handshake with a replica may take.
const TIMEOUT: Duration = Duration::from_secs(2);
/// For how long after its grace period a terminating Pod may still get requests. After that, its node is lost.
const GRACE: Duration = Duration::from_secs(30);

/// Lists replicas and probes their certificates.
#[derive(Clone)]
pub(crate) struct Replicas {
    pods: Api<Pod>,
    selector: String,
    port: u16,
    /// The server name (SNI) of the probe.
    name: ServerName<'static>,
    connector: TlsConnector,
}

/// A Pod that requests may reach, now or soon.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Reachable {
    name: String,
    address: IpAddr,
    gets_requests: bool,
}

impl Replicas {
    pub(crate) fn new(connection: &Connection, config: &ControllerConfig) -> Result<Self, rustls::Error> {
        let selector: Vec<_> = config.replicas.labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let names = config.certificates.names.iter();
        let unnamed = || ServerName::IpAddress(IpAddr::from([127, 0, 0, 1]).into());
        Ok(Self {
            pods: Api::namespaced(connection.client(), &config.namespace),
            selector: selector.join(","),
            port: config.replicas.port,
            name: names.into_iter().next().cloned().unwrap_or_else(unnamed),
            connector: TlsConnector::from(Arc::new(client_config()?)),
        })
    }

    /// All replicas, each with the certificate that it serves. `now` is the API server's time.
    pub(crate) async fn read(&self, now: SystemTime) -> Result<Vec<Replica>, RequestError> {
        let pods = with_read_timeout(self.pods.list(&ListParams::default().labels(&self.selector))).await?;
        let reachable = pods.items.iter().filter_map(|pod| reachable(pod, now));
        Ok(join_all(reachable.map(|pod| self.probe(pod))).await)
    }

    async fn probe(&self, Reachable { name, address, gets_requests }: Reachable) -> Replica {
        let answer = tokio::time::timeout(TIMEOUT, self.chain(SocketAddr::new(address, self.port))).await;
        let mut chain = answer.ok().and_then(Result::ok).unwrap_or_default().into_iter();
        Replica { name, gets_requests, served: chain.next(), intermediates: chain.collect() }
    }

    async fn chain(&self, address: SocketAddr) -> std::io::Result<Vec<CertificateDer<'static>>> {
        let socket = TcpStream::connect(address).await?;
        let stream = self.connector.connect(self.name.clone(), socket).await?;
        let shown = stream.get_ref().1.peer_certificates();
        Ok(shown.unwrap_or_default().iter().cloned().map(CertificateDer::into_owned).collect())
    }
}

/// A Pod as far as requests may reach it.
fn reachable(pod: &Pod, now: SystemTime) -> Option<Reachable> {
    let status = pod.status.as_ref()?;
    if matches!(status.phase.as_deref(), Some("Succeeded" | "Failed")) {
        return None;
    }
    let address = status.pod_ip.as_ref()?.parse().ok()?;
    let mut conditions = status.conditions.iter().flatten();
    let ready = conditions.any(|condition| condition.type_ == "Ready" && condition.status == "True");
    // The end of its grace period.
    let end = pod.metadata.deletion_timestamp.as_ref().map(|end| SystemTime::from(end.0));
    let ends = end.is_some_and(|end| now < end + GRACE);
    Some(Reachable { name: pod.metadata.name.clone()?, address, gets_requests: ready || ends })
}

fn client_config() -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions()?;
    let verifier = Arc::new(TakesAnyCertificate(provider));
    let mut config = builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth();
    // A resumed session would hide a new certificate.
    config.resumption = rustls::client::Resumption::disabled();
    Ok(config)
}

/// Accepts any certificate whose key the server has: the probe sends nothing, and the certificate is verified later.
#[derive(Debug)]
struct TakesAnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for TakesAnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn now() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_hours(500_000)
    }

    fn seen(metadata: &Value, status: &Value) -> Option<bool> {
        let mut pod = json!({"metadata": metadata, "status": status});
        pod["metadata"]["name"] = "otter-1".into();
        reachable(&serde_json::from_value(pod).unwrap(), now()).map(|pod| pod.gets_requests)
    }

    fn status(ready: &str) -> Value {
        json!({"phase": "Running", "podIP": "10.0.0.1", "conditions": [{"type": "Ready", "status": ready}]})
    }

    #[test]
    fn a_ready_pod_gets_requests_and_one_that_starts_does_not_yet() {
        assert_eq!(seen(&json!({}), &status("True")), Some(true));
        assert_eq!(seen(&json!({}), &status("False")), Some(false));
        assert_eq!(seen(&json!({}), &json!({"phase": "Pending", "podIP": "10.0.0.1"})), Some(false));
    }

    #[test]
    fn a_pod_that_ends_may_still_get_requests_unless_it_was_to_be_gone_long_ago() {
        let ends = |when: &str| seen(&json!({"deletionTimestamp": when}), &status("False"));
        assert_eq!(ends("2027-01-15T08:00:30Z"), Some(true));
        assert_eq!(ends("2027-01-15T07:59:31Z"), Some(true));
        assert_eq!(ends("2027-01-15T07:59:29Z"), Some(false));
    }

    #[test]
    fn a_pod_that_has_ended_or_has_no_address_is_passed_over() {
        assert_eq!(seen(&json!({}), &json!({"phase": "Failed", "podIP": "10.0.0.1"})), None);
        assert_eq!(seen(&json!({}), &json!({"phase": "Pending"})), None);
    }
}
