//! The CRDs of an operator, and what its webhooks know of the conversion of their objects.

use gateward_core::{Crd, Declaration, GroupVersionKind};
use gateward_lint::schema::read_crd;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::operator::Operator;

/// A CRD that doesn't go with what is declared of its kind: objects would be lost, or pass unjudged.
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
    /// Several versions are served, and the API server would change no more than `apiVersion`.
    #[error(
        "the CRD of {kind} serves {served}, and nothing converts between them: each version would lose what the other \
         doesn't know; give the kind a conversion with `.spoke`, or say `conversion: {{strategy: None}}` in the CRD"
    )]
    Unconverted {
        /// The kind.
        kind: String,
        /// The versions that the CRD serves.
        served: String,
    },
    /// A version has handlers or conversions, and no objects.
    #[error("{kind} is declared in version {version}, which its CRD lacks; add the version to the CRD")]
    Absent {
        /// The kind.
        kind: String,
        /// The version.
        version: String,
    },
    /// A CRD is no `CustomResourceDefinition`.
    #[error("{subject} can't be read: {problem}; give the text of a CustomResourceDefinition")]
    Unreadable {
        /// Which one.
        subject: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The CRD that was given with a kind defines others.
    #[error("the CRD that is given for {kind} is of {found}; give that of {kind} to `.crd`")]
    OfAnotherKind {
        /// The kind.
        kind: String,
        /// What the CRD defines.
        found: String,
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

/// The CRDs of an operator. One that can't be read is passed over; [`check`] names it.
pub(crate) fn definitions(operator: &impl Operator) -> impl Iterator<Item = Definition> {
    operator.crds().into_iter().flat_map(|crd| documents(&crd).unwrap_or_default())
}

/// What `T` knows of the documents of a CRD, or why they can't be read. Of JSON nothing else is built.
pub(crate) fn read<T: DeserializeOwned>(crd: &Crd) -> Result<Vec<T>, String> {
    if let Some(definition) = crd.json() {
        return Ok(vec![definition]);
    }
    let documents = read_crd(crd).map_err(|finding| finding.message)?;
    documents.iter().map(|document| T::deserialize(document).map_err(|error| error.to_string())).collect()
}

/// What a CRD defines, or why it can't be read.
fn documents(crd: &Crd) -> Result<Vec<Definition>, String> {
    let definitions: Vec<Definition> = read(crd)?;
    let defines_kinds = !definitions.is_empty() && definitions.iter().all(|crd| !crd.spec.names.kind.is_empty());
    if defines_kinds { Ok(definitions) } else { Err("it defines no kind".into()) }
}

/// Whether each version that a CRD serves reaches every other, and each CRD can be read and goes with its kind.
pub(crate) fn check(operator: &impl Operator) -> Result<(), ConversionGap> {
    operator.webhooks().declarations().try_for_each(is_own)?;
    for (position, crd) in operator.crds().iter().enumerate() {
        let definitions = documents(crd).map_err(|problem| {
            let subject = format!("CRD {} of `Operator::crds`", position + 1);
            ConversionGap::Unreadable { subject, problem }
        })?;
        definitions.into_iter().find_map(|crd| gap(operator, crd)).map_or(Ok(()), Err)?;
    }
    Ok(())
}

/// Whether the CRD that is given with a kind is of that kind.
fn is_own(declared: &Declaration) -> Result<(), ConversionGap> {
    let Some(crd) = &declared.crd else { return Ok(()) };
    let GroupVersionKind { group, kind, .. } = &declared.hub;
    let definitions = documents(crd).map_err(|problem| {
        let subject = format!("the CRD that is given for {kind}");
        ConversionGap::Unreadable { subject, problem }
    })?;
    if definitions.iter().any(|crd| *group == crd.spec.group && *kind == crd.spec.names.kind) {
        return Ok(());
    }
    let found: Vec<String> =
        definitions.into_iter().map(|crd| format!("{} of {}", crd.spec.names.kind, crd.spec.group)).collect();
    Err(ConversionGap::OfAnotherKind { kind: kind.clone(), found: found.join(" and ") })
}

/// The names of the CRDs whose objects are converted.
pub(crate) fn converted(operator: &impl Operator) -> Vec<String> {
    let converted = definitions(operator).filter(|crd| declared(operator, crd).is_some_and(Declaration::converts));
    converted.map(|crd| crd.metadata.name).filter(|name| !name.is_empty()).collect()
}

fn gap(operator: &impl Operator, crd: Definition) -> Option<ConversionGap> {
    let declared = declared(operator, &crd);
    let Spec { names: KindNames { kind }, versions, conversion, .. } = crd.spec;
    let served: Vec<&str> = versions.iter().filter(|it| it.served).map(|it| it.name.as_str()).collect();
    let Some(converting) = declared.filter(|declared| declared.converts()) else {
        return match conversion.strategy.as_str() {
            "Webhook" => Some(ConversionGap::Webhook { kind }),
            "" if served.len() > 1 => Some(ConversionGap::Unconverted { kind, served: served.join(" and ") }),
            _ => declared.and_then(|declared| absent(declared, &versions, kind)),
        };
    };
    if !served.iter().all(|version| converting.has_version(version)) {
        let (served, converted) = (served.join(" and "), converting.versions.join(" and "));
        return Some(ConversionGap::Version { kind, served, converted });
    }
    absent(converting, &versions, kind)
}

fn absent(declared: &Declaration, defined: &[Version], kind: String) -> Option<ConversionGap> {
    let is_defined = |version: &str| defined.iter().any(|it| it.name == version);
    let version = declared.versions.iter().find(|version| !is_defined(version))?.to_string();
    Some(ConversionGap::Absent { kind, version })
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
    fn a_crd_that_does_not_go_with_its_kind_is_a_gap() {
        let crd = |versions: &str, rest: &str| {
            format!("{{spec: {{group: example.org, names: {{kind: Otter}}, versions: [{versions}]{rest}}}}}")
        };
        let message = |webhook: Webhook<v1::Otter>, crd: String| {
            check(&Webhooks::new().register(webhook.crd(crd))).err().map(|gap| gap.to_string())
        };
        let (plain, converted) = (Webhook::<v1::Otter>::new, || Webhook::<v1::Otter>::new().spoke::<v2::Otter>(Losing));
        let (one, two) = ("{name: v1, served: true}", "{name: v1, served: true}, {name: v2, served: true}");
        for (webhook, crd, expected) in [
            (plain(), crd(one, ""), None),
            (plain(), crd(two, ""), Some("serves v1 and v2, and nothing converts between them")),
            (plain(), crd(two, ", conversion: {strategy: None}"), None),
            (converted(), crd(two, ""), None),
            (converted(), crd(one, ""), Some("Otter is declared in version v2, which its CRD lacks")),
            (plain(), crd(one, "").replace("Otter", "Seal"), Some("the CRD that is given for Otter is of Seal")),
            (plain(), "spec: [".into(), Some("the CRD that is given for Otter can't be read: ")),
            (plain(), crd("v1", ""), Some("the CRD that is given for Otter can't be read: invalid type: string")),
            (plain(), "{kind: ConfigMap, data: {}}".into(), Some("can't be read: it defines no kind")),
            (plain(), String::new(), Some("can't be read: it defines no kind; give the text of a")),
        ] {
            let found = message(webhook, crd.clone());
            assert_eq!(found.is_some(), expected.is_some(), "{crd}: {found:?}");
            assert!(found.unwrap_or_default().contains(expected.unwrap_or_default()), "{crd}");
        }
    }

    #[test]
    fn a_webhook_that_converts_nothing_is_a_gap() {
        let crd = "{spec: {group: example.org, names: {kind: Otter}, versions: [{name: v1, served: true}], conversion: {strategy: Webhook}}}";
        let webhooks = Webhooks::new().register(Webhook::<v1::Otter>::new().crd(crd));
        assert_eq!(check(&webhooks), Err(ConversionGap::Webhook { kind: "Otter".into() }));
    }
}
