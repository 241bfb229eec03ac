//! The certificates of a release, and who trusts them.

use std::time::Duration;

use anyhow::Context;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use gateward_testbed::until;
use serde_json::Value;

use super::Release;

/// The CRDs that are converted.
pub const CONVERTED: [&str; 4] = [
    "dynamocomponentdeployments",
    "dynamographdeploymentrequests",
    "dynamographdeployments",
    "dynamographdeploymentscalingadapters",
];
/// The Secret of the server's certificate, unless a value says otherwise.
pub const SERVING_SECRET: &str = "webhook-server-cert";
/// The Secret of its CA.
pub const CA_SECRET: &str = "webhook-server-cert-ca";

/// A `clientConfig` that has a caBundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    /// The path of its object.
    pub object: String,
    /// The JSON pointer of the `clientConfig` in it.
    pub place: String,
    /// The certificates, as PEM; empty where nothing is carried.
    pub pem: String,
}

impl Bundle {
    /// How many certificates it holds.
    pub fn certificates(&self) -> usize {
        self.pem.matches("-----BEGIN CERTIFICATE-----").count()
    }
}

impl Release {
    /// Where its two webhook configurations are.
    pub fn configurations(&self) -> [String; 2] {
        ["validating", "mutating"].map(|kind| {
            format!("/apis/admissionregistration.k8s.io/v1/{kind}webhookconfigurations/{}-{kind}", self.name())
        })
    }

    /// What each webhook and each conversion trusts.
    pub async fn bundles(&self) -> anyhow::Result<Vec<Bundle>> {
        let mut bundles = Vec::new();
        for object in self.configurations() {
            let configuration = self.bed.client().get(&object).await?.granted()?;
            for number in 0..configuration["webhooks"].as_array().map_or(0, Vec::len) {
                let place = format!("/webhooks/{number}/clientConfig");
                bundles.push(Bundle { pem: pem(&configuration, &place), object: object.clone(), place });
            }
        }
        for plural in CONVERTED {
            let object = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{plural}.nvidia.com");
            let place = "/spec/conversion/webhook/clientConfig".to_owned();
            let pem = pem(&self.bed.client().get(&object).await?.granted()?, &place);
            bundles.push(Bundle { object, place, pem });
        }
        Ok(bundles)
    }

    /// Where one of its Secrets is.
    pub fn secret(&self, name: &str) -> String {
        format!("/api/v1/namespaces/{}/secrets/{name}", self.namespace())
    }

    /// Deletes one of its Secrets.
    pub async fn delete_secret(&self, name: &str) -> anyhow::Result<()> {
        self.bed.client().delete(&self.secret(name)).await?.granted().map(drop)
    }

    /// The certificate in one of its Secrets, as PEM; `None` where there is none.
    pub async fn certificate(&self, secret: &str) -> anyhow::Result<Option<String>> {
        self.field(secret, "tls.crt").await
    }

    /// The CAs that its serving Secret names, as PEM; `None` where there is no Secret.
    pub async fn ca_crt(&self) -> anyhow::Result<Option<String>> {
        self.field(SERVING_SECRET, "ca.crt").await
    }

    async fn field(&self, secret: &str, field: &str) -> anyhow::Result<Option<String>> {
        let answer = self.bed.client().get(&self.secret(secret)).await?;
        if answer.status.as_u16() == 404 {
            return Ok(None);
        }
        let secret = answer.granted()?;
        let data = secret["data"][field].as_str().with_context(|| format!("a Secret without {field}"))?;
        Ok(Some(decoded(data)))
    }

    /// Waits until a Secret holds another certificate than before, and gives it.
    pub async fn another_certificate(&self, secret: &str, before: &str, within: Duration) -> String {
        let mut now = None;
        let time = until(&format!("another certificate in {secret}"), within, async || {
            now = self.certificate(secret).await.unwrap().filter(|certificate| certificate != before);
            now.is_some()
        })
        .await;
        println!("another certificate in {secret} after {time:.1?}");
        now.unwrap()
    }

    /// Waits until another CA than before is trusted, and no other.
    pub async fn rotated(&self, before: &str, within: Duration) {
        let time = until("the end of the rotation", within, async || {
            let Some(ca) = self.certificate(CA_SECRET).await.unwrap() else { return false };
            ca != before && !self.is_rotating().await.unwrap() && self.is_trusted_alone(&ca).await
        })
        .await;
        println!("a new CA is trusted alone after {time:.1?}");
    }

    /// Whether every object trusts this CA, and no other.
    pub async fn is_trusted_alone(&self, ca: &str) -> bool {
        self.bundles().await.unwrap().iter().all(|bundle| bundle.pem.trim() == ca.trim())
    }

    /// Whether a CA rotation is under way.
    pub async fn is_rotating(&self) -> anyhow::Result<bool> {
        let secret = self.bed.client().get(&self.secret(CA_SECRET)).await?.granted()?;
        let annotations = &secret["metadata"]["annotations"];
        Ok(["gateward.dev/ca-rotation", "gateward.dev/rotate-ca"].iter().any(|name| annotations[name].is_string()))
    }
}

fn pem(object: &Value, place: &str) -> String {
    object.pointer(place).and_then(|config| config["caBundle"].as_str()).map(decoded).unwrap_or_default()
}

fn decoded(text: &str) -> String {
    String::from_utf8_lossy(&STANDARD.decode(text).unwrap_or_default()).into_owned()
}
