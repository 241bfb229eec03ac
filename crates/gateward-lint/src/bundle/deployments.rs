//! The deployments of a CSV, as far as webhooks depend on them.

use std::collections::{BTreeMap, BTreeSet};

use gateward_core::dns::{is_service_name, is_subdomain};

use super::description::descriptions;
use super::field::Field;
use super::files::Bundle;
use super::findings::Findings;
use super::rule::{BundleRule, ERROR, Judge, Stage, v0, v1, validator};

/// Where OLM mounts its certificates, with the volume that it mounts there.
const MOUNTS: [(&str, &str); 2] = [
    ("/tmp/k8s-webhook-server/serving-certs", "webhook-cert"),
    ("/apiserver.local.config/certificates", "apiservice-cert"),
];

/// The Secret that kubebuilder's manifests mount.
const KUBEBUILDER_SECRET: &str = "webhook-server-cert";

static UNIQUE: BundleRule = BundleRule {
    id: "OLM-DEPLOY-01",
    summary: "no two deployments of the CSV have the same name",
    help: "give each deployment a name of its own",
    refused_by: &[v1(Stage::BundleValidate, "")],
    ..ERROR
};

static NAME: BundleRule = BundleRule {
    id: "OLM-DEPLOY-02",
    summary: "the name of a deployment is a DNS subdomain",
    help: "write lower case letters, digits and `-`",
    refused_by: &[v0(Stage::Install, "InstallComponentFailed"), v1(Stage::BundleValidate, "")],
    ..ERROR
};

static NO_DOTS: BundleRule = BundleRule {
    id: "OLM-DEPLOY-03",
    summary: "the name of a deployment with webhooks has no dots: OLM v0 names the Service with them and calls another",
    help: "write `-` in place of the dots",
    refused_by: &[v0(
        Stage::Install,
        "InstallComponentFailed: metadata.name: Invalid value: a DNS-1035 label must consist",
    )],
    ..ERROR
};

static SERVICE_NAME: BundleRule = BundleRule {
    id: "OLM-DEPLOY-04",
    summary: "the name of a deployment with webhooks makes a Service name: a letter first, at most 55 characters",
    help: "begin with a letter, and write at most 55 characters: OLM adds `-service`",
    refused_by: &[v0(
        Stage::Install,
        "InstallComponentFailed: metadata.name: Invalid value: a DNS-1035 label must consist",
    )],
    ..ERROR
};

static CERTIFICATE_VOLUME: BundleRule = BundleRule {
    id: "OLM-DEPLOY-05",
    summary: "a deployment with webhooks mounts no certificate of its own: OLM mounts its own, and Pods wait for the \
              Secret of the other",
    help: "remove the volume and its mounts; OLM mounts tls.crt and tls.key at /tmp/k8s-webhook-server/serving-certs",
    refused_by: &[v0(Stage::Install, "MountVolume.SetUp failed: secret not found")],
    ..ERROR
};

static SERVICE_ACCOUNT: BundleRule = BundleRule {
    id: "OLM-DEPLOY-06",
    summary: "manifests/ holds no ServiceAccount that a deployment runs as: OLM makes it",
    help: "remove the ServiceAccount from manifests/",
    refused_by: &[validator(Stage::Bundle, "")],
    ..ERROR
};

static EXISTS: BundleRule = BundleRule {
    id: "OLM-HOOK-07",
    summary: "a description names a deployment of the CSV; OLM v0 goes round in circles otherwise, with an empty CA",
    refused_by: &[v1(Stage::BundleValidate, "")],
    ..ERROR
};

pub(super) static RULES: &[&BundleRule] =
    &[&UNIQUE, &NAME, &NO_DOTS, &SERVICE_NAME, &CERTIFICATE_VOLUME, &SERVICE_ACCOUNT, &EXISTS];

/// The deployments of a CSV.
pub(super) fn list<'b>(csv: &Field<'b>) -> impl Iterator<Item = Field<'b>> + use<'b> {
    csv.below(&["spec", "install", "spec", "deployments"]).items()
}

/// The Pods of a deployment.
pub(super) fn pod<'b>(deployment: &Field<'b>) -> Field<'b> {
    deployment.below(&["spec", "template", "spec"])
}

pub(super) fn check(bundle: &Bundle, found: &mut Findings) {
    let Some(csv) = bundle.csv() else { return };
    let with_webhooks: BTreeSet<&str> = descriptions(bundle).map(|description| description.deployment).collect();
    let secrets: BTreeSet<&str> = bundle.of_kind("Secret").map(|secret| secret.manifest.name()).collect();
    let mut known = BTreeSet::new();
    for deployment in list(&csv) {
        let (field, name) = (deployment.at("name"), deployment.at("name").text());
        if !known.insert(name) {
            let says = format!("cluster service version contains duplicate strategy deployment spec '{name}'");
            found.add(UNIQUE.at(&field, format!("two deployments are named {name}")).says(Judge::OlmV1, &says));
        }
        if !is_subdomain(name) {
            let says = format!("invalid cluster service version strategy deployment name '{name}'");
            found.add(NAME.at(&field, format!("{} is no DNS subdomain", field.shown())).says(Judge::OlmV1, &says));
        } else if with_webhooks.contains(name) && name.contains('.') {
            found.add(NO_DOTS.at(&field, format!("no Service can be named {name}-service")));
        } else if with_webhooks.contains(name) && !is_service_name(&format!("{name}-service")) {
            found.add(SERVICE_NAME.at(&field, format!("no Service can be named {name}-service")));
        }
        if with_webhooks.contains(name) {
            certificates(&secrets, &deployment, found);
        }
    }
    for description in descriptions(bundle).filter(|description| !known.contains(description.deployment)) {
        let says = format!(
            "webhook of type '{}' with name '{}' references non-existent deployment '{}'",
            description.at("type").text(),
            description.name,
            description.deployment
        );
        let message = match description.deployment {
            "" => format!("{} names no deployment", description.name),
            deployment => format!("{} is served by {deployment}, which the CSV doesn't have", description.name),
        };
        let names: Vec<&str> = known.iter().copied().take(5).collect();
        let broken = EXISTS.at(&description.at("deploymentName"), message).says(Judge::OlmV1, &says);
        found.add(broken.help(match names.as_slice() {
            [] => "add the deployment to spec.install.spec.deployments".to_owned(),
            names => format!("write one of {}", names.join(", ")),
        }));
    }
    service_accounts(bundle, &csv, found);
}

/// Volumes that wait for a Secret that nobody makes.
fn certificates(secrets: &BTreeSet<&str>, deployment: &Field<'_>, found: &mut Findings) {
    let pod = pod(deployment);
    let mut mounted: BTreeMap<&str, Field<'_>> = BTreeMap::new();
    for mount in pod.at("containers").items().flat_map(|container| container.at("volumeMounts").items()) {
        let path = mount.at("mountPath").text().trim_end_matches('/');
        let is_foreign = |(at, volume): (&str, &str)| at == path && volume != mount.at("name").text();
        if MOUNTS.into_iter().any(is_foreign) {
            mounted.insert(mount.at("name").text(), mount);
        }
    }
    for volume in pod.at("volumes").items() {
        let name = volume.at("name").text();
        let secret = volume.below(&["secret", "secretName"]);
        let at_path = mounted.contains_key(name);
        let is_made_by_olm = MOUNTS.iter().any(|(_, known)| *known == name);
        let is_there = secrets.contains(secret.text());
        let may_be_absent = volume.below(&["secret", "optional"]).is_true();
        if secret.is_empty() || is_made_by_olm || is_there || may_be_absent {
            continue;
        }
        if at_path || secret.text() == KUBEBUILDER_SECRET {
            let says = format!("MountVolume.SetUp failed for volume {name:?} : secret {:?} not found", secret.text());
            let message = format!("the Pods of {} wait for the Secret {}", deployment.at("name").text(), secret.text());
            found.add(CERTIFICATE_VOLUME.at(&secret, message).says(Judge::OlmV0, &says));
        }
    }
}

fn service_accounts(bundle: &Bundle, csv: &Field<'_>, found: &mut Findings) {
    let used: BTreeSet<&str> = list(csv).map(|deployment| pod(&deployment).at("serviceAccountName").text()).collect();
    for account in bundle.of_kind("ServiceAccount") {
        let name = account.below(&["metadata", "name"]);
        if !name.is_empty() && used.contains(name.text()) {
            let says = format!(
                "invalid service account found in bundle. This service account {} in your bundle is not valid",
                name.text()
            );
            let message = format!("OLM makes the ServiceAccount {} itself", name.text());
            found.add(SERVICE_ACCOUNT.at(&name, message).says(Judge::Validators, &says));
        }
    }
}
