//! Descriptions of conversion webhooks, and what they demand of the CSV and its CRDs.

use std::collections::{BTreeMap, BTreeSet};

use super::description::{Description, descriptions};
use super::field::Field;
use super::files::Bundle;
use super::findings::Findings;
use super::install_modes::{self, ALL_NAMESPACES};
use super::provided::owned;
use super::rule::{BundleRule, ERROR, Judge, Stage, WARNING, v0, v1, validator};

static ALL_NAMESPACES_ONLY: BundleRule = BundleRule {
    id: "OLM-CONV-01",
    summary: "an operator with a conversion webhook supports the install mode AllNamespaces and no other",
    help: "write supported: true for AllNamespaces, supported: false for all others",
    refused_by: &[
        validator(Stage::Csv, "only AllNamespaces InstallModeType is supported when conversionCRDs is present"),
        v0(Stage::Install, "InstallComponentFailed: CSVs with conversion webhooks must support only AllNamespaces"),
        v1(
            Stage::BundleValidate,
            "conversion webhooks are only supported for bundles that only support AllNamespaces install mode",
        ),
    ],
    ..ERROR
};

static NAMES_CRDS: BundleRule = BundleRule {
    id: "OLM-CONV-02",
    summary: "a conversion webhook names the CRDs that it converts",
    help: "list them in conversionCRDs, such as crontabs.example.org",
    refused_by: &[v0(
        Stage::Install,
        "InstallComponentFailed: Conversion Webhook must have at least one CRD specified",
    )],
    ..ERROR
};

static OWNED: BundleRule = BundleRule {
    id: "OLM-CONV-03",
    summary: "a conversion webhook converts CRDs that the CSV owns",
    help: "list the CRD in spec.customresourcedefinitions.owned, and put it into manifests/",
    refused_by: &[v0(Stage::Install, ""), v1(Stage::BundleValidate, "")],
    ..ERROR
};

static CLAIMED_ONCE: BundleRule = BundleRule {
    id: "OLM-CONV-04",
    summary: "a CRD is converted by one conversion webhook; under OLM v0 the last one written wins",
    help: "list the CRD in one description",
    refused_by: &[v1(Stage::BundleValidate, "")],
    ..ERROR
};

static PATH: BundleRule = BundleRule {
    id: "OLM-CONV-05",
    summary: "a conversion webhook has a path; without one the API server calls `/`",
    help: "add webhookPath, such as /convert",
    ..WARNING
};

static PRUNED: BundleRule = BundleRule {
    id: "OLM-CONV-06",
    summary: "a CRD that a webhook converts doesn't preserve unknown fields",
    help: "write preserveUnknownFields: false, and x-kubernetes-preserve-unknown-fields where a schema needs it",
    refused_by: &[
        v0(
            Stage::Install,
            "InstallComponentFailed: crd.Spec.PreserveUnknownFields must be false to let API Server call webhook to do \
             the conversion",
        ),
        v1(Stage::Render, "must have .spec.preserveUnknownFields set to false"),
    ],
    ..ERROR
};

static OTHER_TYPE: BundleRule = BundleRule {
    id: "OLM-CONV-07",
    summary: "conversionCRDs belong to conversion webhooks alone; OLM ignores them elsewhere",
    help: "remove conversionCRDs, or describe a ConversionWebhook",
    ..ERROR
};

static TWO_VERSIONS: BundleRule = BundleRule {
    id: "OLM-CONV-08",
    summary: "a CRD that a webhook converts has more than one version",
    help: "remove the conversion webhook until the CRD has a second version",
    ..WARNING
};

pub(super) static RULES: &[&BundleRule] =
    &[&ALL_NAMESPACES_ONLY, &NAMES_CRDS, &OWNED, &CLAIMED_ONCE, &PATH, &PRUNED, &OTHER_TYPE, &TWO_VERSIONS];

/// What is known of CRDs.
struct Crds<'b> {
    owned: BTreeSet<&'b str>,
    in_bundle: BTreeMap<&'b str, Field<'b>>,
}

pub(super) fn check(bundle: &Bundle, found: &mut Findings) {
    let Some(csv) = bundle.csv() else { return };
    install_modes(bundle, &csv, found);
    let crds = Crds {
        owned: owned(&csv).map(|owned| owned.at("name").text()).collect(),
        in_bundle: bundle.crds().map(|crd| (crd.below(&["metadata", "name"]).text(), crd)).collect(),
    };
    let mut claimed = BTreeMap::new();
    for description in descriptions(bundle) {
        let listed = description.at("conversionCRDs");
        if !description.is_conversion() {
            if !listed.is_empty() {
                let message = format!("{} is no conversion webhook, but lists conversionCRDs", description.name);
                found.add(OTHER_TYPE.at(&listed, message));
            }
            continue;
        }
        if listed.is_empty() {
            found.add(NAMES_CRDS.at(&listed, format!("{} names no CRD to convert", description.name)));
        }
        if description.at("webhookPath").is_empty() {
            let message = format!("{} has no webhookPath", description.name);
            found.add(PATH.at(&description.at("webhookPath"), message));
        }
        for crd in listed.items() {
            claims(&description, &crd, &mut claimed, found);
            converts(&description, &csv, &crd, &crds, found);
        }
    }
}

/// The validators look whether conversionCRDs are there, OLM whether the type is that of conversion.
fn install_modes(bundle: &Bundle, csv: &Field<'_>, found: &mut Findings) {
    let supported = install_modes::supported(csv);
    let modes = install_modes::list(csv);
    if supported.len() == 1 && supported.contains(ALL_NAMESPACES) {
        return;
    }
    let of_type = descriptions(bundle).find(Description::is_conversion);
    let by_field = descriptions(bundle).find(|description| !description.at("conversionCRDs").is_empty());
    let Some(description) = of_type.as_ref().or(by_field.as_ref()) else { return };
    let listed: Vec<&str> = supported.iter().copied().take(8).collect();
    let message = match listed.as_slice() {
        [] => format!("{} needs AllNamespaces, and the CSV supports no install mode", description.name),
        listed => format!("{} needs AllNamespaces alone, and the CSV supports {}", description.name, listed.join(", ")),
    };
    let by_v1 = format!(
        "bundle contains conversion webhook {:?} and supports install modes [{}] - conversion webhooks are only supported \
         for bundles that only support AllNamespaces install mode",
        description.name,
        listed.join(" "),
    );
    let broken = ALL_NAMESPACES_ONLY.at(&modes, message).says(Judge::OlmV1, &by_v1);
    let broken = broken.unless(by_field.is_none() || modes.is_empty(), Judge::Validators);
    let broken = broken.unless(of_type.is_none(), Judge::OlmV0).unless(of_type.is_none(), Judge::OlmV1);
    // Without a mode that fits the OperatorGroup, OLM v0 doesn't get as far as conversion.
    found.add(broken.unless(supported.is_empty(), Judge::OlmV0));
}

fn claims<'b>(
    description: &Description<'b>,
    crd: &Field<'b>,
    claimed: &mut BTreeMap<&'b str, &'b str>,
    found: &mut Findings,
) {
    let Some(first) = claimed.insert(crd.text(), description.name) else { return };
    let says = format!(
        "conversion webhooks [{first},{}] reference same custom resource definition '{}'",
        description.name,
        crd.text()
    );
    let message = format!("{} is already converted by {first}", crd.text());
    found.add(CLAIMED_ONCE.at(crd, message).says(Judge::OlmV1, &says));
}

fn converts(description: &Description<'_>, csv: &Field<'_>, named: &Field<'_>, crds: &Crds<'_>, found: &mut Findings) {
    let name = named.text();
    if !crds.owned.contains(name) {
        let by_v0 = format!("InstallComponentFailed: CSV {} does not own CRD {name}", csv.manifest.name());
        let by_v1 = format!(
            "conversion webhook '{}' references custom resource definition '{name}' not owned bundle",
            description.name
        );
        let broken = OWNED.at(named, format!("the CSV doesn't own {name}"));
        found.add(broken.says(Judge::OlmV0, &by_v0).says(Judge::OlmV1, &by_v1));
    }
    let Some(crd) = crds.in_bundle.get(name) else { return };
    let keeps = crd.below(&["spec", "preserveUnknownFields"]);
    if keeps.is_true() {
        let says = format!(
            "custom resource definition '{name}' must have .spec.preserveUnknownFields set to false to let API Server \
             call webhook to do the conversion"
        );
        let message = format!("{} can't convert {name}, which preserves unknown fields", description.name);
        found.add(PRUNED.at(&keeps, message).says(Judge::OlmV1, &says));
    }
    if crd.below(&["spec", "versions"]).items().take(2).count() == 1 {
        found.add(TWO_VERSIONS.at(named, format!("{name} has one version, which nothing converts")));
    }
}
