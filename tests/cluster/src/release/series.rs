//! What the Pods of a release measure.

use std::net::Ipv4Addr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Context;
use gateward_certs::CaBundle;
use gateward_testbed::{ADMIN, until};

use super::{Release, SERVING_SECRET};

const EXPIRY: &str = "gateward_certificate_expiry_timestamp_seconds";

impl Release {
    /// Waits until each of its Pods shows a series with this value.
    pub async fn measures(&self, series: &str, value: u64) {
        let line = format!("{series} {value}");
        until(&format!("each pod shows {line}"), Duration::from_mins(3), async || {
            let pages = self.pages().await.unwrap_or_default();
            !pages.is_empty() && pages.iter().all(|page| page.lines().any(|shown| shown == line))
        })
        .await;
    }

    /// Waits until each of its Pods measures the expiry of the certificate and of the CAs in its serving Secret.
    pub async fn measures_expiry(&self) {
        let certificate = self.certificate(SERVING_SECRET).await.unwrap().unwrap();
        let chain = CaBundle::parse(certificate.as_bytes()).unwrap();
        let leaf = chain.iter().next().unwrap().validity().not_after();
        let cas = CaBundle::parse(self.ca_crt().await.unwrap().unwrap().as_bytes()).unwrap();
        let ca = cas.iter().map(|ca| ca.validity().not_after()).max().unwrap();
        for (name, end) in [("leaf", leaf), ("ca", ca)] {
            self.measures(&format!("{EXPIRY}{{certificate=\"{name}\"}}"), seconds(end)).await;
        }
    }

    /// The metrics of each of its Pods.
    async fn pages(&self) -> anyhow::Result<Vec<String>> {
        let mut pages = Vec::new();
        for pod in self.pods().await?.iter().filter(|pod| pod["metadata"]["deletionTimestamp"].is_null()) {
            let address: Ipv4Addr = pod["status"]["podIP"].as_str().context("a Pod without an address")?.parse()?;
            let answer = self.metrics(address, ADMIN).await?;
            anyhow::ensure!(answer.status.is_success(), "{}", answer.body);
            pages.push(answer.body.as_str().context("no text")?.to_owned());
        }
        Ok(pages)
    }
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}
