//! The install modes of a CSV.

use std::collections::BTreeSet;

use super::field::Field;
use super::files::Bundle;
use super::findings::Findings;
use super::rule::{BundleRule, ERROR, Judge, Stage, v0, validator};

/// The mode of an operator that watches all namespaces.
pub(super) const ALL_NAMESPACES: &str = "AllNamespaces";

static SUPPORTED: BundleRule = BundleRule {
    id: "OLM-CSV-05",
    summary: "the CSV lists install modes, and supports one",
    help: "list the four modes, at least one of them with supported: true",
    refused_by: &[validator(Stage::Csv, ""), v0(Stage::OperatorGroup, "UnsupportedOperatorGroup")],
    ..ERROR
};

static TWICE: BundleRule = BundleRule {
    id: "OLM-CSV-06",
    summary: "each install mode is listed once; the test of the validators for it never fires",
    help: "keep one entry of each type",
    ..ERROR
};

pub(super) static RULES: &[&BundleRule] = &[&SUPPORTED, &TWICE];

/// The list of modes.
pub(super) fn list<'b>(csv: &Field<'b>) -> Field<'b> {
    csv.below(&["spec", "installModes"])
}

/// The types of the modes that are supported.
pub(super) fn supported<'b>(csv: &Field<'b>) -> BTreeSet<&'b str> {
    list(csv).items().filter(|mode| mode.at("supported").is_true()).map(|mode| mode.at("type").text()).collect()
}

pub(super) fn check(bundle: &Bundle, found: &mut Findings) {
    let Some(csv) = bundle.csv() else { return };
    let modes = list(&csv);
    if modes.is_empty() {
        let says = "UnsupportedOperatorGroup: AllNamespaces InstallModeType not supported";
        let broken = SUPPORTED.at(&modes, "the CSV lists no install modes");
        found.add(broken.says(Judge::Validators, "install modes not found").says(Judge::OlmV0, says));
    } else if supported(&csv).is_empty() {
        let says = "UnsupportedOperatorGroup: AllNamespaces InstallModeType not supported";
        let broken = SUPPORTED.at(&modes, "the CSV supports none of its install modes");
        found.add(broken.says(Judge::Validators, "none of InstallModeTypes are supported").says(Judge::OlmV0, says));
    }
    let mut known = BTreeSet::new();
    for mode in modes.items() {
        let kind = mode.at("type");
        if !kind.is_empty() && !known.insert(kind.text()) {
            found.add(TWICE.at(&kind, format!("the install mode {} is listed twice", kind.text())));
        }
    }
}
