//! The readiness and metrics pages of a server in a cluster.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cluster_tests::{ADMIN, Load, Sandbox, Test, tests, until};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::installation::installation;
use crate::release::{NAMESPACE, SERVICE};

pub fn tests() -> Vec<Test> {
    tests![
        metrics_are_shown_over_tls_to_those_who_may_read_them,
        a_second_set_of_webhooks_for_our_kinds_is_told,
        h4_connections_that_rest_at_every_port_hide_no_page,
    ]
}

async fn metrics_are_shown_over_tls_to_those_who_may_read_them(sandbox: Sandbox) {
    assert_eq!(metrics(&sandbox, None).await.0, 401);
    assert_eq!(metrics(&sandbox, Some("made-up")).await.0, 401);
    let (status, page) = metrics(&sandbox, Some(ADMIN)).await;
    assert_eq!(status, 200);
    for line in [
        "dynamo_operator_webhook_requests_total{resource_type=\"DynamoGraphDeployment\",operation=\"CREATE\",",
        "gateward_leader 1",
        "gateward_ca_injection_targets{state=\"lacking\"} 0",
        "gateward_certificate_expiry_timestamp_seconds{certificate=\"leaf\"}",
    ] {
        assert!(page.contains(line), "{line} is not in\n{page}");
    }
}

async fn a_second_set_of_webhooks_for_our_kinds_is_told(sandbox: Sandbox) {
    let (kind, name) = ("validatingwebhookconfigurations", "another-operator");
    let rule = json!({
        "apiGroups": ["nvidia.com"], "apiVersions": ["v1beta1"], "operations": ["CREATE"],
        "resources": ["dynamographdeployments"],
    });
    let webhook = json!({
        "name": "graphs.another.example", "admissionReviewVersions": ["v1"], "sideEffects": "None", "rules": [rule],
        "failurePolicy": "Ignore", "clientConfig": {"service": {"namespace": "elsewhere", "name": "judge"}},
        "timeoutSeconds": 1,
    });
    let configuration = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": name}, "webhooks": [webhook],
    });
    let place = format!("/apis/admissionregistration.k8s.io/v1/{kind}");
    let (client, replica) = (sandbox.bed().client(), &installation().replica);
    let ready = async || replica.page("/readyz").is_some_and(|(status, _)| status == 200);
    until("the replica is ready", Duration::from_mins(2), ready).await;
    client.post(&place, &configuration).await.unwrap().granted().unwrap();
    until("the conflict is reported", Duration::from_mins(2), async || {
        replica.page("/readyz").is_some_and(|(status, page)| {
            assert_eq!(status, 200, "a conflict is no fault of the pod");
            page.contains("[!]conflicts: ") && page.contains("another-operator")
        })
    })
    .await;
    let (_, page) = metrics(&sandbox, Some(ADMIN)).await;
    assert!(
        page.contains(
            "gateward_rival_configuration{configuration=\"ValidatingWebhookConfiguration another-operator\"} 1"
        )
    );
    assert!(replica.log().contains("another-operator"));
    client.delete(&format!("{place}/{name}")).await.unwrap().granted().unwrap();
    until("the conflict is gone", Duration::from_mins(2), async || {
        replica.page("/readyz?verbose").is_some_and(|(_, page)| !page.contains("[!]conflicts"))
    })
    .await;
}

/// Each port, and more connections than it has room for.
const RESTING: [(u16, usize); 3] = [(8080, 100), (8081, 100), (9443, 600)];

async fn h4_connections_that_rest_at_every_port_hide_no_page(sandbox: Sandbox) {
    let replica = &installation().replica;
    replica.becomes_ready().await;
    let tally = Load::during(&sandbox, async |_| {
        let mut resting = Vec::new();
        for (port, count) in RESTING {
            for _ in 0..count {
                resting.push(TcpStream::connect((replica.ip, port)).await.unwrap());
            }
            for _ in 0..5 {
                for page in ["/healthz", "/readyz"] {
                    assert_eq!(replica.page(page).map(|(status, _)| status), Some(200), "{page}");
                }
                assert_eq!(metrics(&sandbox, Some(ADMIN)).await.0, 200);
            }
        }
    })
    .await;
    tally.assert_no_failures();
    let (_, page) = metrics(&sandbox, Some(ADMIN)).await;
    for port in ["webhooks", "health", "metrics"] {
        let counted = format!("dynamo_operator_webhook_connections_evicted_total{{port=\"{port}\"}} ");
        let line = page.lines().find_map(|line| line.strip_prefix(&counted)).unwrap();
        assert!(line.trim().parse::<f64>().unwrap() >= 1.0, "{port}: {line}");
    }
}

/// The page of metrics as somebody sees it who shows a token.
async fn metrics(sandbox: &Sandbox, token: Option<&str>) -> (u16, String) {
    let secret = format!("/api/v1/namespaces/{NAMESPACE}/secrets/webhook-server-cert");
    let secret = sandbox.bed().client().get(&secret).await.unwrap().granted().unwrap();
    let ca = STANDARD.decode(secret["data"]["ca.crt"].as_str().unwrap()).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(&ca).unwrap()).unwrap();
    let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    let socket = TcpStream::connect((installation().replica.ip, 8080)).await.unwrap();
    let name = format!("{SERVICE}.{NAMESPACE}.svc").try_into().unwrap();
    let mut stream = TlsConnector::from(Arc::new(config)).connect(name, socket).await.unwrap();
    let token = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
    let request = format!("GET /metrics HTTP/1.1\r\nHost: otter\r\n{token}Connection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    // Some servers end TLS without a farewell.
    let _ = stream.read_to_string(&mut answer).await;
    (answer[9..12].parse().unwrap(), answer)
}
