//! The kinds that a CSV provides and the CRDs that it owns.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value;

use super::field::Field;

/// Group, version and kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ApiKind {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) kind: String,
}

impl fmt::Display for ApiKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{} {}", self.group, self.version, self.kind)
    }
}

impl ApiKind {
    pub(super) fn of_object(object: &Value) -> Self {
        let text = |name| object.get(name).and_then(Value::as_str).unwrap_or_default();
        let (group, version) = text("apiVersion").split_once('/').unwrap_or(("", text("apiVersion")));
        Self { group: group.to_owned(), version: version.to_owned(), kind: text("kind").to_owned() }
    }

    /// The kind of an entry of `customresourcedefinitions.owned`.
    pub(super) fn of_owned(owned: &Field<'_>) -> Self {
        let name = owned.at("name").text();
        let group = name.split_once('.').map_or(name, |(_, group)| group);
        let text = |member| owned.at(member).text().to_owned();
        Self { group: group.to_owned(), version: text("version"), kind: text("kind") }
    }

    /// The kinds of a CRD, one of each version.
    pub(super) fn of_crd<'b>(crd: &Field<'b>) -> Vec<(Self, Field<'b>)> {
        let spec = crd.at("spec");
        let text = |field: Field<'_>| field.text().to_owned();
        let kind = |version: String| Self {
            group: text(spec.at("group")),
            version,
            kind: text(spec.below(&["names", "kind"])),
        };
        let versions: Vec<_> =
            spec.at("versions").items().map(|version| (kind(text(version.at("name"))), version)).collect();
        let old = spec.at("version");
        if versions.is_empty() && !old.is_empty() { vec![(kind(text(old.clone())), old)] } else { versions }
    }
}

/// The CRDs that a CSV owns.
pub(super) fn owned<'b>(csv: &Field<'b>) -> impl Iterator<Item = Field<'b>> + use<'b> {
    csv.below(&["spec", "customresourcedefinitions", "owned"]).items()
}

/// The kinds that a CSV provides by CRDs and by API services.
pub(super) fn provided(csv: &Field<'_>) -> BTreeSet<ApiKind> {
    let of_service = |api: Field<'_>| {
        let text = |member| api.at(member).text().to_owned();
        ApiKind { group: text("group"), version: text("version"), kind: text("kind") }
    };
    let services = csv.below(&["spec", "apiservicedefinitions", "owned"]).items().map(of_service);
    owned(csv).map(|owned| ApiKind::of_owned(&owned)).chain(services).collect()
}
