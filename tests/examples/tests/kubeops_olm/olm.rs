//! What OLM makes of a bundle, by the model of it.

use std::collections::BTreeMap;

use olm_model::{
    ConfigurationChange, Csv, CsvIdentity, OperatorGroup, RotationCause, SERVER_MOUNTS, ServiceNames, ServingLeaf,
    ServingPair, ServingSecret, WebhookDescription, WebhookType, configuration, dns_names, is_healthy, mounted,
    namespace_selector, reconciled, removal, rotation_cause, secret, service_ports,
};
use serde_json::{Map, Value, json};

use super::{Case, Outcome, same};

const DEPLOYMENT: &str = "webhook-operator-webhook";

/// Facts by their names in the cases.
type Found = Map<String, Value>;

pub fn is_ours(case: &Case) -> bool {
    ["render", "namespace-selector", "lifecycle", "certificate-rotation"].contains(&case.area.as_str())
}

pub fn judge(case: &Case) -> Outcome {
    compare(&found(case)?, &case.expect)
}

/// Against what OLM does, where the case expects something better.
pub fn judge_upstream(case: &Case) -> Outcome {
    let upstream = case.rest["upstream"].as_object().ok_or("no upstream")?;
    // Facts of v1 stand beside those of v0.
    let of_v0 = upstream.iter().filter(|(key, _)| !key.starts_with("olm_v1"));
    let of_v0: Found =
        of_v0.map(|(key, value)| (key.trim_start_matches("olm_v0_").to_owned(), value.clone())).collect();
    compare(&found(case)?, &Value::Object(of_v0))
}

fn found(case: &Case) -> Result<Found, String> {
    let input = &case.rest["input"];
    match case.area.as_str() {
        "render" => Ok(rendered(input)),
        "namespace-selector" => Ok(selected(&input["operatorGroup"])),
        "lifecycle" => Ok(lived(input)),
        "certificate-rotation" => rotated(input),
        area => Err(format!("unknown area {area}")),
    }
}

/// Texts in angle brackets describe a value, which only has to be there.
fn compare(found: &Found, expected: &Value) -> Outcome {
    for (key, expected) in expected.as_object().into_iter().flatten() {
        let value = found.get(key).ok_or_else(|| format!("the model says nothing of {key}"))?;
        same(key, &with_descriptions(value, expected), expected)?;
    }
    Ok(())
}

fn with_descriptions(found: &Value, expected: &Value) -> Value {
    match (found, expected) {
        (Value::String(text), Value::String(description)) if description.starts_with('<') && !text.is_empty() => {
            expected.clone()
        }
        (Value::Object(found), Value::Object(expected)) => found
            .iter()
            .map(|(key, value)| (key.clone(), with_descriptions(value, expected.get(key).unwrap_or(&Value::Null))))
            .collect(),
        _ => found.clone(),
    }
}

fn description(given: &Value) -> WebhookDescription {
    let text = |key: &str, usual: &str| given[key].as_str().unwrap_or(usual).to_owned();
    let mut description = json!({
        "generateName": text("generateName", "vwebhooktest-v1.kb.io"),
        "type": "ValidatingAdmissionWebhook",
        "deploymentName": text("deployment", DEPLOYMENT),
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    });
    for key in ["containerPort", "targetPort", "type", "conversionCRDs", "timeoutSeconds"] {
        if !given[key].is_null() {
            description[key] = given[key].clone();
        }
    }
    serde_json::from_value(description).unwrap()
}

fn identity(input: &Value) -> CsvIdentity {
    let text = |key: &str, usual: &str| input[key].as_str().unwrap_or(usual).to_owned();
    CsvIdentity { name: text("csv", "webhook-operator.v0.0.1"), namespace: text("namespace", "operators") }
}

fn rendered(input: &Value) -> Found {
    let given = input["webhooks"].as_array().cloned().unwrap_or_else(|| vec![input.clone()]);
    let webhooks: Vec<WebhookDescription> = given.iter().map(description).collect();
    let (csv, deployment) = (identity(input), input["deployment"].as_str().unwrap_or(DEPLOYMENT));
    let mut found = of_service(deployment, &csv.namespace, &webhooks.iter().collect::<Vec<_>>());
    found.extend(of_configuration(&configuration(&webhooks[0], &csv, None, "ca").unwrap()));
    found.extend(of_pods(deployment, input));
    found
}

fn of_service(deployment: &str, namespace: &str, webhooks: &[&WebhookDescription]) -> Found {
    let ServiceNames { service, secret: secret_name, role, auth_delegator, auth_reader, .. } =
        ServiceNames::of(deployment);
    let ports = service_ports(webhooks);
    let pair = ServingPair { certificate: "certificate".into(), key: "key".into(), ca: "ca".into() };
    let secret = secret(deployment, namespace, &pair);
    // The case lists the keys in an order of its own.
    let keys: Vec<&str> =
        ["tls.crt", "tls.key", "olmCAKey"].into_iter().filter(|key| secret["stringData"][key].is_string()).collect();
    assert_eq!(secret["stringData"].as_object().unwrap().len(), keys.len());
    members(json!({
        "service_port_count": ports.len(),
        "service_ports": ports,
        "secret": secret_name,
        "secret_type": secret["type"],
        "secret_keys": keys,
        "dns": dns_names(&service, namespace),
        "service": service,
        "role": role,
        "auth_delegator_binding": auth_delegator,
        "auth_reader_binding": auth_reader,
        // A Service with a port twice is built like any other.
        "decision": "accept",
    }))
}

fn of_configuration(configuration: &Value) -> Found {
    members(json!({
        "metadata.generateName": configuration["metadata"]["generateName"],
        "labels": configuration["metadata"]["labels"],
        "webhooks_per_configuration": configuration["webhooks"].as_array().unwrap().len(),
        "webhook_name": configuration["webhooks"][0]["name"],
    }))
}

fn of_pods(deployment: &str, input: &Value) -> Found {
    let container = |name: &Value| {
        let mounts = input["mounts"].as_array().into_iter().flatten();
        let mounts: Vec<Value> =
            mounts.map(|mount| json!({"name": mount["name"], "mountPath": mount["path"]})).collect();
        json!({"name": name, "volumeMounts": mounts})
    };
    let containers = |key: &str| -> Vec<Value> { input[key].as_array().into_iter().flatten().map(container).collect() };
    let mut pod = json!({"initContainers": containers("initContainers"), "containers": containers("containers")});
    if pod["containers"] == json!([]) {
        pod["containers"] = json!([container(&"manager".into())]);
    }
    let volumes = input["volumes"].as_array().into_iter().flatten();
    pod["volumes"] = volumes.map(|it| json!({"name": it["name"], "secret": {"secretName": it["secret"]}})).collect();
    let pod = mounted(deployment, &json!({"template": {"spec": pod}}), "hash")["template"]["spec"].take();

    let all = SERVER_MOUNTS;
    let files = |path: &str| {
        let name = mount_at(&pod["containers"][0], path).unwrap_or_default();
        let volume = list(&pod["volumes"]).find(|volume| volume["name"] == name).cloned().unwrap_or_default();
        list(&volume["secret"]["items"]).map(|item| item["path"].clone()).collect::<Vec<_>>()
    };
    let mounts: BTreeMap<&str, Vec<Value>> = all.iter().map(|mount| (mount.path, files(mount.path))).collect();
    let with_mounts = |key: &str| -> Vec<Value> {
        let has_all = |it: &&Value| all.iter().all(|mount| mount_at(it, mount.path) == Some(mount.volume.to_owned()));
        list(&pod[key]).filter(has_all).map(|it| it["name"].clone()).collect()
    };
    let given = list(&input["volumes"]).map(|volume| &volume["name"]);
    let stale: Vec<_> = given.filter(|name| list(&pod["volumes"]).any(|volume| volume["name"] == **name)).collect();
    members(json!({
        "ca_file_mounted": mounts.values().flatten().any(|file| file.as_str().is_some_and(|it| it.starts_with("ca"))),
        "containers_with_mounts": with_mounts("containers"),
        "init_containers_with_mounts": with_mounts("initContainers"),
        "mount_name": mount_at(&pod["containers"][0], all[1].path),
        "stale_volume_removed": stale.is_empty(),
        "mounts": mounts,
    }))
}

fn mount_at(container: &Value, path: &str) -> Option<String> {
    let mut mounts = list(&container["volumeMounts"]).filter(|mount| mount["mountPath"] == path);
    mounts.next().and_then(|mount| mount["name"].as_str()).map(str::to_owned)
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn members(value: Value) -> Found {
    let Value::Object(members) = value else { panic!("{value}") };
    members
}

/// A selector that isn't set is an empty one once the API server has stored it.
fn selected(group: &Value) -> Found {
    let group = OperatorGroup {
        uid: group["uid"].as_str().unwrap_or_default().to_owned(),
        target_namespaces: list(&group["targetNamespaces"]).filter_map(Value::as_str).map(str::to_owned).collect(),
        selector: Some(group["selector"].clone()).filter(|selector| !selector.is_null()),
    };
    members(json!({"namespaceSelector": namespace_selector(&group).unwrap_or_else(|| json!({}))}))
}

fn lived(input: &Value) -> Found {
    let mut found = deleted(input);
    let csv = identity(input);
    let name = |key: &str| description(&json!({"generateName": input[key].as_str().unwrap_or("webhook.test.com")}));
    let (old, mut new) = (name("old"), name("new"));
    match input["field"].as_str() {
        Some("timeoutSeconds") => new.timeout_seconds = Some(7),
        Some(other) => panic!("no change of {other}"),
        None => {}
    }
    let there = vec![configuration(&old, &csv, None, "ca").unwrap()];
    let changes = reconciled(&csv, std::slice::from_ref(&new), &there, None, "ca");
    let has = |wanted: fn(&ConfigurationChange) -> bool| changes.iter().any(wanted);
    found.extend(members(json!({
        "old_configuration_deleted": has(|change| matches!(change, ConfigurationChange::Delete(_))),
        "new_configuration_created": has(|change| matches!(change, ConfigurationChange::Create(_))),
        "configuration_updated": has(|change| matches!(change, ConfigurationChange::Overwrite(before, after) if before != after)),
        "trigger": if is_healthy(&csv, std::slice::from_ref(&new), &there) { "none" } else { "hash label differs" },
    })));
    found
}

/// What is left of a CSV with one conversion and one validating webhook.
fn deleted(input: &Value) -> Found {
    let csv = identity(input);
    let crds = input["conversionCRDs"].as_array().cloned().unwrap_or_else(|| vec!["as.g.io".into()]);
    let conversion = description(&json!({"type": "ConversionWebhook", "conversionCRDs": crds}));
    let validating = description(input);
    let there = vec![configuration(&validating, &csv, None, "ca").unwrap()];
    let converts = |name: &Value| {
        let crd = json!({"metadata": {"name": name}, "spec": {}});
        olm_model::converted(&crd, &conversion, &csv.namespace, "ca")
    };
    let before: Vec<Value> = crds.iter().map(converts).collect();
    let whole = Csv {
        name: csv.name.clone(),
        deployments: Vec::new(),
        permissions: Vec::new(),
        webhooks: vec![conversion.clone(), validating],
    };
    assert_eq!(whole.webhooks[0].webhook_type, WebhookType::Conversion);
    let left = removal(&whole, &csv.namespace, &there, &before, input["replaced_by"].as_str());
    let crd = left.crds.first().unwrap_or(&before[0]);
    let stanza = &crd["spec"]["conversion"];
    members(json!({
        "crd.conversion": {"strategy": stanza["strategy"], "webhook": stanza["webhook"]},
        "webhook_configurations_deleted": left.configurations == there,
    }))
}

fn rotated(input: &Value) -> Result<Found, String> {
    if input["event"] == "rotate" {
        return Ok(rotation());
    }
    let hosts = dns_names("otter-service", "zoo");
    let missing = |key: &str| input["missing_key"] == key;
    let hours_left = input["hours_left"].as_i64().unwrap_or(730 * 24);
    let dns_names = hosts.iter().filter(|host| input["missing_dns"].as_str().is_none_or(|no| !host.ends_with(no)));
    let leaf = ServingLeaf {
        hours_left,
        signed_by_ca: input["wrong_issuer"] != true,
        dns_names: dns_names.cloned().collect(),
    };
    let secret = ServingSecret {
        ca_hours_left: Some(hours_left).filter(|_| !missing("olmCAKey")),
        leaf: Some(leaf).filter(|_| !missing("tls.crt")),
    };
    let known = ["hours_left", "missing_key", "wrong_issuer", "missing_dns", "secret_exists"];
    let ignored = ["validity_days", "renew_before_hours"];
    let mut keys = input.as_object().into_iter().flatten().map(|(key, _)| key.as_str());
    if let Some(key) = keys.find(|key| !known.contains(key) && !ignored.contains(key)) {
        return Err(format!("the model knows nothing of {key}"));
    }
    let secret = Some(&secret).filter(|_| input["secret_exists"] != false);
    let cause: Option<RotationCause> = rotation_cause(secret, &hosts);
    Ok(members(json!({"rotate": cause.is_some()})))
}

/// What a rotation does to what is installed.
fn rotation() -> Found {
    let (csv, webhook) = (identity(&Value::Null), description(&Value::Null));
    let before = configuration(&webhook, &csv, None, "old").unwrap();
    let changes = reconciled(&csv, std::slice::from_ref(&webhook), std::slice::from_ref(&before), None, "new");
    let [ConfigurationChange::Overwrite(_, after)] = changes.as_slice() else { panic!("{changes:?}") };
    let bundle = |it: &Value| it["webhooks"][0]["clientConfig"]["caBundle"].as_str().unwrap().to_owned();
    let template = |ca: &str| mounted(DEPLOYMENT, &json!({"template": {"spec": {}}}), &olm_model::ca_hash(ca));
    members(json!({
        "old_ca_kept_in_bundle_until_rollout": bundle(after).contains(&bundle(&before)),
        "pod_restart_required": template("old")["template"] != template("new")["template"],
    }))
}
