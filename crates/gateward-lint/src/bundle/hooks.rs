//! The fields of webhook descriptions.

use super::client::is_service_path;
use super::description::{Description, DescriptionType, descriptions};
use super::field::Field;
use super::files::Bundle;
use super::findings::Findings;
use super::rule::{BundleRule, ERROR, Judge, Stage, WARNING, v0, v1};

/// What a description may have.
const FIELDS: [&str; 15] = [
    "generateName",
    "type",
    "deploymentName",
    "containerPort",
    "targetPort",
    "rules",
    "failurePolicy",
    "matchPolicy",
    "reinvocationPolicy",
    "objectSelector",
    "sideEffects",
    "timeoutSeconds",
    "admissionReviewVersions",
    "webhookPath",
    "conversionCRDs",
];

/// Fields of webhook configurations that a description has no place for.
const NOT_CARRIED: [(&str, &str); 4] = [
    ("namespaceSelector", "remove it: OLM selects the namespaces of the OperatorGroup; an objectSelector is carried"),
    ("matchConditions", "remove it, and let the handler pass what it has nothing to say about"),
    ("clientConfig", "write deploymentName, containerPort and webhookPath; OLM calls no URL"),
    ("name", "write generateName"),
];

static TYPE: BundleRule = BundleRule {
    id: "OLM-HOOK-01",
    summary: "the type is one of three; OLM v1 makes nothing of any other",
    help: "write ValidatingAdmissionWebhook, MutatingAdmissionWebhook or ConversionWebhook",
    refused_by: &[v0(Stage::CsvSchema, "Unsupported value")],
    ..ERROR
};

static SIDE_EFFECTS: BundleRule = BundleRule {
    id: "OLM-HOOK-10",
    summary: "sideEffects is given, and None or NoneOnDryRun",
    help: "write sideEffects: None",
    refused_by: &[v0(Stage::CsvSchema, "sideEffects: Required value"), v1(Stage::ApiServer, "sideEffects")],
    ..ERROR
};

static REVIEW_VERSIONS: BundleRule = BundleRule {
    id: "OLM-HOOK-11",
    summary: "admissionReviewVersions are given, with one that API servers send",
    help: "write admissionReviewVersions: [v1]",
    refused_by: &[
        v0(Stage::CsvSchema, "admissionReviewVersions: Required value"),
        v1(Stage::ApiServer, "must specify one of v1, v1beta1"),
    ],
    ..ERROR
};

static TIMEOUT: BundleRule = BundleRule {
    id: "OLM-HOOK-12",
    summary: "timeoutSeconds is from 1 to 30",
    help: "write a number from 1 to 30, or remove timeoutSeconds for 10",
    refused_by: &[
        v0(
            Stage::Install,
            "InstallComponentFailed: webhooks[0].timeoutSeconds: Invalid value: the timeout value must be between 1 and 30 \
             seconds",
        ),
        v1(Stage::ApiServer, "webhooks[0].timeoutSeconds: Invalid value"),
    ],
    ..ERROR
};

static POLICIES: BundleRule = BundleRule {
    id: "OLM-HOOK-13",
    summary: "failurePolicy, matchPolicy and reinvocationPolicy have values that the API server knows",
    refused_by: &[
        v0(Stage::Install, "InstallComponentFailed: Unsupported value"),
        v1(Stage::ApiServer, "Unsupported value"),
    ],
    ..ERROR
};

static IDLE_POLICY: BundleRule = BundleRule {
    id: "OLM-HOOK-14",
    summary: "reinvocationPolicy is of mutating webhooks; OLM drops it elsewhere",
    help: "remove reinvocationPolicy",
    ..WARNING
};

static CARRIED: BundleRule = BundleRule {
    id: "OLM-HOOK-15",
    summary: "a description has only fields that OLM carries into the configuration; all others are dropped silently",
    help: "remove the field, or correct its name",
    ..ERROR
};

static PATH: BundleRule = BundleRule {
    id: "OLM-HOOK-17",
    summary: "webhookPath begins with `/`, and each step is a DNS name",
    help: "write a path such as /validate-example-org-v1-crontab",
    refused_by: &[
        v0(Stage::Install, "InstallComponentFailed: clientConfig.service.path: Invalid value"),
        v1(Stage::ApiServer, "clientConfig.service.path: Invalid value"),
    ],
    ..ERROR
};

static NO_PATH: BundleRule = BundleRule {
    id: "OLM-HOOK-18",
    summary: "an admission webhook has a webhookPath; without one the API server calls `/`",
    help: "add webhookPath, the path at which the operator serves this webhook",
    ..WARNING
};

static NO_RULES: BundleRule = BundleRule {
    id: "OLM-HOOK-19",
    summary: "an admission webhook has rules; without any the API server never calls it",
    help: "add rules, with operations, apiGroups, apiVersions and resources",
    ..WARNING
};

static SELECTOR: BundleRule = BundleRule {
    id: "OLM-HOOK-21",
    summary: "objectSelector is a label selector",
    refused_by: &[v0(Stage::CsvSchema, "objectSelector"), v1(Stage::ApiServer, "objectSelector")],
    ..ERROR
};

pub(super) static RULES: &[&BundleRule] = &[
    &TYPE,
    &SIDE_EFFECTS,
    &REVIEW_VERSIONS,
    &TIMEOUT,
    &POLICIES,
    &IDLE_POLICY,
    &CARRIED,
    &PATH,
    &NO_PATH,
    &NO_RULES,
    &SELECTOR,
];

pub(super) fn check(bundle: &Bundle, found: &mut Findings) {
    for description in descriptions(bundle) {
        if description.kind == DescriptionType::Unknown {
            let field = description.at("type");
            found.add(TYPE.at(&field, format!("{} is no type of a webhook", field.shown())));
        }
        fields(&description, found);
        side_effects(&description, found);
        review_versions(&description, found);
        path(&description, found);
        if description.is_admission() {
            timeout(&description, found);
            selector(&description.at("objectSelector"), found);
            let rules = description.at("rules");
            if rules.is_empty() {
                found.add(NO_RULES.at(&rules, format!("{} has no rules and is never called", description.name)));
            }
        }
        policies(&description, found);
    }
}

fn fields(description: &Description<'_>, found: &mut Findings) {
    for (name, value) in description.field.members() {
        if found.is_full() {
            return;
        }
        if FIELDS.contains(&name) {
            continue;
        }
        let broken = CARRIED.at(&value, format!("a description has no field {name}; OLM drops it"));
        let help = NOT_CARRIED.iter().find(|(known, _)| *known == name).map(|(_, help)| *help);
        found.add(match help {
            Some(help) => broken.help(help),
            None => broken,
        });
    }
}

fn side_effects(description: &Description<'_>, found: &mut Findings) {
    let field = description.at("sideEffects");
    if field.is_empty() {
        let broken = SIDE_EFFECTS.at(&field, format!("{} doesn't say its sideEffects", description.name));
        found.add(broken.unless(!description.is_admission(), Judge::OlmV1));
    } else if description.is_admission() && !["None", "NoneOnDryRun"].contains(&field.text()) {
        let says = format!("InstallComponentFailed: webhooks[0].sideEffects: Unsupported value: {}", field.shown());
        let message = format!("a webhook of today can't have sideEffects {}", field.shown());
        found.add(SIDE_EFFECTS.at(&field, message).says(Judge::OlmV0, &says));
    }
}

fn review_versions(description: &Description<'_>, found: &mut Findings) {
    let field = description.at("admissionReviewVersions");
    if field.is_absent() {
        let message = format!("{} doesn't say its admissionReviewVersions", description.name);
        found.add(REVIEW_VERSIONS.at(&field, message));
    } else if !field.texts().any(|version| ["v1", "v1beta1"].contains(&version)) {
        let message = format!("no API server sends reviews of {}", field.shown());
        let says = "InstallComponentFailed: must specify one of v1, v1beta1";
        found.add(REVIEW_VERSIONS.at(&field, message).says(Judge::OlmV0, says));
    }
}

fn path(description: &Description<'_>, found: &mut Findings) {
    let field = description.at("webhookPath");
    if field.is_empty() {
        if description.is_admission() {
            found.add(NO_PATH.at(&field, format!("{} has no webhookPath", description.name)));
        }
        return;
    }
    if !is_service_path(field.text()) {
        found.add(PATH.at(&field, format!("{} is no path", field.shown())));
    }
}

fn timeout(description: &Description<'_>, found: &mut Findings) {
    let field = description.at("timeoutSeconds");
    if !field.is_absent() && !field.value.as_i64().is_some_and(|seconds| (1..=30).contains(&seconds)) {
        found.add(TIMEOUT.at(&field, format!("a webhook can't have {} seconds", field.shown())));
    }
}

fn policies(description: &Description<'_>, found: &mut Findings) {
    let known: [(&str, [&str; 2]); 3] = [
        ("failurePolicy", ["Fail", "Ignore"]),
        ("matchPolicy", ["Exact", "Equivalent"]),
        ("reinvocationPolicy", ["Never", "IfNeeded"]),
    ];
    for (name, values) in known {
        let field = description.at(name);
        if field.is_absent() {
            continue;
        }
        let is_idle = name == "reinvocationPolicy" && description.kind != DescriptionType::Mutating;
        if is_idle {
            found.add(IDLE_POLICY.at(&field, format!("{} is not a mutating webhook", description.name)));
        } else if description.is_admission() && !values.contains(&field.text()) {
            let broken = POLICIES.at(&field, format!("{} is no {name}", field.shown()));
            found.add(broken.help(format!("write {}", values.join(" or "))));
        }
    }
}

fn selector(selector: &Field<'_>, found: &mut Findings) {
    if selector.is_absent() {
        return;
    }
    if !selector.value.is_object() {
        let message = format!("{} is no label selector", selector.shown());
        found.add(SELECTOR.at(selector, message).help("write matchLabels or matchExpressions"));
    }
    for (label, value) in selector.at("matchLabels").members().filter(|(_, value)| !value.value.is_string()) {
        let message = format!("the value of the label {label} is no text");
        found.add(SELECTOR.at(&value, message).help("quote the value"));
    }
    for expression in selector.at("matchExpressions").items() {
        if found.is_full() {
            return;
        }
        let operator = expression.at("operator");
        let values = expression.at("values");
        let problem = match operator.text() {
            "In" | "NotIn" if values.is_empty() => Some((values, "list the values")),
            "Exists" | "DoesNotExist" if !values.is_empty() => Some((values, "remove the values")),
            "In" | "NotIn" | "Exists" | "DoesNotExist" => None,
            _ => Some((operator, "write In, NotIn, Exists or DoesNotExist")),
        };
        if let Some((field, help)) = problem {
            let message = format!("{} doesn't fit a label selector", field.shown());
            found.add(SELECTOR.at(&field, message).help(help));
        }
    }
}
