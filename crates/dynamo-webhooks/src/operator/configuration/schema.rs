//! The keys of an `OperatorConfiguration`, with those that only the controllers of the operator read: one file serves
//! both, so all of them are known here, and a value that the operator could not read is wrong here too.

use gateward::{FieldPath, Segment, go_duration};
use serde_json::{Map, Value};

use super::problem::{Findings, shown};

/// The type of a value. `null` means that the value isn't set.
#[derive(Debug, Clone, Copy)]
pub(super) enum ValueType {
    /// Members, each with its shape.
    Section(&'static [(&'static str, ValueType)]),
    /// `true` or `false`.
    Switch,
    /// A whole number.
    Number,
    /// A string.
    Text,
    /// One of these strings, or the empty one for the default.
    OneOf(&'static [&'static str]),
    /// A length of time as Go writes it.
    Time,
    /// A list of strings that are not empty.
    Texts,
}

use ValueType::{Number, OneOf, Section, Switch, Text, Texts, Time};

/// The whole file.
pub(super) const FILE: &[(&str, ValueType)] = &[
    ("apiVersion", Text),
    ("kind", Text),
    ("server", Section(SERVER)),
    ("leaderElection", Section(&[("enabled", Switch), ("id", Text), ("namespace", Text)])),
    ("namespace", Section(NAMESPACE)),
    ("orchestrators", Section(ORCHESTRATORS)),
    ("dra", Section(&[("enabled", Switch)])),
    ("infrastructure", Section(INFRASTRUCTURE)),
    ("ingress", Section(INGRESS)),
    ("serviceMesh", Section(SERVICE_MESH)),
    ("rbac", Section(RBAC)),
    ("mpi", Section(&[("sshSecretName", Text), ("sshSecretNamespace", Text)])),
    ("checkpoint", Section(CHECKPOINT)),
    ("discovery", Section(&[("backend", OneOf(&["kubernetes", "etcd"]))])),
    ("gpu", Section(&[("discoveryEnabled", Switch)])),
    ("logging", Section(&[("level", OneOf(LOG_LEVELS)), ("format", OneOf(LOG_FORMATS))])),
    ("security", Section(&[("enableHTTP2", Switch)])),
];

/// The names of `logging.level`.
pub(super) const LOG_LEVELS: &[&str] = &["error", "warn", "info", "debug", "trace"];

/// The names of `logging.format`.
const LOG_FORMATS: &[&str] = &["json", "text"];

const SERVER: &[(&str, ValueType)] = &[
    ("metrics", Section(&[("bindAddress", Text), ("port", Number), ("secure", Switch)])),
    ("healthProbe", Section(&[("bindAddress", Text), ("port", Number)])),
    ("webhook", Section(WEBHOOK)),
];

const WEBHOOK: &[(&str, ValueType)] = &[
    ("bindAddress", Text),
    ("host", Text),
    ("port", Number),
    ("certDir", Text),
    ("certProvisionMode", OneOf(&["auto", "manual", "cert-manager", "external"])),
    ("caBundle", Text),
    ("certManager", Section(&[("injectFrom", OneOf(&["secret", "certificate"]))])),
    ("secretName", Text),
    ("serviceName", Text),
    ("fullname", Text),
    ("operatorPrincipals", Texts),
    ("excludeClaimedNamespaces", Switch),
    (
        "certificates",
        Section(&[
            ("caLifetime", Time),
            ("lifetime", Time),
            ("keyAlgorithm", OneOf(&["ECDSA", "RSA"])),
            ("dnsNames", Texts),
        ]),
    ),
];

const NAMESPACE: &[(&str, ValueType)] =
    &[("restricted", Text), ("scope", Section(&[("leaseDuration", Time), ("leaseRenewInterval", Time)]))];

const ORCHESTRATORS: &[(&str, ValueType)] = &[
    ("grove", Section(&[("enabled", Switch), ("terminationDelay", Time)])),
    ("lws", Section(&[("enabled", Switch)])),
    ("kaiScheduler", Section(&[("enabled", Switch)])),
    ("volcanoScheduler", Section(&[("enabled", Switch)])),
];

const INFRASTRUCTURE: &[(&str, ValueType)] =
    &[("natsAddress", Text), ("etcdAddress", Text), ("modelExpressURL", Text), ("prometheusEndpoint", Text)];

const INGRESS: &[(&str, ValueType)] = &[
    ("virtualServiceGateway", Text),
    ("controllerClassName", Text),
    ("controllerTLSSecretName", Text),
    ("hostSuffix", Text),
];

const SERVICE_MESH: &[(&str, ValueType)] = &[("enabled", Switch), ("provider", Text), ("istio", Section(ISTIO))];

const ISTIO: &[(&str, ValueType)] = &[
    ("tlsMode", Text),
    ("insecureSkipVerify", Switch),
    ("clientCertificate", Text),
    ("privateKey", Text),
    ("caCertificates", Text),
];

const RBAC: &[(&str, ValueType)] =
    &[("plannerClusterRoleName", Text), ("dgdrProfilingClusterRoleName", Text), ("eppClusterRoleName", Text)];

const CHECKPOINT: &[(&str, ValueType)] = &[
    ("enabled", Switch),
    ("cleanupImage", Text),
    ("initContainerImage", Text),
    ("readyForCheckpointFilePath", Text),
    ("restoreMarkerFilePath", Text),
    ("seccomp", Section(&[("disabled", Switch), ("profile", Text)])),
    ("storage", Section(STORAGE)),
];

const STORAGE: &[(&str, ValueType)] = &[
    ("type", Text),
    ("signalHostPath", Text),
    ("pvc", Section(VOLUME)),
    ("s3", Section(&[("uri", Text), ("credentialsSecretRef", Text)])),
    ("oci", Section(&[("uri", Text), ("credentialsSecretRef", Text)])),
];

const VOLUME: &[(&str, ValueType)] = &[
    ("pvcName", Text),
    ("basePath", Text),
    ("create", Switch),
    ("size", Text),
    ("storageClassName", Text),
    ("accessMode", Text),
];

/// Compares a document with the schema: unknown keys are warnings, values of a wrong type are errors.
pub(super) fn compare(document: &Value, findings: &mut Findings) {
    value(document, Section(FILE), &FieldPath::root(), findings);
}

fn value(written: &Value, value_type: ValueType, at: &FieldPath, findings: &mut Findings) {
    match (value_type, written) {
        (_, Value::Null) | (Switch, Value::Bool(_)) | (Text, Value::String(_)) => {}
        (Section(known), Value::Object(members)) => section(members, known, at, findings),
        (OneOf(names), Value::String(name)) if name.is_empty() || names.contains(&name.as_str()) => {}
        (Number, Value::Number(number)) if number.is_i64() || number.is_u64() => {}
        (Time, Value::String(text)) => match go_duration::parse(text) {
            Ok(_) => {}
            Err(why) => findings.error(at, format!("{} {why}", shown(written))),
        },
        (Texts, Value::Array(items)) => texts(items, at, findings),
        _ => findings.error(at, format!("{} is not {}", shown(written), wanted(value_type))),
    }
}

fn section(
    members: &Map<String, Value>,
    known: &'static [(&'static str, ValueType)],
    at: &FieldPath,
    findings: &mut Findings,
) {
    for (name, written) in members {
        match known.iter().find(|(key, _)| key == name) {
            Some((key, value_type)) => value(written, *value_type, &(at / key), findings),
            None => unknown(name, &at.child(Segment::Field(name.clone().into())), known, findings),
        }
    }
}

/// A name that differs from a known one by its case alone is most likely meant to be that.
fn unknown(name: &str, at: &FieldPath, known: &[(&str, ValueType)], findings: &mut Findings) {
    let meant = known.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    match meant {
        Some((meant, _)) => findings.warning(at, format!("unknown key, ignored; it is written {meant}")),
        None => findings.warning(at, "unknown key, ignored"),
    }
}

fn texts(items: &[Value], at: &FieldPath, findings: &mut Findings) {
    let wrong = items.iter().enumerate().filter(|(_, item)| item.as_str().is_none_or(|text| text.trim().is_empty()));
    for (position, item) in wrong {
        findings.error(&at.index(position), format!("{} is not a string with something in it", shown(item)));
    }
}

fn wanted(value_type: ValueType) -> String {
    match value_type {
        Section(_) => "a section with keys of its own".to_owned(),
        Switch => "true or false".to_owned(),
        Number => "a whole number".to_owned(),
        Text => "a string".to_owned(),
        OneOf(names) => format!("one of {}", names.join(", ")),
        Time => format!("a string such as {}", go_duration::EXAMPLES),
        Texts => "a list of strings".to_owned(),
    }
}
