//! The CRDs of an operator, and what its webhooks know of the conversion of their objects.

use gateward_core::manifest::{self, Installation};
use gateward_core::{Crd, Declaration, GroupVersionKind, Ordered};
use gateward_lint::yaml::{self, Document};
use serde_json::Value;

use crate::operator::Operator;

/// A CRD that promises conversions without a converter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConversionGap {
    /// Nothing leads to a version.
    #[error(
        "the CRD of {kind} serves {served}, but objects are converted only between {converted}; give each version a \
         conversion with `.spoke`, or don't serve it"
    )]
    Version {
        /// The kind.
        kind: String,
        /// The versions that the CRD serves.
        served: String,
        /// The versions that are converted.
        converted: String,
    },
    /// Nothing is converted.
    #[error("the CRD of {kind} has its objects converted by a webhook, but the kind has no conversion; add `.spoke`")]
    Webhook {
        /// The kind.
        kind: String,
    },
}

/// The CRDs, as their authors wrote them.
fn documents(operator: &impl Operator) -> impl Iterator<Item = Document> {
    operator.crds().into_iter().flat_map(|crd| yaml::read(crd.yaml()).documents)
}

/// Whether each version that a CRD serves reaches every other.
pub(crate) fn check(operator: &impl Operator) -> Result<(), ConversionGap> {
    documents(operator).map(|document| gap(operator, &document.value)).find_map(|gap| gap).map_or(Ok(()), Err)
}

/// The names of all CRDs.
pub(crate) fn names(operator: &impl Operator) -> Vec<String> {
    documents(operator).map(|crd| text(&crd.value, "/metadata/name")).filter(|name| !name.is_empty()).collect()
}

/// The names of the CRDs whose objects are converted.
pub(crate) fn converted(operator: &impl Operator) -> Vec<String> {
    let converted = documents(operator).filter(|crd| declared(operator, &crd.value).is_some_and(Declaration::converts));
    converted.map(|crd| text(&crd.value, "/metadata/name")).filter(|name| !name.is_empty()).collect()
}

fn gap(operator: &impl Operator, crd: &Value) -> Option<ConversionGap> {
    let declared = declared(operator, crd);
    let kind = text(crd, "/spec/names/kind");
    let Some(declared) = declared.filter(|declared| declared.converts()) else {
        return (text(crd, "/spec/conversion/strategy") == "Webhook").then_some(ConversionGap::Webhook { kind });
    };
    let served = served(crd);
    let reached = served.iter().all(|version| declared.has_version(version));
    let (served, converted) = (served.join(" and "), declared.versions.join(" and "));
    (!reached).then_some(ConversionGap::Version { kind, served, converted })
}

fn served(crd: &Value) -> Vec<&str> {
    let versions = crd.pointer("/spec/versions").and_then(Value::as_array).into_iter().flatten();
    versions.filter(|version| version["served"] == true).filter_map(|version| version["name"].as_str()).collect()
}

fn declared<'p>(operator: &'p impl Operator, crd: &Value) -> Option<&'p Declaration> {
    let (group, kind) = (text(crd, "/spec/group"), text(crd, "/spec/names/kind"));
    let wanted = GroupVersionKind { group, version: String::new(), kind };
    operator
        .webhooks()
        .declarations()
        .find(|declared| declared.subresource.is_none() && declared.hub.same_kind(&wanted))
}

fn text(value: &Value, pointer: &str) -> String {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Which stanzas `spec.conversion` are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stanzas {
    /// Those that a CRD lacks.
    Missing,
    /// Those of all kinds whose objects are converted, because the user said where the webhook will be.
    All,
}

/// A CRD to be printed.
pub(crate) enum Printed {
    /// As its author wrote it.
    AsWritten(Crd),
    /// Its documents, in which a stanza was written.
    Completed(Vec<Ordered>),
}

/// The CRDs of an operator, each with the stanza that has its objects converted.
pub(crate) fn printed<P: Operator>(operator: &P, installation: &Installation, stanzas: Stanzas) -> Vec<Printed> {
    let printed = |crd: Crd| {
        let documents = yaml::read(crd.yaml()).documents;
        let completed: Vec<_> =
            documents.iter().map(|document| completed(operator, document, installation, stanzas)).collect();
        if completed.iter().all(Option::is_none) {
            return Printed::AsWritten(crd);
        }
        let documents = documents.iter().zip(completed);
        Printed::Completed(documents.map(|(document, done)| done.unwrap_or_else(|| document.in_order())).collect())
    };
    operator.crds().into_iter().map(printed).collect()
}

/// The CRDs of an operator as documents, each with the stanza that has its objects converted by a Service.
pub(crate) fn with_stanzas<P: Operator>(operator: &P, installation: &Installation) -> Vec<Value> {
    let documents = |printed| match printed {
        Printed::AsWritten(crd) => {
            yaml::read(crd.yaml()).documents.into_iter().map(|document| document.value).collect()
        }
        Printed::Completed(documents) => documents.iter().filter_map(|crd| serde_json::to_value(crd).ok()).collect(),
    };
    let documents: Vec<Vec<Value>> = printed(operator, installation, Stanzas::All).into_iter().map(documents).collect();
    documents.into_iter().flatten().filter(|document| !document.is_null()).collect()
}

/// The document with its stanza; `None` where it stays as it is.
fn completed<P: Operator>(
    operator: &P,
    document: &Document,
    installation: &Installation,
    stanzas: Stanzas,
) -> Option<Ordered> {
    let crd = &document.value;
    if stanzas == Stanzas::Missing && crd.pointer("/spec/conversion").is_some() {
        return None;
    }
    let stanza = manifest::conversion(operator.webhooks(), declared(operator, crd)?, installation)?;
    let stanza = Ordered::from(&serde_json::to_value(stanza).ok()?);
    let mut completed = document.in_order();
    let Some(Ordered::Members(spec)) = completed.member_mut("spec") else { return None };
    spec.retain(|(name, _)| name != "conversion");
    spec.insert(0, ("conversion".into(), stanza));
    Some(completed)
}

#[cfg(test)]
mod tests {
    use gateward_core::manifest::yaml::document_in_order;
    use gateward_core::{Webhook, Webhooks};

    use super::*;
    use crate::cli::convert::converter::tests::{Losing, v1, v2};
    use crate::operator::Release;

    const CRD: &str = "\
# otters
spec:
  group: example.org
  names: {kind: Otter}
  versions:
  - {name: v1, served: true}
  - {name: v2, served: true}
  - {name: v0, served: false}
";

    fn otters(crd: &'static str) -> Webhooks {
        Webhooks::new().register(Webhook::<v1::Otter>::new().spoke::<v2::Otter>(Losing).crd(crd))
    }

    fn printed_by(webhooks: &Webhooks, stanzas: Stanzas) -> String {
        let installation = webhooks.installation(&Release { name: "river".into(), namespace: "zoo".into() });
        match printed(webhooks, &installation, stanzas).pop() {
            Some(Printed::Completed(documents)) => documents.iter().map(document_in_order).collect(),
            Some(Printed::AsWritten(crd)) => crd.yaml().to_owned(),
            None => String::new(),
        }
    }

    #[test]
    fn a_version_that_is_served_and_not_converted_is_a_gap() {
        assert_eq!(check(&otters(CRD)), Ok(()));
        let error =
            check(&otters("{spec: {group: example.org, names: {kind: Otter}, versions: [{name: v3, served: true}]}}"));
        assert_eq!(
            error.map_err(|gap| gap.to_string()),
            Err("the CRD of Otter serves v3, but objects are converted only between v2 and v1; give each version a \
                 conversion with `.spoke`, or don't serve it"
                .to_owned())
        );
    }

    #[test]
    fn a_webhook_that_converts_nothing_is_a_gap() {
        let crd = "{spec: {group: example.org, names: {kind: Otter}, conversion: {strategy: Webhook}}}";
        let webhooks = Webhooks::new().register(Webhook::<v1::Otter>::new().crd(crd));
        assert_eq!(check(&webhooks), Err(ConversionGap::Webhook { kind: "Otter".into() }));
    }

    #[test]
    fn a_crd_gets_the_stanza_that_it_lacks() {
        let text = printed_by(&otters(CRD), Stanzas::Missing);
        let stanza = "\
spec:
  conversion:
    strategy: Webhook
    webhook:
      clientConfig:
        service:
          name: river-webhook-service
          namespace: zoo
          path: /convert
          port: 443
      conversionReviewVersions:
      - v1
  group: example.org
";
        assert!(text.starts_with(stanza), "{text}");
        assert_eq!(printed_by(&Webhooks::new().register(Webhook::<v1::Otter>::new().crd(CRD)), Stanzas::All), CRD);
    }

    #[test]
    fn a_stanza_of_the_authors_is_replaced_where_the_user_says_where_the_webhook_is() {
        let crd = "{spec: {conversion: {strategy: Webhook}, group: example.org, names: {kind: Otter}}}";
        assert_eq!(printed_by(&otters(crd), Stanzas::Missing), crd);
        assert!(printed_by(&otters(crd), Stanzas::All).contains("namespace: zoo"));
    }
}
