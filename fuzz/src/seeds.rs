//! Writes what the fuzz targets start from: `seeds FOLDER`.
//!
//! Reviews and YAML are the examples of the rule catalogue, which meet every rule; the rest is written or made here.

use std::path::Path;
use std::{env, fs, io};

use gateward_certs::rotation::{Cause, Phase, RotationProgress};
use gateward_certs::{Ca, CommonName, ServerNames, SystemKeys, TEN_YEARS, Validity};
use gateward_lint::yaml;
use libfuzzer_sys as _;
use serde_json::{Value, json};

/// Texts that readers of YAML like to stumble over.
const ODD_YAML: [&str; 12] = [
    "a: &x [1, *x]\n",
    "a: &a {b: 1}\nc: {<<: *a, d: 0o17, e: 0x1F, f: 1_000, g: .inf}\n",
    "- |2-\n  text\n \n- >+\n folded\n\n...\n---\nx: 'it''s'\n",
    "? [complex, key]\n: {a, b: , 'c': \"\\u00e4\\x41\"}\n",
    "a: yes\nb: ~\nc: 2026-11-21\nd: !!str 1\ne: !!binary aGk=\n",
    "%YAML 1.1\n---\n\ta: 1\n",
    "\u{feff}{\"a\": [1, 2.5e3, -0], \"b\": null}",
    "{\"a\": 1}\n{\"b\": 2}\n",
    "a: 1\na: 2\n# comment\n--- # second\nb: {c: 'unfinished\n",
    "a:\r\n  - b\r\n  -\r\n",
    "key: value # note\n\"quoted\": 'single'\nlist:\n- - - deep\n",
    "x: *unknown\n",
];

/// A raw object, and what a defaulter made of it.
fn patches() -> [Value; 4] {
    [
        json!([{"a": 1, "xb": 2}, {"a": 1.0, "c": {"d": []}}]),
        json!([[{"name": "a", "x": 1}, {"name": "b"}], [{"name": "b"}, {"name": "z"}, {"name": "a"}]]),
        json!([{"items": [1, 2, 3], "m": {"x": {}, "k": null}}, {"items": [2, 3, 4], "m": {"k": {}, "a/b~c": ""}}]),
        json!([{"p": [{"n": 1, "x": 1}, {"n": 2, "x": 2}]}, {"p": [{"n": 2}, {"n": 1}, {"n": 2}]}]),
    ]
}

fn main() -> io::Result<()> {
    let folder = env::args().nth(1).ok_or_else(|| io::Error::other("usage: seeds FOLDER"))?;
    let folder = Path::new(&folder);
    for target in ["review", "conversion", "yaml", "schema", "patch", "configuration", "certificates"] {
        fs::create_dir_all(folder.join(target))?;
    }
    for rule in dynamo_webhooks::webhooks().rules() {
        for (verdict, example) in [("bad", rule.bad), ("good", rule.good)].iter().filter(|(_, text)| !text.is_empty()) {
            let name = format!("{}-{verdict}", rule.id);
            fs::write(folder.join("yaml").join(&name), example)?;
            let documents = yaml::read(example).documents;
            if let Some(example) = documents.first() {
                fs::write(folder.join("review").join(&name), review(&example.value).to_string())?;
                fs::write(folder.join("schema").join(&name), example.value["object"].to_string())?;
                fs::write(folder.join("conversion").join(&name), example.value["object"].to_string())?;
                let review = conversion(&example.value["object"]).to_string();
                fs::write(folder.join("conversion").join(format!("{name}-review")), review)?;
            }
        }
    }
    for (index, text) in ODD_YAML.iter().enumerate() {
        fs::write(folder.join(format!("yaml/odd-{index}")), text)?;
    }
    for (index, pair) in patches().iter().enumerate() {
        fs::write(folder.join(format!("patch/{index}")), pair.to_string())?;
    }
    fs::write(folder.join("configuration/whole"), configuration().to_string())?;
    for (index, parts) in certificates().map_err(io::Error::other)?.iter().enumerate() {
        fs::write(folder.join(format!("certificates/{index}")), parts.join("\n%%%%\n"))?;
    }
    Ok(())
}

/// A configuration file with something of each shape.
fn configuration() -> Value {
    json!({
        "apiVersion": "operator.config.dynamo.nvidia.com/v1alpha1",
        "kind": "OperatorConfiguration",
        "server": {
            "metrics": {"bindAddress": "0.0.0.0", "port": 8080, "secure": true},
            "healthProbe": {"port": 8081},
            "webhook": {
                "host": "::", "port": 9443, "certProvisionMode": "auto", "secretName": "webhook-server-cert",
                "serviceName": "otter-webhook-service", "fullname": "otter", "operatorPrincipals": ["jane"],
                "certificates": {"caLifetime": "87600h", "lifetime": "1h30m5.5s", "keyAlgorithm": "RSA"},
            },
        },
        "leaderElection": {"enabled": true, "id": "otter", "namespace": "zoo"},
        "namespace": {"restricted": "", "scope": {"leaseDuration": "30s", "leaseRenewInterval": "10s"}},
        "orchestrators": {"grove": {"enabled": null}},
        "checkpoint": {"enabled": true},
        "security": {"enableHTTP2": false},
        "logging": {"level": "info", "format": "json"},
        "unknown": [1],
    })
}

/// Secrets, annotations and a bundle: of an installation that is well, and of one in the middle of a CA rotation.
fn certificates() -> Result<Vec<Vec<String>>, Box<dyn std::error::Error + Send + Sync>> {
    let now = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_hours(500_000);
    let validity = Validity::starting(now, TEN_YEARS)?;
    let ca = Ca::new(&CommonName::new("otter webhooks")?, validity, &SystemKeys)?;
    let names = ServerNames::of_service("otter", "zoo", "cluster.local")?;
    let leaf = ca.issue(&names, validity, &SystemKeys)?;
    let (trust, key) = (ca.certificate_pem(), ca.private_key_pem());
    let secrets = [leaf.certificate_pem(), leaf.private_key_pem(), trust.clone(), trust.clone(), key];
    let with = |further: [&str; 3]| secrets.iter().cloned().chain(further.map(str::to_owned)).collect::<Vec<_>>();
    let request = ca.trust_anchor().fingerprint().to_string();
    let (phase, cause, to) = (Phase::Publish, Some(Cause::Requested), ca.trust_anchor().fingerprint());
    let progress = RotationProgress { phase, cause, since: Some(now), to }.to_string();
    Ok(vec![with(["", "", &trust]), with([&progress, &request, ""])])
}

/// An example of the catalogue as the API server would send it to be converted.
fn conversion(object: &Value) -> Value {
    let to = if object["apiVersion"] == "nvidia.com/v1alpha1" { "v1beta1" } else { "v1alpha1" };
    let request = json!({"uid": "705ab4f5", "desiredAPIVersion": format!("nvidia.com/{to}"), "objects": [object]});
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "request": request})
}

/// An example of the catalogue as the API server would send it.
fn review(example: &Value) -> Value {
    let object = &example["object"];
    let api_version = object["apiVersion"].as_str().unwrap_or_default();
    let (group, version) = api_version.split_once('/').unwrap_or_default();
    json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "705ab4f5",
            "kind": {"group": group, "version": version, "kind": object["kind"]},
            "operation": if example["old"].is_null() { "CREATE" } else { "UPDATE" },
            "name": object["metadata"]["name"],
            "namespace": object["metadata"]["namespace"],
            "userInfo": {"username": example["user"].as_str().unwrap_or("jane")},
            "object": object,
            "oldObject": example["old"],
        }
    })
}
