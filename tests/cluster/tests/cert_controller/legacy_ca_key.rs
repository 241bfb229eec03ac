//! An authority whose key lies in the server's Secret, where the Go operator kept it.

use std::time::SystemTime;

use gateward_certs::{Ca, CommonName, IssuedCertificate, SystemKeys, TEN_YEARS, Validity};
use serde_json::json;

use crate::setup::{AUTHORITY, LEAF};
use crate::zoo::{Zoo, base64, fields};

pub struct LegacySecret {
    authority: Ca,
    leaf: IssuedCertificate,
}

impl LegacySecret {
    /// Makes the server's Secret as it is found there, and no other.
    pub async fn filled(zoo: &Zoo) -> Self {
        let validity = Validity::starting(SystemTime::now(), TEN_YEARS).unwrap();
        let name = CommonName::new("Dynamo-Webhook-CA").unwrap();
        let authority = Ca::new(&name, validity, &SystemKeys).unwrap();
        let leaf = authority.issue(&zoo.setup.certificates.names, validity, &SystemKeys).unwrap();
        let data = json!({
            "tls.crt": base64(&leaf.certificate_pem()), "tls.key": base64(&leaf.private_key_pem()),
            "ca.crt": base64(&authority.certificate_pem()), "ca.key": base64(&authority.private_key_pem()),
        });
        let secret = json!({"metadata": {"name": LEAF}, "type": "kubernetes.io/tls", "data": data});
        let secrets = format!("/api/v1/namespaces/{}/secrets", zoo.namespace());
        zoo.client().post(&secrets, &secret).await.unwrap().granted().unwrap();
        Self { authority, leaf }
    }

    /// The same authority is kept in a Secret of its own, its key has gone from the old place, and the server's
    /// certificate is the one that was there.
    pub async fn was_moved(&self, zoo: &Zoo) {
        assert_eq!(fields(&zoo.read("Secret", LEAF).await), ["ca.crt", "tls.crt", "tls.key"]);
        assert_eq!(zoo.field(LEAF, "tls.crt").await.unwrap(), self.leaf.certificate_pem());
        assert_eq!(zoo.field(AUTHORITY, "tls.crt").await.unwrap(), self.authority.certificate_pem());
        assert_eq!(zoo.field(AUTHORITY, "tls.key").await.unwrap(), self.authority.private_key_pem());
    }
}
