//! `generate kustomize`: a folder that `kubectl apply -k` takes.
//!
//! Its objects are those that the other commands print for the release, under the same names. There is no `namePrefix`:
//! the Pods know the names of their Service, Secrets and Lease from the release, which kustomize can't tell them.

use clap::Args;
use gateward_certs::NameLimit;
use gateward_cluster::ServedNamespaces;
use gateward_core::Ordered;
use gateward_core::manifest::yaml;
use serde_json::{Value, json};

use crate::cli::crd_stanzas::Stanzas;
use crate::cli::generate::arguments::{ManifestArguments, ReleaseArguments, WorkloadArguments};
use crate::cli::generate::folder::{self, GeneratedFile};
use crate::cli::generate::format::Format;
use crate::cli::generate::image::ImageName;
use crate::cli::generate::manifest::Manifest;
use crate::cli::generate::network_policy::{self, NetworkPolicyArguments};
use crate::cli::generate::{crds, deployment, provided, rbac, webhooks};
use crate::cli::known_values;
use crate::cli::planned::{installation, planned, source};
use crate::exit::Exit;
use crate::operator::{Operator, Release};

/// kustomize reads no other, whatever the language of the rest.
const KUSTOMIZATION: &str = "kustomization.yaml";

/// The namespace of clusters that says nothing of what is in it.
const DEFAULT_NAMESPACE: &str = "default";

const REMARK: &str = "\
# Objects are named after the release. For other names or another namespace, generate the folder anew with --release and
# --namespace: the Pods know their Service, Secrets and Lease by them, which namePrefix and namespace can't tell them.
";

#[derive(Debug, Args)]
pub(super) struct KustomizeArguments {
    #[command(flatten)]
    release: ReleaseArguments,
    #[command(flatten)]
    workload: WorkloadArguments,
    #[command(flatten)]
    network: NetworkPolicyArguments,
    #[command(flatten)]
    manifests: ManifestArguments,
}

pub(super) fn run<P: Operator>(operator: &P, arguments: &KustomizeArguments) -> anyhow::Result<Exit> {
    let out = arguments.manifests.folder.required("a kustomization")?;
    let values = arguments.release.values(operator)?;
    let release = release(operator, &arguments.release)?;
    let files = files(operator, &release, &values, arguments)?;
    known_values::note_without_effect(operator, &release, &values)?;
    folder::put(out, "kustomize", &files, arguments.manifests.folder.treatment())
}

fn files<P: Operator>(
    operator: &P,
    release: &Release,
    values: &Value,
    arguments: &KustomizeArguments,
) -> anyhow::Result<Vec<GeneratedFile>> {
    let format = arguments.manifests.format;
    let mut manifests = objects(operator, release, values, arguments)?;
    if !arguments.release.names_namespace() {
        manifests.insert(0, Manifest::of(&namespace(&release.namespace)));
    }
    let mut files = format.files(&manifests)?;
    let resources: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let shared = is_shared_namespace(&manifests, &release.namespace).then_some(release.namespace.as_str());
    let kustomization = kustomization(&resources, shared, &arguments.workload.image);
    files.push(file(format, &kustomization)?);
    Ok(files)
}

/// The release. Where neither the user nor the operator names a namespace, it gets one of its own.
fn release<P: Operator>(operator: &P, arguments: &ReleaseArguments) -> anyhow::Result<Release> {
    let mut release = arguments.release(operator);
    if !arguments.names_namespace() && release.namespace == DEFAULT_NAMESPACE {
        release.namespace = NameLimit::Service.derive(&release.name, "-system")?;
    }
    Ok(release)
}

/// The objects in the order in which they are applied.
fn objects<P: Operator>(
    operator: &P,
    release: &Release,
    values: &Value,
    arguments: &KustomizeArguments,
) -> anyhow::Result<Vec<Manifest>> {
    let chart_values = operator.chart_values(release, values);
    let keys = operator.config(&source(release, &chart_values))?.certificates.keys;
    let said_of_webhooks = chart_values.webhooks.clone();
    let planned = planned(operator, release, chart_values)?;
    let installation = installation(operator, release, &said_of_webhooks, &planned.config)?;
    let policy = network_policy::object(operator, release, values, &arguments.network)?;
    let workload = deployment::objects(operator, release, values, &arguments.workload)?;
    let mut objects = match planned.config.namespaces {
        ServedNamespaces::All(_) => {
            provided::trusting(crds::with_stanzas(operator, &installation, Stanzas::All)?, &planned)?
        }
        // The operator of the whole cluster brings the CRDs, and converts their objects.
        ServedNamespaces::One(_) => Vec::new(),
    };
    objects.extend(rbac::objects(&planned, &installation.labels));
    objects.extend(provided::requests(&planned, keys)?.iter().chain(&workload).chain(&policy).map(Manifest::of));
    objects.extend(provided::trusting(webhooks::configurations(operator, &installation)?, &planned)?);
    Ok(objects)
}

fn namespace(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
}

/// Whether all objects that are in a namespace are in this one: kustomize would move the others.
fn is_shared_namespace(manifests: &[Manifest], namespace: &str) -> bool {
    let namespaces = manifests.iter().map(|manifest| manifest.text(&["metadata", "namespace"]));
    namespaces.filter(|found| !found.is_empty()).all(|found| found == namespace)
}

fn kustomization(resources: &[&str], namespace: Option<&str>, image: &str) -> Value {
    let mut kustomization = json!({
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": resources,
    });
    if let Some(namespace) = namespace {
        kustomization["namespace"] = namespace.into();
    }
    if let Some(image) = pinned(image) {
        kustomization["images"] = json!([image]);
    }
    kustomization
}

/// The image as `kustomize edit set image` finds and changes it; `None` for one without a tag and a digest.
fn pinned(image: &str) -> Option<Value> {
    let ImageName { repository, tag, digest } = ImageName::of(image);
    let mut pinned = json!({"name": repository});
    for (member, value) in [("newTag", tag), ("digest", digest)] {
        if !value.is_empty() {
            pinned[member] = value.into();
        }
    }
    (pinned.as_object()?.len() > 1).then_some(pinned)
}

fn file(format: Format, kustomization: &Value) -> anyhow::Result<GeneratedFile> {
    let text = format!("{REMARK}{}", yaml::document(kustomization));
    format.file_at(KUSTOMIZATION, &Manifest::with_yaml(Ordered::from(kustomization), text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_pinned_by_its_tag_or_its_digest() {
        let pinned = |image| pinned(image).unwrap_or_default();
        assert_eq!(pinned("otter:1.0"), json!({"name": "otter", "newTag": "1.0"}));
        assert_eq!(pinned("otter:1.0@sha256:abc"), json!({"name": "otter", "newTag": "1.0", "digest": "sha256:abc"}));
        assert_eq!(pinned("otter"), Value::Null);
    }

    #[test]
    fn a_kustomization_in_json_is_called_like_every_other() {
        let kustomization = kustomization(&["service.json"], None, "otter");
        let json = file(Format::Json, &kustomization).unwrap();
        assert_eq!(json.path, "kustomization.yaml");
        assert_eq!(serde_json::from_str::<Value>(&json.text).unwrap(), kustomization);
        let yaml = file(Format::Yaml, &kustomization).unwrap();
        assert_eq!(yaml.path, "kustomization.yaml");
        assert!(yaml.text.ends_with("kind: Kustomization\nresources:\n- service.json\n"), "{}", yaml.text);
    }

    #[test]
    fn kustomize_moves_no_object_out_of_a_namespace_of_its_own() {
        let within = |namespace: &str| Manifest::of(&json!({"metadata": {"name": "a", "namespace": namespace}}));
        let cluster = || Manifest::of(&json!({"metadata": {"name": "a"}}));
        assert!(is_shared_namespace(&[within("zoo"), cluster()], "zoo"));
        assert!(!is_shared_namespace(&[within("zoo"), within("river")], "zoo"));
    }
}
