//! The CRDs of a bundle. They have no stanza of conversion: OLM writes it once there is a Service, and one that came with
//! the bundle would point at none.

use gateward_core::manifest::yaml;
use gateward_lint::yaml::Document;
use serde_json::{Value, json};

use crate::cli::generate::manifest::Manifest;
use crate::operator::Operator;

/// A CRD of a bundle.
pub(super) struct BundleCrd {
    /// The name of its file.
    pub(super) file: String,
    pub(super) manifest: Manifest,
    /// The entries of the CSV: one for each version that is served.
    pub(super) owned: Vec<Value>,
    /// The API versions that are served, and the kind.
    pub(super) served: Vec<(String, String)>,
}

/// All CRDs of the operator.
pub(super) fn of<P: Operator>(operator: &P) -> Vec<BundleCrd> {
    let mut found = Vec::new();
    for crd in operator.crds() {
        let yaml = crd.yaml();
        let source = gateward_lint::yaml::read(&*yaml);
        match source.documents.as_slice() {
            // Its comments are kept.
            [document] if document.value.pointer("/spec/conversion").is_none() => {
                let manifest = Manifest::with_yaml(document.in_order(), yaml.clone().into_owned());
                found.push(bundle_crd(&document.value, manifest));
            }
            documents => found.extend(documents.iter().map(without_stanza)),
        }
    }
    found
}

fn without_stanza(document: &Document) -> BundleCrd {
    let mut crd = document.in_order();
    if let Some(spec) = crd.member_mut("spec") {
        drop(spec.remove("conversion"));
    }
    let text = yaml::document_in_order(&crd);
    bundle_crd(&document.value, Manifest::with_yaml(crd, text))
}

fn bundle_crd(crd: &Value, manifest: Manifest) -> BundleCrd {
    let text = |pointer: &str| crd.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (group, plural, kind) = (text("/spec/group"), text("/spec/names/plural"), text("/spec/names/kind"));
    let versions = crd.pointer("/spec/versions").and_then(Value::as_array).into_iter().flatten();
    let served: Vec<&Value> = versions.filter(|version| version["served"] == true).collect();
    let owned = served.iter().map(|version| {
        let mut owned =
            json!({"name": text("/metadata/name"), "version": version["name"], "kind": kind, "displayName": kind});
        if let Some(description) = version.pointer("/schema/openAPIV3Schema/description") {
            owned["description"] = description.clone();
        }
        owned
    });
    let api_version =
        |version: &&Value| (format!("{group}/{}", version["name"].as_str().unwrap_or_default()), kind.clone());
    BundleCrd {
        file: format!("{group}_{plural}.yaml"),
        owned: owned.collect(),
        served: served.iter().map(api_version).collect(),
        manifest,
    }
}

#[cfg(test)]
mod tests {
    use gateward_core::{Webhook, Webhooks};

    use super::*;
    use crate::cli::convert::converter::tests::v1;

    fn bundled(crd: &'static str) -> BundleCrd {
        of(&Webhooks::new().register(Webhook::<v1::Otter>::new().crd(crd))).pop().unwrap()
    }

    const PLAIN: &str = "\
# otters
metadata:
  name: otters.example.org
spec:
  group: example.org
  names: {kind: Otter, plural: otters}
  versions:
  - {name: v1, served: true, schema: {openAPIV3Schema: {description: Swims.}}}
  - {name: v0, served: false}
";

    #[test]
    fn a_crd_without_a_stanza_stays_as_its_author_wrote_it() {
        let crd = bundled(PLAIN);
        assert_eq!((crd.file.as_str(), crd.manifest.yaml()), ("example.org_otters.yaml", PLAIN));
        assert_eq!(crd.served, [("example.org/v1".to_owned(), "Otter".to_owned())]);
    }

    #[test]
    fn only_served_versions_are_owned() {
        let owned = json!({
            "name": "otters.example.org", "version": "v1", "kind": "Otter", "displayName": "Otter", "description": "Swims.",
        });
        assert_eq!(bundled(PLAIN).owned, [owned]);
    }

    #[test]
    fn a_stanza_is_left_out() {
        let crd = bundled("{spec: {group: example.org, conversion: {strategy: Webhook}, names: {kind: Otter}}}");
        assert_eq!(crd.manifest.yaml(), "spec:\n  group: example.org\n  names:\n    kind: Otter\n");
    }
}
