//! The server's Secret as releases of the Go operator have left it: with the CA's key, or without.

use std::time::SystemTime;

use gateward_certs::{Ca, CommonName, IssuedCertificate, SystemKeys, TEN_YEARS, Validity};
use serde_json::{Value, json};

use crate::setup::{CA_SECRET, SERVING_SECRET};
use crate::zoo::{Zoo, base64, fields};

pub struct LegacySecret {
    ca: Ca,
    leaf: IssuedCertificate,
}

impl LegacySecret {
    /// Makes the server's Secret with the CA's key, and no other Secret.
    pub async fn filled(zoo: &Zoo) -> Self {
        Self::written(zoo, "kubernetes.io/tls", |ca| json!({"ca.key": base64(&ca.private_key_pem())})).await
    }

    /// Makes it as a job of a Helm hook did, which discarded the CA's key.
    pub async fn without_key(zoo: &Zoo) -> Self {
        Self::written(zoo, "Opaque", |_| json!({})).await
    }

    async fn written(zoo: &Zoo, kind: &str, further: impl FnOnce(&Ca) -> Value) -> Self {
        let validity = Validity::starting(SystemTime::now(), TEN_YEARS).unwrap();
        let name = CommonName::new("Dynamo-Webhook-CA").unwrap();
        let ca = Ca::new(&name, validity, &SystemKeys).unwrap();
        let leaf = ca.issue(&zoo.setup.certificates.names, validity, &SystemKeys).unwrap();
        let mut data = further(&ca);
        data["tls.crt"] = base64(&leaf.certificate_pem()).into();
        data["tls.key"] = base64(&leaf.private_key_pem()).into();
        data["ca.crt"] = base64(&ca.certificate_pem()).into();
        let secret = json!({"metadata": {"name": SERVING_SECRET}, "type": kind, "data": data});
        let secrets = format!("/api/v1/namespaces/{}/secrets", zoo.namespace());
        zoo.client().post(&secrets, &secret).await.unwrap().granted().unwrap();
        Self { ca, leaf }
    }

    /// What clients trust, as PEM.
    pub fn ca_crt(&self) -> String {
        self.ca.certificate_pem()
    }

    /// The same CA is kept in a Secret of its own, its key has gone from the old place, and the server's
    /// certificate is the one that was there.
    pub async fn was_moved(&self, zoo: &Zoo) {
        assert_eq!(fields(&zoo.read("Secret", SERVING_SECRET).await), ["ca.crt", "tls.crt", "tls.key"]);
        assert_eq!(zoo.field(SERVING_SECRET, "tls.crt").await.unwrap(), self.leaf.certificate_pem());
        assert_eq!(zoo.field(CA_SECRET, "tls.crt").await.unwrap(), self.ca.certificate_pem());
        assert_eq!(zoo.field(CA_SECRET, "tls.key").await.unwrap(), self.ca.private_key_pem());
    }
}
