//! The CA and the serving certificates of an installation.

use std::time::{Duration, SystemTime};

use gateward_certs::{Ca, CommonName, ServerNames, SystemKeys, Validity};
use olm_model::{Csv, ServiceNames, ServingPair, dns_names};

const VALID: Duration = Duration::from_hours(730 * 24);

/// A new CA, whose key is not kept, with a serving certificate for each Deployment that serves, beside its name.
pub fn serving_pairs(csv: &Csv, namespace: &str) -> Vec<(String, ServingPair)> {
    let validity = Validity::starting(SystemTime::now(), VALID).unwrap();
    let serial = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos();
    let name = CommonName::new(format!("olm-selfsigned-{serial:x}")).unwrap();
    let ca = Ca::new(&name, validity, &SystemKeys).unwrap();
    let serving = csv.deployments.iter().filter(|(name, _)| !csv.webhooks_of(name).is_empty());
    serving
        .map(|(deployment, _)| {
            let hosts = dns_names(&ServiceNames::of(deployment).service, namespace);
            let names = ServerNames::parse(hosts.iter().map(String::as_str)).unwrap();
            let issued = ca.issue(&names, validity, &SystemKeys).unwrap();
            let pair = ServingPair {
                certificate: issued.certificate_pem().clone(),
                key: issued.private_key_pem().clone(),
                ca: ca.certificate_pem().clone(),
            };
            (deployment.clone(), pair)
        })
        .collect()
}
