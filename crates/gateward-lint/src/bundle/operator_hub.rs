//! What operatorhub.io asks of a CSV, judged where it is asked for.

use semver::Version;

use super::field::Field;
use super::files::Bundle;
use super::findings::Findings;
use super::rule::{BundleRule, ERROR, Stage, Suite, WARNING, validator};

const ICONS: [&str; 4] = ["image/gif", "image/jpeg", "image/png", "image/svg+xml"];

const CAPABILITIES: [&str; 5] = ["Basic Install", "Seamless Upgrades", "Full Lifecycle", "Deep Insights", "Auto Pilot"];

const CATEGORIES: [&str; 16] = [
    "AI/Machine Learning",
    "Application Runtime",
    "Big Data",
    "Cloud Provider",
    "Database",
    "Developer Tools",
    "Integration & Delivery",
    "Logging & Tracing",
    "Modernization & Migration",
    "Monitoring",
    "Networking",
    "Observability",
    "OpenShift Optional",
    "Security",
    "Storage",
    "Streaming & Messaging",
];

const OF_HUB: Stage = Stage::Optional(Suite::OperatorHub);
const HUB_ERROR: BundleRule = BundleRule { suite: Some(Suite::OperatorHub), ..ERROR };

static PROVIDER: BundleRule = BundleRule {
    id: "OLM-HUB-01",
    summary: "the CSV names its provider",
    help: "add spec.provider.name",
    refused_by: &[validator(OF_HUB, "csv.Spec.Provider.Name not specified")],
    ..HUB_ERROR
};

static MAINTAINERS: BundleRule = BundleRule {
    id: "OLM-HUB-02",
    summary: "each maintainer has a name and an e-mail address",
    refused_by: &[validator(OF_HUB, "csv.Spec.Maintainers")],
    ..HUB_ERROR
};

static LINKS: BundleRule = BundleRule {
    id: "OLM-HUB-03",
    summary: "each link has a name and a URL",
    refused_by: &[validator(OF_HUB, "csv.Spec.Links")],
    ..HUB_ERROR
};

static VERSION: BundleRule = BundleRule {
    id: "OLM-HUB-04",
    summary: "the CSV has a version",
    help: "add spec.version, three numbers such as 1.2.3",
    refused_by: &[validator(OF_HUB, "csv.Spec.Version must be set")],
    ..HUB_ERROR
};

static ICON: BundleRule = BundleRule {
    id: "OLM-HUB-05",
    summary: "the icon is one picture with data and a type that browsers show",
    help: "write one icon with base64data and mediatype image/gif, image/jpeg, image/png or image/svg+xml",
    refused_by: &[validator(OF_HUB, "csv.Spec.Icon")],
    ..HUB_ERROR
};

static NO_ICON: BundleRule = BundleRule {
    id: "OLM-HUB-06",
    summary: "the CSV has an icon",
    help: "add spec.icon",
    suite: Some(Suite::OperatorHub),
    ..WARNING
};

static CAPABILITY: BundleRule = BundleRule {
    id: "OLM-HUB-07",
    summary: "the capability level is one of five",
    help: "write Basic Install, Seamless Upgrades, Full Lifecycle, Deep Insights or Auto Pilot",
    suite: Some(Suite::Capabilities),
    refused_by: &[validator(Stage::Optional(Suite::Capabilities), "is not a valid capabilities level")],
    ..ERROR
};

static CATEGORY: BundleRule = BundleRule {
    id: "OLM-HUB-08",
    summary: "the categories are those of the catalogue",
    suite: Some(Suite::Categories),
    refused_by: &[validator(Stage::Optional(Suite::Categories), "is not a valid category")],
    ..ERROR
};

pub(super) static RULES: &[&BundleRule] =
    &[&PROVIDER, &MAINTAINERS, &LINKS, &VERSION, &ICON, &NO_ICON, &CAPABILITY, &CATEGORY];

pub(super) fn check(bundle: &Bundle, found: &mut Findings) {
    let Some(csv) = bundle.csv() else { return };
    let spec = csv.at("spec");
    let provider = spec.below(&["provider", "name"]);
    if provider.text().trim().is_empty() {
        found.add(PROVIDER.at(&provider, "spec.provider.name is missing"));
    }
    people(&spec, found);
    links(&spec, found);
    let version = spec.at("version");
    if !Version::parse(version.text()).is_ok_and(|version| version > Version::new(0, 0, 0)) {
        found.add(VERSION.at(&version, format!("{} is no version of a release", version.shown())));
    }
    icon(&spec.at("icon"), found);
    let annotations = csv.below(&["metadata", "annotations"]);
    let capability = annotations.entry("capabilities");
    if !capability.is_absent() && !CAPABILITIES.contains(&capability.text()) {
        found.add(CAPABILITY.at(&capability, format!("there is no capability level {}", capability.shown())));
    }
    categories(&annotations.entry("categories"), found);
}

fn people(spec: &Field<'_>, found: &mut Findings) {
    for person in spec.at("maintainers").items() {
        let (name, email) = (person.at("name"), person.at("email"));
        if name.text().is_empty() {
            found.add(MAINTAINERS.at(&name, "a maintainer has no name").help("add name"));
        }
        if !is_address(email.text()) {
            let message = format!("{} is no e-mail address", email.shown());
            found.add(MAINTAINERS.at(&email, message).help("write an address such as team@example.org"));
        }
    }
}

/// An address, or one in angle brackets behind a name.
fn is_address(text: &str) -> bool {
    let within = text.strip_suffix('>').and_then(|text| text.rsplit_once('<')).map(|(_, address)| address);
    within.unwrap_or(text).split_once('@').is_some_and(|(user, host)| {
        !user.is_empty() && !host.is_empty() && !host.contains(['@', ' ', '<', '>']) && !user.contains([' ', '<', '>'])
    })
}

fn links(spec: &Field<'_>, found: &mut Findings) {
    for link in spec.at("links").items() {
        let (name, url) = (link.at("name"), link.at("url"));
        if name.text().is_empty() {
            found.add(LINKS.at(&name, "a link has no name").help("add name"));
        }
        let is_url = url.text().split_once("://").is_some_and(|(scheme, rest)| {
            !scheme.is_empty() && !rest.is_empty() && !rest.contains(char::is_whitespace)
        });
        if !is_url {
            found.add(
                LINKS.at(&url, format!("{} is no URL", url.shown())).help("write a URL, such as https://example.org"),
            );
        }
    }
}

fn icon(icons: &Field<'_>, found: &mut Findings) {
    if icons.is_empty() {
        found.add(NO_ICON.at(icons, "the CSV has no icon"));
        return;
    }
    if icons.items().nth(1).is_some() {
        found.add(ICON.at(icons, "the CSV has more than one icon"));
    }
    for icon in icons.items() {
        let (data, kind) = (icon.at("base64data"), icon.at("mediatype"));
        if data.text().is_empty() {
            found.add(ICON.at(&data, "the icon has no data"));
        }
        if !ICONS.contains(&kind.text()) {
            found.add(ICON.at(&kind, format!("{} is no type of an icon", kind.shown())));
        }
    }
}

fn categories(categories: &Field<'_>, found: &mut Findings) {
    if categories.is_absent() {
        return;
    }
    for category in categories.text().split(',').map(str::trim) {
        if !CATEGORIES.contains(&category) {
            let help = format!("write some of {}", CATEGORIES.join(", "));
            found.add(CATEGORY.at(categories, format!("there is no category {category:?}")).help(help));
        }
    }
}
