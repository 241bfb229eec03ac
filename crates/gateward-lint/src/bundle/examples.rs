//! The examples that a CSV shows for the kinds that it provides.

use std::collections::BTreeSet;

use serde_json::Value;

use super::field::Field;
use super::files::Bundle;
use super::findings::Findings;
use super::provided::{ApiKind, owned, provided};
use super::rule::{BundleRule, ERROR, Judge, Stage, WARNING, validator};

const ALM: &str = "alm-examples";
const OLM: &str = "olm.examples";

static READABLE: BundleRule = BundleRule {
    id: "OLM-CSV-09",
    summary: "the examples are a list of objects in JSON, each of a kind that the CSV provides",
    refused_by: &[validator(Stage::Csv, "")],
    ..ERROR
};

static COMPLETE: BundleRule = BundleRule {
    id: "OLM-CSV-10",
    summary: "the CSV has an example of each kind that it provides, in one annotation",
    ..WARNING
};

static OWNED_NAME: BundleRule = BundleRule {
    id: "OLM-CSV-15",
    summary: "an owned CRD is named by plural and group",
    help: "write the name of the CRD, such as crontabs.example.org",
    refused_by: &[validator(Stage::Csv, "couldn't parse plural.group from crd name")],
    ..ERROR
};

pub(super) static RULES: &[&BundleRule] = &[&READABLE, &COMPLETE, &OWNED_NAME];

pub(super) fn check(bundle: &Bundle, found: &mut Findings) {
    let Some(csv) = bundle.csv() else { return };
    for name in owned(&csv).map(|owned| owned.at("name")) {
        if !name.text().contains('.') {
            let says = format!("couldn't parse plural.group from crd name: {}", name.text());
            let message = format!("{:?} is not the name of a CRD", name.text());
            found.add(OWNED_NAME.at(&name, message).says(Judge::Validators, &says));
        }
    }
    let annotations = csv.below(&["metadata", "annotations"]);
    let (alm, olm) = (annotations.entry(ALM), annotations.entry(OLM));
    if alm.is_absent() && olm.is_absent() {
        let message = format!("the CSV has no annotation {ALM}");
        found.add(COMPLETE.at(&annotations, message).help(format!("add {ALM} with one object of each kind")));
        return;
    }
    if !alm.is_absent() && !olm.is_absent() {
        let message = format!("{ALM} and {OLM} are both there; {OLM} is not looked at");
        found.add(COMPLETE.at(&olm, message).help("keep one of them"));
    }
    let examples = if alm.is_absent() { olm } else { alm };
    let Some(objects) = read(examples.whole_text()) else {
        let broken = READABLE.at(&examples, "the examples are no list of objects in JSON");
        let help = "write a JSON list, as in `[{\"apiVersion\": \"example.org/v1\", \"kind\": \"CronTab\"}]`";
        found.add(broken.says(Judge::Validators, "invalid example").help(help));
        return;
    };
    compare(&csv, &examples, &objects, found);
}

/// Null and nothing at all are lists without items.
fn read(text: &str) -> Option<Vec<Value>> {
    if text.trim().is_empty() {
        return Some(Vec::new());
    }
    let objects: Option<Vec<Value>> = serde_json::from_str(text).ok()?;
    Some(objects.unwrap_or_default()).filter(|objects| objects.iter().all(Value::is_object))
}

fn compare(csv: &Field<'_>, examples: &Field<'_>, objects: &[Value], found: &mut Findings) {
    let shown: BTreeSet<ApiKind> = objects.iter().map(ApiKind::of_object).collect();
    let provided = provided(csv);
    for kind in shown.difference(&provided) {
        let broken = READABLE.at(examples, format!("the CSV has an example of {kind}, which it doesn't provide"));
        let help = "remove the example, or list its CRD in spec.customresourcedefinitions.owned";
        found.add(broken.says(Judge::Validators, "example must have a provided API").help(help));
    }
    for kind in provided.difference(&shown) {
        let broken = COMPLETE.at(examples, format!("the CSV has no example of {kind}"));
        found.add(broken.help(format!("add an object of {kind}")));
    }
}
