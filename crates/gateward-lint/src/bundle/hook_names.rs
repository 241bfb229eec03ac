//! The names of webhook descriptions.

use std::collections::{BTreeMap, BTreeSet};

use gateward_core::dns::{LONGEST_LABEL, is_subdomain};

use super::description::{Description, descriptions};
use super::files::Bundle;
use super::findings::Findings;
use super::rule::{BundleRule, ERROR, Judge, Stage, v0, v1};

static GIVEN: BundleRule = BundleRule {
    id: "OLM-HOOK-02",
    summary: "a description has a name",
    help: "add generateName, such as vcrontab.example.org",
    refused_by: &[v0(Stage::CsvSchema, "generateName: Required value"), v1(Stage::BundleValidate, "has invalid name")],
    ..ERROR
};

static UNIQUE: BundleRule = BundleRule {
    id: "OLM-HOOK-03",
    summary: "no two descriptions have the same name: of one type in OLM v1, of all types in OLM v0",
    help: "give each description a name of its own, such as vcrontab.example.org and mcrontab.example.org",
    refused_by: &[v0(Stage::Rules, ""), v1(Stage::BundleValidate, "")],
    ..ERROR
};

static LABEL_VALUE: BundleRule = BundleRule {
    id: "OLM-HOOK-04",
    summary: "a name has at most 63 characters: OLM v0 writes it into a label of the configuration",
    help: "shorten generateName to 63 characters",
    refused_by: &[v0(
        Stage::Install,
        "InstallComponentFailed: metadata.labels: Invalid value: must be no more than 63 characters",
    )],
    ..ERROR
};

static QUALIFIED: BundleRule = BundleRule {
    id: "OLM-HOOK-05",
    summary: "the name of an admission webhook has three parts: OLM uses it as the webhook's name",
    help: "write at least three parts separated by dots, such as vcrontab.example.org",
    refused_by: &[
        v0(
            Stage::ApiServer,
            "InstallComponentFailed: webhooks[0].name: Invalid value: should be a domain with at least three segments \
             separated by dots",
        ),
        v1(Stage::ApiServer, "should be a domain with at least three segments separated by dots"),
    ],
    ..ERROR
};

static SUBDOMAIN: BundleRule = BundleRule {
    id: "OLM-HOOK-06",
    summary: "a name is a DNS subdomain",
    help: "write lower case letters, digits, `-` and `.`",
    refused_by: &[
        v0(Stage::Install, "InstallComponentFailed: webhooks[0].name: Invalid value"),
        v1(Stage::BundleValidate, ""),
    ],
    ..ERROR
};

pub(super) static RULES: &[&BundleRule] = &[&GIVEN, &UNIQUE, &LABEL_VALUE, &QUALIFIED, &SUBDOMAIN];

pub(super) fn check(bundle: &Bundle, found: &mut Findings) {
    let mut known: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for description in descriptions(bundle) {
        let name = description.at("generateName");
        if description.name.is_empty() {
            found.add(GIVEN.at(&name, "a description has no generateName"));
            continue;
        }
        let kind = description.at("type").text();
        let kinds = known.entry(description.name).or_default();
        if !kinds.is_empty() {
            let by_v0 = format!(
                "InvalidWebhookDescription: CSV contains repeated WebhookDescription name {}",
                description.name
            );
            let by_v1 = format!("duplicate webhook '{}' of type '{kind}'", description.name);
            let broken = UNIQUE.at(&name, format!("two descriptions are named {}", description.name));
            let broken = broken.says(Judge::OlmV0, &by_v0).says(Judge::OlmV1, &by_v1);
            found.add(broken.unless(!kinds.contains(kind), Judge::OlmV1));
        }
        kinds.insert(kind);
        form(&description, found);
    }
}

fn form(description: &Description<'_>, found: &mut Findings) {
    let (name, text) = (description.at("generateName"), description.name);
    if !is_subdomain(text) {
        let says = format!("webhook of type '{}' has invalid name '{text}'", description.at("type").text());
        let broken = SUBDOMAIN.at(&name, format!("{text:?} is no DNS subdomain")).says(Judge::OlmV1, &says);
        found.add(broken.unless(!description.is_admission(), Judge::OlmV0));
    } else if description.is_admission() && text.split('.').count() < 3 {
        found.add(QUALIFIED.at(&name, format!("{text} has fewer than three parts")));
    }
    // Conversion has no configuration, so no label.
    if description.is_admission() && text.len() > LONGEST_LABEL {
        found.add(LABEL_VALUE.at(&name, format!("{text} has {} characters", text.len())));
    }
}
