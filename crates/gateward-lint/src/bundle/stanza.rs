//! The conversion stanza that a CRD of a bundle carries.

use std::collections::BTreeSet;

use gateward_core::dns::is_service_name;

use super::client::{is_service_path, url_problem};
use super::field::Field;
use super::files::Bundle;
use super::findings::Findings;
use super::rule::{BundleRule, ERROR, Judge, Stage, WARNING, v0, v1, validator};

const WEBHOOK: &str = "Webhook";

static COMPLETE: BundleRule = BundleRule {
    id: "OLM-CRD-04",
    summary: "a conversion stanza is whole: client, review versions, a port from 1 to 65535",
    refused_by: &[validator(Stage::Crd, ""), v0(Stage::Install, ""), v1(Stage::ApiServer, "")],
    ..ERROR
};

static CARRIED: BundleRule = BundleRule {
    id: "OLM-CRD-05",
    summary: "a CRD of a bundle carries no conversion webhook: OLM puts it in once the operator is installed",
    help: "remove spec.conversion from the CRD of the bundle, and describe a ConversionWebhook in the CSV",
    ..WARNING
};

pub(super) static RULES: &[&BundleRule] = &[&COMPLETE, &CARRIED];

pub(super) fn check(bundle: &Bundle, found: &mut Findings) {
    for crd in bundle.crds() {
        let conversion = crd.below(&["spec", "conversion"]);
        let strategy = conversion.at("strategy");
        match strategy.text() {
            WEBHOOK => {
                let message = "applying this CRD sends conversions to a Service that OLM doesn't make; during an \
                               upgrade they fail until the new operator is installed";
                found.add(CARRIED.at(&conversion, message));
                whole(&crd, &conversion, found);
            }
            "" if conversion.is_absent() => {}
            "None" => without(&conversion, found),
            _ => {
                let broken = COMPLETE.at(&strategy, format!("{} is no strategy of conversion", strategy.shown()));
                found.add(broken.help("write None or Webhook"));
            }
        }
    }
}

/// Conversion without a webhook has nothing else.
fn without(conversion: &Field<'_>, found: &mut Findings) {
    for name in ["webhook", "webhookClientConfig", "conversionReviewVersions"] {
        let member = conversion.at(name);
        if !member.is_absent() {
            let says = format!("{}: Forbidden: should not be set when strategy is not set to Webhook", member.path);
            let broken = COMPLETE.at(&member, format!("{name} is set although the strategy is None"));
            found.add(broken.help("remove it").says(Judge::Validators, &says));
        }
    }
}

fn whole(crd: &Field<'_>, conversion: &Field<'_>, found: &mut Findings) {
    // v1beta1 has the same fields without `webhook` around them.
    let webhook = conversion.at("webhook");
    let (client, versions) = if webhook.is_absent() && crd.manifest.api_version().ends_with("v1beta1") {
        (conversion.at("webhookClientConfig"), conversion.at("conversionReviewVersions"))
    } else {
        (webhook.at("clientConfig"), webhook.at("conversionReviewVersions"))
    };
    if client.is_absent() {
        let says = "spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook";
        let broken = COMPLETE.at(&client, "the stanza names no client");
        found.add(broken.help("remove the stanza: OLM writes it").says(Judge::Validators, says));
    }
    review_versions(&versions, found);
    service(&client, found);
    let keeps = crd.below(&["spec", "preserveUnknownFields"]);
    if keeps.is_true() {
        let says = "spec.conversion.strategy: Invalid value: \"Webhook\": must be None if spec.preserveUnknownFields is \
                    true";
        let broken = COMPLETE.at(&keeps, "a CRD that preserves unknown fields converts without a webhook");
        found.add(broken.help("write preserveUnknownFields: false").says(Judge::Validators, says));
    }
}

fn review_versions(versions: &Field<'_>, found: &mut Findings) {
    if !versions.texts().any(|version| ["v1", "v1beta1"].contains(&version)) {
        let says = "spec.conversion.conversionReviewVersions: Invalid value: must include at least one of v1, v1beta1";
        let broken = COMPLETE.at(versions, "the stanza names no version of ConversionReview");
        found.add(broken.help("write conversionReviewVersions: [v1]").says(Judge::Validators, says));
    }
    let mut known = BTreeSet::new();
    for version in versions.items() {
        let broken = if !is_service_name(version.text()) {
            COMPLETE.at(&version, format!("{} is no name of a version", version.shown()))
        } else if !known.insert(version.text()) {
            COMPLETE.at(&version, format!("the version {} is listed twice", version.text()))
        } else {
            continue;
        };
        found.add(broken.help("write conversionReviewVersions: [v1]"));
    }
}

fn service(client: &Field<'_>, found: &mut Findings) {
    let (service, url) = (client.at("service"), client.at("url"));
    if !client.is_absent() && service.is_absent() == url.is_absent() {
        let says = "exactly one of url or service is required";
        let broken = COMPLETE.at(client, "the client has to be either a Service or a URL");
        found.add(broken.help("keep one of service and url").says(Judge::Validators, says));
    }
    if let Some(problem) = url_problem(url.text()).filter(|_| !url.is_absent()) {
        let broken = COMPLETE.at(&url, format!("{} {problem}", url.shown()));
        found.add(broken.help("write https://, a host and a path"));
    }
    if service.is_absent() {
        return;
    }
    for member in [service.at("name"), service.at("namespace")] {
        if member.text().is_empty() {
            let broken = COMPLETE.at(&member, format!("{} is missing", member.path));
            found.add(broken.help("remove the stanza: OLM writes it"));
        }
    }
    let port = service.at("port");
    if !port.is_absent() && !port.value.as_i64().is_some_and(|port| (1..=65535).contains(&port)) {
        let says = format!("{}: Invalid value: {}: port is not valid", port.path, port.shown());
        let broken = COMPLETE.at(&port, format!("{} is no port", port.shown()));
        found.add(broken.help("write a port from 1 to 65535").says(Judge::Validators, &says));
    }
    let path = service.at("path");
    if !path.is_empty() && !is_service_path(path.text()) {
        let broken = COMPLETE.at(&path, format!("{} is no path", path.shown()));
        found.add(broken.help("write a path that begins with `/`, of steps that are DNS names"));
    }
}
