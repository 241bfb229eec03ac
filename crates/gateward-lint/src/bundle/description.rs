//! One entry of `spec.webhookdefinitions`.

use super::field::Field;
use super::files::Bundle;

/// What a description describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DescriptionType {
    Validating,
    Mutating,
    Conversion,
    Unknown,
}

/// A description with what all rules ask it for.
#[derive(Debug, Clone)]
pub(super) struct Description<'b> {
    pub(super) field: Field<'b>,
    pub(super) kind: DescriptionType,
    pub(super) name: &'b str,
    pub(super) deployment: &'b str,
}

impl<'b> Description<'b> {
    pub(super) fn new(field: Field<'b>) -> Self {
        let kind = match field.at("type").text() {
            "ValidatingAdmissionWebhook" => DescriptionType::Validating,
            "MutatingAdmissionWebhook" => DescriptionType::Mutating,
            "ConversionWebhook" => DescriptionType::Conversion,
            _ => DescriptionType::Unknown,
        };
        let (name, deployment) = (field.at("generateName").text(), field.at("deploymentName").text());
        Self { field, kind, name, deployment }
    }

    pub(super) fn at(&self, name: &'static str) -> Field<'b> {
        self.field.at(name)
    }

    pub(super) fn is_conversion(&self) -> bool {
        self.kind == DescriptionType::Conversion
    }

    /// Whether OLM makes a webhook configuration of it.
    pub(super) fn is_admission(&self) -> bool {
        matches!(self.kind, DescriptionType::Validating | DescriptionType::Mutating)
    }
}

/// The descriptions of a bundle.
pub(super) fn descriptions(bundle: &Bundle) -> impl Iterator<Item = Description<'_>> {
    let all = bundle.csv().map(|csv| csv.below(&["spec", "webhookdefinitions"]));
    all.into_iter().flat_map(|all| all.items()).map(Description::new)
}
