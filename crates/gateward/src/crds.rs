//! The CRDs of an operator, and what its webhooks know of the conversion of their objects.

use gateward_core::{Crd, Declaration, GroupVersionKind};
use gateward_lint::schema::read_crd;
use serde::Deserialize;

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

/// A CRD without its schemas, which are most of it and are passed over.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Definition {
    pub metadata: Metadata,
    spec: Spec,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Metadata {
    pub name: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Spec {
    group: String,
    names: KindNames,
    versions: Vec<Version>,
    conversion: Conversion,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct KindNames {
    kind: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Version {
    name: String,
    served: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Conversion {
    strategy: String,
}

/// The CRDs of an operator. One that can't be read is passed over.
pub(crate) fn definitions(operator: &impl Operator) -> impl Iterator<Item = Definition> {
    let documents = |crd: Crd| match crd.json() {
        Some(definition) => vec![definition],
        None => read_crd(&crd).unwrap_or_default().iter().filter_map(|crd| Definition::deserialize(crd).ok()).collect(),
    };
    operator.crds().into_iter().flat_map(documents)
}

/// Whether each version that a CRD serves reaches every other.
pub(crate) fn check(operator: &impl Operator) -> Result<(), ConversionGap> {
    definitions(operator).find_map(|crd| gap(operator, crd)).map_or(Ok(()), Err)
}

/// The names of the CRDs whose objects are converted.
pub(crate) fn converted(operator: &impl Operator) -> Vec<String> {
    let converted = definitions(operator).filter(|crd| declared(operator, crd).is_some_and(Declaration::converts));
    converted.map(|crd| crd.metadata.name).filter(|name| !name.is_empty()).collect()
}

fn gap(operator: &impl Operator, crd: Definition) -> Option<ConversionGap> {
    let declared = declared(operator, &crd);
    let Spec { names: KindNames { kind }, versions, conversion, .. } = crd.spec;
    let Some(declared) = declared.filter(|declared| declared.converts()) else {
        return (conversion.strategy == "Webhook").then_some(ConversionGap::Webhook { kind });
    };
    let served: Vec<String> = versions.into_iter().filter(|it| it.served).map(|it| it.name).collect();
    let reached = served.iter().all(|version| declared.has_version(version));
    let (served, converted) = (served.join(" and "), declared.versions.join(" and "));
    (!reached).then_some(ConversionGap::Version { kind, served, converted })
}

/// What the operator declares of a CRD's kind.
pub(crate) fn declared<'p>(operator: &'p impl Operator, crd: &Definition) -> Option<&'p Declaration> {
    let (group, kind) = (crd.spec.group.clone(), crd.spec.names.kind.clone());
    let wanted = GroupVersionKind { group, version: String::new(), kind };
    operator
        .webhooks()
        .declarations()
        .find(|declared| declared.subresource.is_none() && declared.hub.same_kind(&wanted))
}

#[cfg(test)]
pub(crate) mod tests {
    use gateward_core::{Webhook, Webhooks};

    use super::*;
    use crate::cli::convert::converter::tests::{Losing, v1, v2};

    pub(crate) const CRD: &str = "\
# otters
spec:
  group: example.org
  names: {kind: Otter}
  versions:
  - {name: v1, served: true}
  - {name: v2, served: true}
  - {name: v0, served: false}
";

    pub(crate) fn otters(crd: &'static str) -> Webhooks {
        Webhooks::new().register(Webhook::<v1::Otter>::new().spoke::<v2::Otter>(Losing).crd(crd))
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
}
