//! What the operator's own commands and its look-ups do in a cluster: CRDs applied, objects left behind, rights asked.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod access;
mod account;
mod command;
mod crds;
mod definition;
mod reader;
mod subresources;
mod uninstall;

use std::process::ExitCode;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cluster_tests::{Bed, Webhooks, run_in_turn};
use serde_json::json;

fn main() -> ExitCode {
    let tests = [crds::tests(), uninstall::tests(), reader::tests(), access::tests(), subresources::tests()]
        .into_iter()
        .flatten()
        .collect();
    run_in_turn(tests, async |bed| {
        make_ca(&bed).await?;
        Webhooks::serve(&bed).await
    })
}

/// The Secret of a release's CA, as its pods make it.
async fn make_ca(bed: &Bed) -> anyhow::Result<()> {
    let namespace = json!({"metadata": {"name": command::NAMESPACE}});
    bed.client().post("/api/v1/namespaces", &namespace).await?.granted()?;
    let data = json!({"tls.crt": STANDARD.encode(std::fs::read(bed.folder().join("ca.crt"))?)});
    let secret = json!({"metadata": {"name": "webhook-server-cert-ca"}, "data": data});
    let secrets = format!("/api/v1/namespaces/{}/secrets", command::NAMESPACE);
    bed.client().post(&secrets, &secret).await?.granted().map(drop)
}
