//! What a release needs whose certificate others provide: for cert-manager the objects that ask for it, and in whatever
//! the API server calls by what leads to its CA.

use anyhow::bail;
use gateward_certs::{CaInjection, DerivedNameError, NameLimit, Provision};
use gateward_cluster::preflight::PlannedRelease;
use gateward_core::Ordered;
use serde_json::{Value, json};

use crate::cli::generate::manifest::Manifest;
use crate::config::KeyAlgorithm;

/// The objects by which cert-manager makes the certificate; none where somebody else does. They are those of the chart
/// with its default lifetimes.
pub(super) fn requests(planned: &PlannedRelease, keys: KeyAlgorithm) -> Result<Vec<Value>, DerivedNameError> {
    let Provision::CertManager { .. } = planned.config.provision else { return Ok(Vec::new()) };
    let (issuer, mut objects) = match &planned.issuer {
        Some(given) => (json!({"group": given.group, "kind": given.kind, "name": given.name}), Vec::new()),
        None => (issuer(&name(planned, "-ca-issuer")?), own_ca(planned, keys)?),
    };
    let names: Vec<_> = planned.config.certificates.names.iter().map(|name| name.to_str().into_owned()).collect();
    let serving = json!({
        "secretName": planned.config.secrets.serving,
        "duration": "8760h",
        "renewBefore": "360h",
        "dnsNames": names,
        "usages": ["digital signature", "key encipherment", "server auth"],
        "privateKey": key("Always", keys, 3072),
        "issuerRef": issuer,
    });
    objects.push(object(planned, "Certificate", "-serving-cert", &serving)?);
    Ok(objects)
}

/// A CA, for a user who names no issuer.
fn own_ca(planned: &PlannedRelease, keys: KeyAlgorithm) -> Result<Vec<Value>, DerivedNameError> {
    let secret = name(planned, "-root-ca-secret")?;
    let root = json!({
        "isCA": true,
        "commonName": planned.config.certificates.ca_name.as_str(),
        "secretName": secret,
        // Renewed so early that each certificate of the old CA ends before it, and with the same key.
        "duration": "87600h",
        "renewBefore": "17520h",
        "privateKey": key("Never", keys, 4096),
        "issuerRef": issuer(&name(planned, "-selfsigned-issuer")?),
    });
    Ok(vec![
        object(planned, "Issuer", "-selfsigned-issuer", &json!({"selfSigned": {}}))?,
        object(planned, "Certificate", "-root-ca", &root)?,
        object(planned, "Issuer", "-ca-issuer", &json!({"ca": {"secretName": secret}}))?,
    ])
}

fn name(planned: &PlannedRelease, suffix: &str) -> Result<String, DerivedNameError> {
    NameLimit::Object.derive(&planned.service_account, suffix)
}

fn key(rotation: &str, keys: KeyAlgorithm, rsa_bits: u16) -> Value {
    match keys {
        KeyAlgorithm::Ecdsa => json!({"rotationPolicy": rotation, "algorithm": "ECDSA", "size": 256}),
        KeyAlgorithm::Rsa => json!({"rotationPolicy": rotation, "algorithm": "RSA", "size": rsa_bits}),
    }
}

fn issuer(name: &str) -> Value {
    json!({"group": "cert-manager.io", "kind": "Issuer", "name": name})
}

fn object(planned: &PlannedRelease, kind: &str, suffix: &str, spec: &Value) -> Result<Value, DerivedNameError> {
    let config = &planned.config;
    let metadata =
        json!({"name": name(planned, suffix)?, "namespace": config.namespace, "labels": config.replicas.labels});
    Ok(json!({"apiVersion": "cert-manager.io/v1", "kind": kind, "metadata": metadata, "spec": spec}))
}

/// CRDs and webhook configurations, each with what leads the API server to the CA that others provide.
pub(super) fn trusting(manifests: Vec<Manifest>, planned: &PlannedRelease) -> anyhow::Result<Vec<Manifest>> {
    let config = &planned.config;
    let injected = |manifests, annotation: &str, of: &str| {
        let of = format!("{}/{of}", config.namespace);
        changed(manifests, &|object| annotate(object, annotation, &of))
    };
    Ok(match &config.provision {
        Provision::Automatic => manifests,
        Provision::CertManager { injection: CaInjection::Secret, .. } => {
            injected(manifests, "cert-manager.io/inject-ca-from-secret", &config.secrets.bundle)
        }
        Provision::CertManager { injection: CaInjection::Certificate, .. } => {
            injected(manifests, "cert-manager.io/inject-ca-from", &name(planned, "-serving-cert")?)
        }
        Provision::External { ca_bundle } if ca_bundle.is_empty() => {
            bail!("the values choose a certificate of your own, and name no CA: give its caBundle, as the chart has it")
        }
        Provision::External { ca_bundle } => {
            let bundle = ca_bundle.to_base64();
            changed(manifests, &|object| {
                for client in clients(object) {
                    set(client, "caBundle", Ordered::Scalar(bundle.as_str().into()));
                }
            })
        }
    })
}

/// What the API server calls by is changed; the rest stays, with its comments.
fn changed(manifests: Vec<Manifest>, change: &dyn Fn(&mut Ordered)) -> Vec<Manifest> {
    let change = |manifest: Manifest| {
        let mut object = manifest.object().clone();
        if clients(&mut object).is_empty() {
            return manifest;
        }
        change(&mut object);
        Manifest::in_order(object)
    };
    manifests.into_iter().map(change).collect()
}

/// Each `clientConfig` of a webhook configuration, or that of the conversion of a CRD.
fn clients(object: &mut Ordered) -> Vec<&mut Ordered> {
    if object.member("webhooks").is_some() {
        let Some(Ordered::Items(webhooks)) = object.member_mut("webhooks") else { return Vec::new() };
        return webhooks.iter_mut().filter_map(|webhook| webhook.member_mut("clientConfig")).collect();
    }
    let path = ["spec", "conversion", "webhook", "clientConfig"];
    path.into_iter().try_fold(object, |object, name| object.member_mut(name)).into_iter().collect()
}

fn annotate(object: &mut Ordered, name: &str, text: &str) {
    let Some(metadata) = object.member_mut("metadata") else { return };
    let mut annotations = metadata.remove("annotations").unwrap_or(Ordered::Members(Vec::new()));
    set(&mut annotations, name, Ordered::Scalar(text.into()));
    set(metadata, "annotations", annotations);
}

fn set(object: &mut Ordered, name: &str, value: Ordered) {
    object.remove(name);
    if let Ordered::Members(members) = object {
        members.push((name.to_owned(), value));
    }
}
