//! The ports of webhook descriptions, and the Services that OLM makes of them.

use std::collections::{BTreeMap, BTreeSet};

use gateward_core::dns::is_label;
use serde_json::Value;

use super::deployments::{list, pod};
use super::description::{Description, descriptions};
use super::field::Field;
use super::files::Bundle;
use super::findings::Findings;
use super::rule::{BundleRule, ERROR, Stage, WARNING, v0, v1};

/// What the schema of the CSV fills in.
const DEFAULT_PORT: i64 = 443;

static RANGE: BundleRule = BundleRule {
    id: "OLM-HOOK-08",
    summary: "containerPort is from 1 to 65535, targetPort as well or the name of a port",
    help: "write a port from 1 to 65535",
    refused_by: &[v0(Stage::CsvSchema, "Invalid value"), v1(Stage::ApiServer, "Invalid value")],
    ..ERROR
};

static GIVEN: BundleRule = BundleRule {
    id: "OLM-HOOK-09",
    summary: "containerPort is given: OLM v0 fills in 443, OLM v1 doesn't and asks for port 0",
    help: "add containerPort: 443, and targetPort with the port that the operator listens on",
    refused_by: &[v1(Stage::ApiServer, "port: Invalid value: 0")],
    ..WARNING
};

static ONE_TARGET: BundleRule = BundleRule {
    id: "OLM-HOOK-16",
    summary: "descriptions of one deployment with the same containerPort have the same targetPort: one Service serves all",
    help: "write the same targetPort, or another containerPort",
    refused_by: &[
        v0(Stage::Install, "InstallComponentFailed: spec.ports[1]: Duplicate value"),
        v1(Stage::ApiServer, "spec.ports[1]: Duplicate value"),
    ],
    ..ERROR
};

static DECLARED: BundleRule = BundleRule {
    id: "OLM-HOOK-20",
    summary: "the target port is one that the deployment's containers declare",
    help: "write targetPort with the port that the operator listens on, such as 9443; it defaults to containerPort",
    ..WARNING
};

pub(super) static RULES: &[&BundleRule] = &[&RANGE, &GIVEN, &ONE_TARGET, &DECLARED];

/// The ports that containers of a deployment declare.
#[derive(Default)]
struct Declared<'b> {
    names: BTreeSet<&'b str>,
    numbers: BTreeSet<i64>,
}

pub(super) fn check(bundle: &Bundle, found: &mut Findings) {
    let Some(csv) = bundle.csv() else { return };
    let declared: BTreeMap<&str, Declared<'_>> =
        list(&csv).map(|deployment| (deployment.at("name").text(), Declared::of(&deployment))).collect();
    let mut targets: BTreeMap<(&str, i64), String> = BTreeMap::new();
    for description in descriptions(bundle) {
        let port = description.at("containerPort");
        if port.is_absent() {
            found.add(GIVEN.at(&port, format!("{} doesn't say its containerPort", description.name)));
        } else if !is_port(port.value) {
            found.add(RANGE.at(&port, format!("{} is no port", port.shown())));
            continue;
        }
        let target = description.at("targetPort");
        if !target.is_absent() && !is_port(target.value) && !is_port_name(target.text()) {
            found.add(RANGE.at(&target, format!("{} is neither a port nor the name of one", target.shown())));
            continue;
        }
        let port = port.value.as_i64().unwrap_or(DEFAULT_PORT);
        let shown = if target.is_absent() { port.to_string() } else { target.value.to_string() };
        match targets.get(&(description.deployment, port)) {
            Some(first) if *first != shown => {
                let message = format!(
                    "port {port} of {} leads to {shown} here, and to {first} in a description before",
                    description.deployment
                );
                found.add(ONE_TARGET.at(&target, message));
            }
            Some(_) => {}
            None => {
                targets.insert((description.deployment, port), shown);
            }
        }
        if let Some(declared) = declared.get(description.deployment) {
            is_declared(&description, &target, port, declared, found);
        }
    }
}

fn is_port(value: &Value) -> bool {
    value.as_i64().is_some_and(|port| (1..=65535).contains(&port))
}

/// A name of at most 15 characters with a letter in it.
fn is_port_name(text: &str) -> bool {
    text.len() <= 15 && is_label(text) && text.bytes().any(|byte| byte.is_ascii_lowercase()) && !text.contains("--")
}

impl<'b> Declared<'b> {
    fn of(deployment: &Field<'b>) -> Self {
        let mut declared = Self::default();
        for port in pod(deployment).at("containers").items().flat_map(|container| container.at("ports").items()) {
            declared.numbers.extend(port.at("containerPort").value.as_i64());
            declared.names.extend(Some(port.at("name").text()).filter(|name| !name.is_empty()));
        }
        declared
    }
}

/// Containers need not declare their ports. Where they do, a port that isn't among them is probably wrong; a name always
/// is.
fn is_declared(
    description: &Description<'_>,
    target: &Field<'_>,
    port: i64,
    declared: &Declared<'_>,
    found: &mut Findings,
) {
    let is_known = match target.value {
        Value::String(name) => declared.names.contains(name.as_str()),
        _ => declared.numbers.is_empty() || declared.numbers.contains(&target.value.as_i64().unwrap_or(port)),
    };
    if !is_known {
        let shown = if target.is_absent() { port.to_string() } else { target.value.to_string() };
        let message = format!(
            "{} calls port {shown}, which no container of {} declares",
            description.name, description.deployment
        );
        found.add(DECLARED.at(target, message));
    }
}
