//! What is applied over an installed CRD, if anything.

use std::cmp::Ordering;
use std::fmt;

use gateward_certs::CaBundle;
use gateward_certs::rotation::restored_ca_bundle;
use k8s_openapi::ByteString;
use kube::core::Version as Priority;
use semver::Version;
use serde_json::{Value, json};

use super::definition::service_name;
use super::{Definition, Strategy};
use crate::injection::base64;

/// What to do about an installed CRD.
#[derive(Debug, PartialEq)]
pub(super) enum CrdDecision {
    /// Nothing.
    LeaveAlone(LeftAlone),
    /// Change this much by a merge patch, then look again.
    Prepare(Value),
    /// Apply this document, with notes.
    Apply(Value, Vec<String>),
}

/// Why a CRD is left as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeftAlone {
    /// A newer release has installed it.
    Newer {
        /// The version of that release.
        installed: Version,
        /// Ours.
        ours: Version,
    },
    /// Its objects are stored in a version that comes after all of ours.
    StoresNewer {
        /// That version.
        version: String,
    },
}

/// The release that applies, and how it marks what it has applied.
#[derive(Debug, Clone)]
pub(super) struct Release<'a> {
    /// Its version.
    pub(super) version: &'a Version,
    /// The annotation that holds it.
    pub(super) annotation: &'a str,
    /// The annotation that names the Service which has objects converted.
    pub(super) converted_by: &'a str,
    /// The CAs that are to be trusted; empty where there are none yet.
    pub(super) trusted: CaBundle,
    /// What they mean for a `caBundle` that is there.
    pub(super) rule: CaBundleRule,
    /// The annotation by which cert-manager injects the `caBundle`, where it does.
    pub(super) injection: Option<InjectionAnnotation>,
}

/// What the trusted CAs mean for a `caBundle` that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CaBundleRule {
    /// They are added to it.
    Add,
    /// They take its place.
    Replace,
    /// It stays; another client writes it.
    Keep,
}

/// What the annotations begin with by which cert-manager injects a `caBundle`.
const INJECTION_PREFIX: &str = "cert-manager.io/inject-";

/// An annotation by which cert-manager injects a `caBundle`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct InjectionAnnotation {
    name: &'static str,
    value: String,
}

impl InjectionAnnotation {
    /// Injects `ca.crt` of a Secret, named as `namespace/name`.
    pub(super) fn of_secret(value: String) -> Self {
        Self { name: "cert-manager.io/inject-ca-from-secret", value }
    }

    /// Injects the CA of a Certificate, named as `namespace/name`.
    pub(super) fn of_certificate(value: String) -> Self {
        Self { name: "cert-manager.io/inject-ca-from", value }
    }
}

impl Release<'_> {
    /// The `caBundle` in base64, by the one that is there; `None` where there is no CA to trust.
    fn ca_bundle(&self, present: Option<&str>) -> Option<Value> {
        let kept = || present.map(Value::from);
        let ours = || Some(base64(&self.trusted)).filter(|_| !self.trusted.is_empty());
        match self.rule {
            CaBundleRule::Add => {
                let carried: Option<ByteString> = present.and_then(|text| serde_json::from_value(text.into()).ok());
                let carried = carried.map(|bundle| bundle.0).unwrap_or_default();
                restored_ca_bundle(&carried, &self.trusted).map(|bundle| base64(&bundle)).or_else(kept)
            }
            CaBundleRule::Replace => ours().or_else(kept),
            CaBundleRule::Keep => kept().or_else(ours),
        }
    }
}

/// What is applied where there is no such CRD, and notes about it.
pub(super) fn first(ours: &Value, release: &Release) -> (Value, Vec<String>) {
    let mut document = marked(ours, release);
    let note = settle_conversion(&mut document, None, release);
    (document, note.into_iter().collect())
}

/// What to do so that our CRD is there instead of an installed one.
pub(super) fn decide(installed: &Definition, ours: &Value, release: &Release) -> CrdDecision {
    if let Some(why) = left_alone(installed, ours, release) {
        return CrdDecision::LeaveAlone(why);
    }
    if let Some(patch) = without_other_injection(installed, release).or_else(|| without_url(installed, ours, release)) {
        return CrdDecision::Prepare(patch);
    }
    let mut document = marked(ours, release);
    // Of two concurrent writers, the second reads again.
    document["metadata"]["resourceVersion"] = installed.resource_version().into();
    let mut notes = keep_stored_versions(&mut document, installed);
    notes.extend(keep_storage(&mut document, installed));
    notes.extend(settle_conversion(&mut document, Some(installed), release));
    CrdDecision::Apply(document, notes)
}

/// The CRD as this release applies it, without what the API server adds.
fn marked(ours: &Value, release: &Release) -> Value {
    let mut document = ours.clone();
    document["metadata"]["annotations"][release.annotation] = release.version.to_string().into();
    if let Some(InjectionAnnotation { name, value }) = &release.injection {
        document["metadata"]["annotations"][name] = value.as_str().into();
    }
    if let Some(document) = document.as_object_mut() {
        document.remove("status");
    }
    document
}

/// Gives the stanza a `caBundle`: the one that it has already, or that of our CA. Without either, no API server could
/// call the webhook, so the conversion stays as it is; the pods write the stanza once there is a CA. So it does where
/// another Service converts: the pods take the conversion over once they can.
fn settle_conversion(document: &mut Value, installed: Option<&Definition>, release: &Release) -> Option<String> {
    let ours = document.pointer("/spec/conversion/webhook/clientConfig/service")?.clone();
    let service = service_name(&ours)?;
    document["metadata"]["annotations"][release.converted_by] = service.to_string().into();
    let called = installed.filter(|crd| crd.strategy() == Strategy::Webhook);
    let same = called.filter(|crd| crd.service().as_ref() == Some(&service));
    let other = called.filter(|crd| crd.ca_bundle().is_some()).and_then(Definition::service);
    if let Some(other) = other.filter(|other| *other != service) {
        document["spec"]["conversion"] = installed.and_then(Definition::conversion).cloned().unwrap_or_default();
        return Some(format!("its objects are converted by the Service {other} until the pods can"));
    }
    if let Some(bundle) = release.ca_bundle(same.and_then(Definition::ca_bundle)) {
        let config = json!({"service": ours, "caBundle": bundle});
        document["spec"]["conversion"]["webhook"]["clientConfig"] = config;
        return None;
    }
    let present = installed.and_then(Definition::conversion).cloned();
    document["spec"]["conversion"] = present.unwrap_or_else(|| json!({"strategy": "None"}));
    Some("its conversion is left as it is until there is a CA; the pods write it then".to_owned())
}

fn left_alone(installed: &Definition, ours: &Value, release: &Release) -> Option<LeftAlone> {
    let mark = installed.annotation(release.annotation).and_then(|text| text.trim_start_matches('v').parse().ok());
    if let Some(installed) = mark.filter(|mark| is_newer(mark, release.version)) {
        return Some(LeftAlone::Newer { installed, ours: release.version.clone() });
    }
    let ours = Definition::from(ours.clone());
    let newest = ours.versions().filter_map(|version| version["name"].as_str()).max_by_key(|name| priority(name))?;
    let newer = installed.stored().into_iter().find(|stored| priority(stored) > priority(newest))?;
    Some(LeftAlone::StoresNewer { version: newer.to_owned() })
}

/// Builds order versions of the same precedence where they begin with the same word: others are of another make.
fn is_newer(installed: &Version, ours: &Version) -> bool {
    match installed.cmp_precedence(ours) {
        Ordering::Greater => true,
        Ordering::Equal => {
            installed.build.split('.').next() == ours.build.split('.').next() && installed.build > ours.build
        }
        Ordering::Less => false,
    }
}

/// The order of versions that Kubernetes itself goes by.
fn priority(version: &str) -> impl Ord {
    Priority::parse(version).priority()
}

/// cert-manager would go on writing a `caBundle` by an annotation that an apply doesn't remove: hook jobs of old releases
/// have left some.
fn without_other_injection(installed: &Definition, release: &Release) -> Option<Value> {
    let ours = release.injection.as_ref().map(|injection| injection.name);
    let names = installed.annotation_names().filter(|name| name.starts_with(INJECTION_PREFIX) && Some(*name) != ours);
    let removed: serde_json::Map<_, _> = names.map(|name| (name.to_owned(), Value::Null)).collect();
    let version = installed.resource_version();
    (!removed.is_empty()).then(|| json!({"metadata": {"resourceVersion": version, "annotations": removed}}))
}

/// A webhook is called by Service or by URL, and an apply doesn't remove a URL that another client has written.
fn without_url(installed: &Definition, ours: &Value, release: &Release) -> Option<Value> {
    let service = ours.pointer("/spec/conversion/webhook/clientConfig/service")?;
    installed.client_config()?.get("url")?;
    let config = json!({"url": null, "service": service, "caBundle": release.ca_bundle(None)?});
    Some(json!({
        "metadata": {"resourceVersion": installed.resource_version()},
        "spec": {"conversion": {"webhook": {"clientConfig": config}}},
    }))
}

/// A version in which objects may be stored is kept, or they could never be read again.
fn keep_stored_versions(document: &mut Value, installed: &Definition) -> Vec<String> {
    let Some(versions) = document.pointer_mut("/spec/versions").and_then(Value::as_array_mut) else {
        return Vec::new();
    };
    let known = |versions: &[Value], name: &str| versions.iter().any(|version| version["name"] == name);
    let mut notes = Vec::new();
    for name in installed.stored() {
        if let Some(version) = installed.version(name).filter(|_| !known(versions, name)) {
            let mut version = version.clone();
            version["storage"] = false.into();
            versions.push(version);
            notes.push(format!("keeps the version {name}, in which objects may be stored"));
        }
    }
    notes
}

/// Without a conversion webhook, objects go on being stored as they were: a write in the version that they are stored
/// in needs no conversion, and must not fail because of one.
fn keep_storage(document: &mut Value, installed: &Definition) -> Option<String> {
    let wanted = Definition::from(document.clone());
    let (now, later) = (installed.storage()?, wanted.storage()?);
    if now == later || wanted.strategy() == Strategy::None || installed.ca_bundle().is_some() {
        return None;
    }
    wanted.version(now)?;
    for version in document.pointer_mut("/spec/versions").and_then(Value::as_array_mut).into_iter().flatten() {
        version["storage"] = (version["name"] == now).into();
    }
    Some(format!(
        "objects go on being stored in {now} until they can be converted; a later apply changes it to {later}"
    ))
}

impl fmt::Display for LeftAlone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Newer { installed, ours } => {
                write!(f, "left as it is: release {installed} has installed it, which is newer than {ours}")
            }
            Self::StoresNewer { version } => {
                write!(f, "left as it is: its objects are stored in {version}, which this release doesn't know")
            }
        }
    }
}

#[cfg(test)]
mod tests;
