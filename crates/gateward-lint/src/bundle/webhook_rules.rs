//! What the rules of a description may match.

use super::description::{Description, descriptions};
use super::field::Field;
use super::files::Bundle;
use super::findings::Findings;
use super::rule::{BundleRule, ERROR, Judge, Stage, WARNING, v0, v1};

const ADMISSION_GROUP: &str = "admissionregistration.k8s.io";
const OLM_GROUP: &str = "operators.coreos.com";
const OLM_V1_GROUP: &str = "olm.operatorframework.io";

/// Objects of the group above that the API server sends to no webhook.
const CONFIGURATIONS: [&str; 4] = [
    "mutatingwebhookconfiguration",
    "mutatingwebhookconfigurations",
    "validatingwebhookconfiguration",
    "validatingwebhookconfigurations",
];

/// Further ones, of a later time.
const POLICIES: [&str; 8] = [
    "validatingadmissionpolicies",
    "validatingadmissionpolicybindings",
    "mutatingadmissionpolicies",
    "mutatingadmissionpolicybindings",
    "validatingadmissionpolicy",
    "validatingadmissionpolicybinding",
    "mutatingadmissionpolicy",
    "mutatingadmissionpolicybinding",
];

static ALL_GROUPS: BundleRule = BundleRule {
    id: "OLM-RULE-01",
    summary: "no rule matches all API groups",
    help: "name the groups whose objects the webhook judges",
    refused_by: &[
        v0(Stage::Rules, "InvalidWebhookDescription: Webhook rules cannot include all groups"),
        v1(Stage::BundleValidate, ""),
    ],
    ..ERROR
};

static GROUP_OF_V0: BundleRule = BundleRule {
    id: "OLM-RULE-02",
    summary: "no rule matches the group of OLM v0, operators.coreos.com",
    help: "remove the group; a webhook that fails would keep OLM from repairing it",
    refused_by: &[v0(Stage::Rules, "InvalidWebhookDescription: Webhook rules cannot include the OLM group")],
    ..ERROR
};

static GROUP_OF_V1: BundleRule = BundleRule {
    id: "OLM-RULE-03",
    summary: "no rule matches the group of OLM v1, olm.operatorframework.io",
    help: "remove the group; a webhook that fails would keep OLM from repairing it",
    refused_by: &[v1(Stage::BundleValidate, "")],
    ..ERROR
};

static WEBHOOK_CONFIGURATIONS: BundleRule = BundleRule {
    id: "OLM-RULE-04",
    summary: "no rule matches webhook configurations, in whatever spelling: by kind or resource, in any case, with a \
              subresource, by `*` or `*/*`",
    help: "remove the resource; the API server sends these objects to no webhook",
    refused_by: &[
        v0(
            Stage::Rules,
            "InvalidWebhookDescription: Webhook rules cannot include MutatingWebhookConfiguration or \
             ValidatingWebhookConfiguration resources",
        ),
        v1(Stage::BundleValidate, ""),
    ],
    ..ERROR
};

static ADMISSION_POLICIES: BundleRule = BundleRule {
    id: "OLM-RULE-05",
    summary: "no rule matches admission policies, which the API server sends to no webhook",
    help: "remove the resource",
    ..ERROR
};

static OF_CONVERSION: BundleRule = BundleRule {
    id: "OLM-RULE-06",
    summary: "a conversion webhook has no rules: the CRD says what is converted",
    help: "remove rules",
    ..ERROR
};

static WHOLE: BundleRule = BundleRule {
    id: "OLM-RULE-07",
    summary: "a rule names operations, groups, versions and resources in the API server's terms",
    refused_by: &[v0(Stage::Install, "InstallComponentFailed"), v1(Stage::ApiServer, "")],
    ..ERROR
};

static OWN_PODS: BundleRule = BundleRule {
    id: "OLM-RULE-08",
    summary: "no rule with failurePolicy Fail matches the operator's own Pods: OLM registers webhooks before Pods serve",
    help: "add an objectSelector that leaves the operator's Pods out, or write failurePolicy: Ignore",
    ..WARNING
};

pub(super) static RULES: &[&BundleRule] = &[
    &ALL_GROUPS,
    &GROUP_OF_V0,
    &GROUP_OF_V1,
    &WEBHOOK_CONFIGURATIONS,
    &ADMISSION_POLICIES,
    &OF_CONVERSION,
    &WHOLE,
    &OWN_PODS,
];

pub(super) fn check(bundle: &Bundle, found: &mut Findings) {
    for description in descriptions(bundle) {
        let rules = description.at("rules");
        if description.is_conversion() && !rules.is_empty() {
            found.add(OF_CONVERSION.at(&rules, format!("{} has rules, which mean nothing", description.name)));
        }
        for rule in rules.items() {
            groups(&description, &rule, found);
            if description.is_admission() {
                whole(&rule, found);
                own_pods(&description, &rule, found);
            }
        }
    }
}

/// OLM v1 doesn't look at the rules of conversion webhooks.
fn groups(description: &Description<'_>, rule: &Field<'_>, found: &mut Findings) {
    let by_v1 = |group: &str| {
        format!(
            "webhook {:?} contains forbidden rule: admission webhook rules cannot reference API group {group:?}",
            description.name
        )
    };
    for group in rule.at("apiGroups").items() {
        if found.is_full() {
            return;
        }
        let broken = match group.text() {
            "*" => ALL_GROUPS.at(&group, format!("a rule of {} matches all groups", description.name)),
            OLM_GROUP => GROUP_OF_V0.at(&group, format!("a rule of {} matches the group of OLM", description.name)),
            OLM_V1_GROUP => {
                GROUP_OF_V1.at(&group, format!("a rule of {} matches the group of OLM v1", description.name))
            }
            ADMISSION_GROUP => {
                resources(description, rule, found);
                continue;
            }
            _ => continue,
        };
        found.add(broken.says(Judge::OlmV1, &by_v1(group.text())).unless(description.is_conversion(), Judge::OlmV1));
    }
}

fn resources(description: &Description<'_>, rule: &Field<'_>, found: &mut Findings) {
    for resource in rule.at("resources").items() {
        if found.is_full() {
            return;
        }
        let text = resource.text();
        let lower = text.to_lowercase();
        let name = lower.split('/').next().unwrap_or_default();
        if name == "*" || CONFIGURATIONS.contains(&name) {
            let says = format!(
                "webhook {:?} contains forbidden rule: admission webhook rules cannot reference resource {text:?} for API \
                 group {ADMISSION_GROUP:?}",
                description.name
            );
            let message = format!("a rule of {} matches webhook configurations by {text:?}", description.name);
            let seen_by_v0 = ["*", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"].contains(&text);
            let seen_by_v1 = !lower.contains('/') && !description.is_conversion();
            let broken = WEBHOOK_CONFIGURATIONS.at(&resource, message).says(Judge::OlmV1, &says);
            found.add(broken.unless(!seen_by_v0, Judge::OlmV0).unless(!seen_by_v1, Judge::OlmV1));
        } else if POLICIES.contains(&name) {
            let message = format!("a rule of {} matches admission policies by {text:?}", description.name);
            found.add(ADMISSION_POLICIES.at(&resource, message));
        }
    }
}

fn whole(rule: &Field<'_>, found: &mut Findings) {
    for name in ["operations", "apiGroups", "apiVersions", "resources"] {
        let list = rule.at(name);
        if list.items().next().is_none() {
            let says = format!("{name}: Required value");
            let broken = WHOLE.at(&list, format!("the rule has no {name}"));
            let broken = broken.help(format!("list the {name}, or write `*`"));
            found.add(broken.says(Judge::OlmV1, &says).says(Judge::OlmV0, &format!("InstallComponentFailed: {says}")));
        } else if name != "resources" && list.texts().any(|item| item == "*") && list.items().nth(1).is_some() {
            let broken = WHOLE.at(&list, format!("`*` in {name} stands beside others"));
            found.add(broken.help(format!("write `*` alone, or name the {name}")));
        }
    }
    for operation in rule.at("operations").items() {
        if found.is_full() {
            return;
        }
        if !["CREATE", "UPDATE", "DELETE", "CONNECT", "*"].contains(&operation.text()) {
            let broken = WHOLE.at(&operation, format!("{} is no operation", operation.shown()));
            found.add(broken.help("write CREATE, UPDATE, DELETE, CONNECT or `*`"));
        }
    }
    for version in rule.at("apiVersions").items().filter(|version| version.text().is_empty()) {
        found.add(WHOLE.at(&version, "a version is empty").help("name the version, or write `*`"));
    }
    let scope = rule.at("scope");
    if !scope.is_absent() && !["Cluster", "Namespaced", "*"].contains(&scope.text()) {
        let broken = WHOLE.at(&scope, format!("{} is no scope", scope.shown()));
        found.add(broken.help("write Cluster, Namespaced or `*`"));
    }
}

fn own_pods(description: &Description<'_>, rule: &Field<'_>, found: &mut Findings) {
    let group = |wanted: &[&str]| rule.at("apiGroups").texts().any(|group| wanted.contains(&group));
    let resource = |wanted: &[&str]| rule.at("resources").texts().any(|resource| wanted.contains(&resource));
    let creates = rule.at("operations").texts().any(|operation| ["CREATE", "*"].contains(&operation));
    let pods = group(&["", "*"]) && resource(&["pods", "*", "*/*"]);
    let above = group(&["apps", "*"]) && resource(&["deployments", "replicasets", "*", "*/*"]);
    let fails = description.at("failurePolicy").text() != "Ignore" && description.at("objectSelector").is_empty();
    if fails && creates && (pods || above) {
        let message = format!("{} judges the creation of the operator's own Pods before they serve", description.name);
        found.add(OWN_PODS.at(&rule.at("resources"), message));
    }
}
