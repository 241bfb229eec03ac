//! `spec.webhookdefinitions` of the CSV, from the same declarations as the webhook configurations.

use anyhow::Context as _;
use gateward_core::manifest::{self, Installation};
use gateward_core::{Declaration, Review};
use serde_json::{Map, Value, json};

use super::not_carried::NotCarried;
use crate::cli::crd_stanzas;
use crate::crds;
use crate::operator::Operator;

/// Members of a webhook that a description has too.
const CARRIED: [&str; 8] = [
    "admissionReviewVersions",
    "failurePolicy",
    "matchPolicy",
    "objectSelector",
    "reinvocationPolicy",
    "rules",
    "sideEffects",
    "timeoutSeconds",
];
/// Members that a description has in another form.
const TRANSLATED: [&str; 2] = ["name", "clientConfig"];

/// The descriptions of all webhooks, and what they lack.
pub(super) struct Descriptions {
    pub(super) all: Vec<Value>,
    pub(super) not_carried: Vec<NotCarried>,
}

/// Who answers.
struct Backend<'a> {
    deployment: &'a str,
    /// The port that Pods listen on.
    target_port: u16,
}

impl Descriptions {
    /// Those of an operator. Pods of `deployment` listen on `target_port`.
    pub(super) fn of<P: Operator>(
        operator: &P,
        installation: &Installation,
        deployment: &str,
        target_port: u16,
    ) -> anyhow::Result<Self> {
        let backend = Backend { deployment, target_port };
        let mut descriptions = Self { all: Vec::new(), not_carried: Vec::new() };
        for (review, of_type) in
            [(Review::Validate, "ValidatingAdmissionWebhook"), (Review::Mutate, "MutatingAdmissionWebhook")]
        {
            let Some(configuration) = manifest::webhook_configuration(operator.webhooks(), review, installation) else {
                continue;
            };
            let configuration = serde_json::to_value(configuration).context("a webhook configuration")?;
            for webhook in configuration["webhooks"].as_array().into_iter().flatten() {
                descriptions.add(webhook, of_type, &backend);
            }
        }
        descriptions.add_conversions(operator, installation, &backend);
        Ok(descriptions)
    }

    fn add(&mut self, webhook: &Value, of_type: &str, backend: &Backend<'_>) {
        let name = webhook["name"].as_str().unwrap_or_default();
        let mut description = backend.description(name, of_type, &webhook["clientConfig"]["service"]);
        for (member, value) in webhook.as_object().into_iter().flatten() {
            if CARRIED.contains(&member.as_str()) {
                description.insert(member.clone(), value.clone());
            } else if !TRANSLATED.contains(&member.as_str()) {
                self.not_carried.push(lost(name, member, value));
            }
        }
        self.all.push(Value::Object(description));
    }

    /// One description for each CRD: OLM takes no CRD in two of them.
    fn add_conversions<P: Operator>(&mut self, operator: &P, installation: &Installation, backend: &Backend<'_>) {
        let converted = crds::converted(operator);
        let documents = crd_stanzas::with_stanzas(operator, installation);
        for (name, crd) in documents.iter().filter_map(|crd| Some((crd["metadata"]["name"].as_str()?, crd))) {
            if converted.iter().any(|converted| converted == name) {
                self.all.push(conversion(name, crd, backend));
            }
        }
        let is_there = |declared: &Declaration| {
            let kind = &declared.hub;
            let same = |crd: &&Value| crd["spec"]["group"] == kind.group && crd["spec"]["names"]["kind"] == kind.kind;
            documents.iter().any(|crd| same(&crd))
        };
        let kinds = operator.webhooks().declarations().filter(|declared| declared.converts() && !is_there(declared));
        self.not_carried.extend(kinds.map(|declared| NotCarried::Conversion { kind: declared.hub.to_string() }));
    }
}

impl Backend<'_> {
    fn description(&self, name: &str, of_type: &str, service: &Value) -> Map<String, Value> {
        let members = [
            ("generateName", name.into()),
            ("type", of_type.into()),
            ("deploymentName", self.deployment.into()),
            ("containerPort", service["port"].clone()),
            ("targetPort", self.target_port.into()),
            ("webhookPath", service["path"].clone()),
        ];
        members.into_iter().map(|(member, value)| (member.to_owned(), value)).collect()
    }
}

fn lost(webhook: &str, member: &str, value: &Value) -> NotCarried {
    let webhook = webhook.to_owned();
    match member {
        "namespaceSelector" => NotCarried::NamespaceSelector { webhook, selector: value.clone() },
        "matchConditions" => {
            let names = value.as_array().into_iter().flatten().filter_map(|condition| condition["name"].as_str());
            NotCarried::MatchConditions { webhook, names: names.map(str::to_owned).collect() }
        }
        _ => NotCarried::Member { webhook, member: member.to_owned() },
    }
}

fn conversion(crd_name: &str, crd: &Value, backend: &Backend<'_>) -> Value {
    let (group, kind) = (text(&crd["spec"]["group"]), text(&crd["spec"]["names"]["kind"]));
    let name = format!("convert.{}.{group}", kind.to_ascii_lowercase());
    let stanza = &crd["spec"]["conversion"]["webhook"];
    let mut description = backend.description(&name, "ConversionWebhook", &stanza["clientConfig"]["service"]);
    description.insert("admissionReviewVersions".into(), stanza["conversionReviewVersions"].clone());
    // It means nothing for a conversion, and OLM's schema demands it.
    description.insert("sideEffects".into(), "None".into());
    description.insert("conversionCRDs".into(), json!([crd_name]));
    Value::Object(description)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use gateward_core::{Request, Verdict, Webhook, Webhooks};

    use super::*;
    use crate::cli::convert::converter::tests::{Losing, v1, v2};
    use crate::operator::Release;

    const CRD: &str = "{metadata: {name: otters.example.org}, spec: {group: example.org, names: {kind: Otter}, versions: \
                       [{name: v1, served: true}, {name: v2, served: true}]}}";

    fn descriptions(webhooks: &Webhooks) -> Descriptions {
        let mut installation = webhooks.installation(&Release { name: "river".into(), namespace: "zoo".into() });
        installation.namespace_selector = Some(json!({"matchLabels": {"team": "blue"}}));
        Descriptions::of(webhooks, &installation, "river", 9443).unwrap()
    }

    fn otter() -> Webhook<v1::Otter> {
        Webhook::<v1::Otter>::new().spoke::<v2::Otter>(Losing)
    }

    #[test]
    fn a_conversion_names_its_crd_its_path_and_the_real_ports() {
        let found = descriptions(&Webhooks::new().register(otter().crd(CRD)));
        let expected = json!([{
            "generateName": "convert.otter.example.org",
            "type": "ConversionWebhook",
            "deploymentName": "river",
            "containerPort": 443,
            "targetPort": 9443,
            "webhookPath": "/convert",
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "conversionCRDs": ["otters.example.org"],
        }]);
        assert_eq!((Value::from(found.all), found.not_carried), (expected, Vec::new()));
    }

    #[test]
    fn a_conversion_without_a_crd_is_reported() {
        let found = descriptions(&Webhooks::new().register(otter()));
        assert!(found.all.is_empty());
        let texts: Vec<String> = found.not_carried.iter().map(NotCarried::to_string).collect();
        assert!(
            texts.len() == 1 && texts[0].contains("Otter") && texts[0].ends_with("give it one with .crd"),
            "{texts:?}"
        );
    }

    #[test]
    fn selectors_of_namespaces_and_match_conditions_are_reported_and_the_rest_is_carried() {
        let judge = |_: &v1::Otter, _: &Request| Verdict::allow();
        let webhook = otter().crd(CRD).validator(judge).match_condition("wet", "object.spec.wet");
        let found = descriptions(&Webhooks::new().register(webhook));
        let webhook = "validate.otter.example.org".to_owned();
        let selector = json!({"matchLabels": {"team": "blue"}});
        let expected = [
            NotCarried::MatchConditions { webhook: webhook.clone(), names: vec!["wet".into()] },
            NotCarried::NamespaceSelector { webhook, selector },
        ];
        assert_eq!(found.not_carried, expected);
        let validating = &found.all[0];
        assert_eq!(validating["type"], "ValidatingAdmissionWebhook");
        assert_eq!(validating["rules"][0]["resources"], json!(["otters"]));
        for member in ["failurePolicy", "matchPolicy", "sideEffects", "timeoutSeconds", "admissionReviewVersions"] {
            assert!(!validating[member].is_null(), "{member}");
        }
    }
}
