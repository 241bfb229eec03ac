//! OLM's `WebhookTest`, the operator of its end-to-end tests: a validator, a mutator and a conversion.

pub mod v1;
pub mod v2;

use gateward::prelude::*;

/// Only what is marked as valid is admitted.
pub const VALID: Rule = Rule {
    id: "WT-01",
    summary: "spec.valid must be true",
    kinds: &["WebhookTest"],
    versions: &["v1", "v2"],
    bad: "object: {apiVersion: webhook.operators.coreos.io/v1, kind: WebhookTest, spec: {valid: false}}",
    good: "object: {apiVersion: webhook.operators.coreos.io/v1, kind: WebhookTest, spec: {valid: true}}",
    ..Rule::on(CREATE_AND_UPDATE)
};

/// Judges both versions: what came as v2 is lifted, and its findings name the fields of v2.
pub fn validity(new: &v1::WebhookTest, _: &Request) -> Verdict {
    let mut issues = Issues::new();
    if !new.spec.is_some_and(|spec| spec.valid) {
        let path = FieldPath::field("spec") / "valid";
        issues.add(VALID.invalid(path, false).message("Spec.Valid must be true"));
    }
    issues.into()
}

/// Switches `mutate` on, whatever the user says.
pub fn mutate(mut test: v1::WebhookTest, _: &Request) -> v1::WebhookTest {
    if let Some(spec) = &mut test.spec {
        spec.mutate = Some(true);
    }
    test
}

/// v2 has the same two fields one level deeper.
pub struct Nesting;

impl Convert<v2::WebhookTest, v1::WebhookTest> for Nesting {
    fn to_hub(
        &self,
        nested: &v2::WebhookTest,
        provenance: &mut Provenance,
        _: &mut Issues,
    ) -> Result<v1::WebhookTest, ConversionError> {
        let spec = || FieldPath::field("spec");
        for name in ["valid", "mutate"] {
            provenance.moved(|| (spec() / name, spec() / "conversion" / name));
        }
        let flat = |v2::WebhookTestSpec { conversion: v2::Conversion { valid, mutate } }| v1::WebhookTestSpec {
            valid,
            mutate,
        };
        Ok(v1::WebhookTest { spec: nested.spec.map(flat) })
    }

    fn from_hub(&self, flat: &v1::WebhookTest, _: &mut Issues) -> Result<v2::WebhookTest, ConversionError> {
        let nested = |v1::WebhookTestSpec { valid, mutate }| v2::WebhookTestSpec {
            conversion: v2::Conversion { valid, mutate },
        };
        Ok(v2::WebhookTest { spec: flat.spec.map(nested) })
    }
}

/// The one kind in its two versions.
///
/// The mutator knows v1 alone. Its entry lists v1 with `matchPolicy: Equivalent`, so the API server converts what is
/// written in v2 before it asks.
pub fn webhooks() -> Webhooks {
    let kind = Webhook::<v1::WebhookTest>::new()
        .spoke::<v2::WebhookTest>(Nesting)
        .validator(validity)
        .validating_at(Endpoint::new().name("vwebhooktest-v1.kb.io"))
        .defaulter(mutate)
        .mutating_at(Endpoint::new().name("mwebhooktest-v1.kb.io").versions(["v1"]))
        .on([Create, Update])
        .rules([&VALID])
        .crd(include_str!("../crd.yaml"));
    Webhooks::new().register(kind)
}
