//! The objects of a cluster that lead to this machine.

use std::collections::BTreeMap;

use gateward_cluster::dev::Destination;
use gateward_core::Review;
use gateward_core::manifest::{Installation, webhook_configuration};
use serde_json::Value;

use crate::cli::crd_stanzas;
use crate::operator::Operator;

/// CRDs, then webhook configurations: nothing is judged before it can be converted.
pub(super) fn wanted<P: Operator>(operator: &P, destination: &Destination) -> anyhow::Result<Vec<Value>> {
    let installation = installation(operator);
    let mut wanted = crd_stanzas::with_stanzas(operator, &installation);
    for review in [Review::Validate, Review::Mutate] {
        if let Some(configuration) = webhook_configuration(operator.webhooks(), review, &installation) {
            wanted.push(serde_json::to_value(configuration)?);
        }
    }
    Ok(wanted.into_iter().map(|manifest| destination.lead(manifest)).collect())
}

/// That of a usual release, but for names and labels: no release takes these objects for its own.
fn installation<P: Operator>(operator: &P) -> Installation {
    let names = operator.names();
    let release = names.release_or_usual(None, None);
    let labels = [("app.kubernetes.io/managed-by", names.command), ("app.kubernetes.io/component", "dev")];
    Installation {
        validating_name: format!("{}-dev-validating", release.name),
        mutating_name: format!("{}-dev-mutating", release.name),
        labels: BTreeMap::from(labels.map(|(name, value)| (name.to_owned(), value.to_owned()))),
        ..operator.installation(&release)
    }
}

#[cfg(test)]
mod tests {
    use gateward_certs::{Ca, CommonName, SystemKeys, TEN_YEARS, Validity};
    use gateward_core::manifest::FailurePolicy;
    use gateward_core::{Request, Webhook, Webhooks};

    use super::*;
    use crate::cli::convert::converter::tests::{Losing, v1, v2};
    use crate::operator::Names;

    const CRD: &str = "{kind: CustomResourceDefinition, metadata: {name: otters.example.org}, spec: {group: example.org, \
                       names: {kind: Otter}, versions: [{name: v1, served: true}, {name: v2, served: true}]}}";

    fn laptop() -> Destination {
        let validity = Validity::starting(std::time::SystemTime::now(), TEN_YEARS).unwrap();
        let ca = Ca::new(&CommonName::new("dev").unwrap(), validity, &SystemKeys).unwrap();
        Destination::new("https://10.0.0.7:9443".into(), &ca.certificate_pem(), FailurePolicy::Ignore).unwrap()
    }

    #[test]
    fn all_that_is_declared_leads_to_this_machine() {
        let otters = Webhook::<v1::Otter>::new().spoke::<v2::Otter>(Losing).crd(CRD);
        let webhooks = Webhooks::new().register(otters.validator(|_: &v1::Otter, _: &Request| ()));
        let operator = Names::new("otter", "1.0.0").of(webhooks);
        let wanted = wanted(&operator, &laptop()).unwrap();
        let names: Vec<_> = wanted.iter().map(|object| object["metadata"]["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["otters.example.org", "otter-dev-validating"]);
        let config = &wanted[0]["spec"]["conversion"]["webhook"]["clientConfig"];
        assert_eq!(config["url"], "https://10.0.0.7:9443/convert");
        let entry = &wanted[1]["webhooks"][0];
        let url = entry["clientConfig"]["url"].as_str().unwrap();
        assert!(url.starts_with("https://10.0.0.7:9443/validate"), "{url}");
        assert_eq!(entry["failurePolicy"], "Ignore");
        assert_eq!(wanted[1]["metadata"]["labels"]["app.kubernetes.io/component"], "dev");
    }

    #[test]
    fn a_kind_without_conversion_has_its_crd_as_it_was_written() {
        let webhooks = Webhooks::new().register(Webhook::<v1::Otter>::new().crd(CRD));
        let wanted = wanted(&Names::new("otter", "1.0.0").of(webhooks), &laptop()).unwrap();
        assert_eq!(wanted.len(), 1);
        assert_eq!(wanted[0]["spec"].get("conversion"), None);
    }
}
